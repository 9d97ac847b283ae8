"""What a request to the HTTP API consists of, and what its answer means."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote
from uuid import uuid4

from tickwork.client.json_values import Function, JsonArgument, as_json, functions, plain
from tickwork.database.json_text import as_given
from tickwork.errors import InvalidRequest, NotAllowed, QueueError, Unavailable, queue_error

# How often a request is sent at most, if that is safe.
ATTEMPTS = 4
# Seconds before the second attempt, doubled with each further one.
FIRST_PAUSE = 0.2
# A server that asks for more is told no: whoever calls decides.
MAX_PAUSE = 10.0
# For how many seconds one request waits for the end of a job.
WAIT_SECONDS = 20.0


@dataclass(frozen=True)
class Request:
    function: Function
    method: str
    path: str
    query: dict[str, Any]
    body: str | bytes | None

    @staticmethod
    def of(function: str, arguments: Mapping[str, Any]) -> Request:
        """The arguments that the path names are filled in; the others are the query of a GET, or else the body."""
        known = functions().get(function)
        if not known or not known.method or not known.path:
            hint = "Connect to the database itself: Tickwork('postgresql://…')."
            raise InvalidRequest(f"{function} is not part of the HTTP API", hint=hint)
        # What is left out is null, as it is in SQL.
        given = {name: plain(value) for name, value in arguments.items() if value is not None}
        path = known.path
        for name in [name for name in given if f"{{{name}}}" in path]:
            path = path.replace(f"{{{name}}}", quote(str(given.pop(name)), safe=""))
        if known.method in ("GET", "DELETE"):
            return Request(known, known.method, path, {name: in_query(value) for name, value in given.items()}, None)
        return Request(known, known.method, path, {}, as_given(given))

    @staticmethod
    def of_file(path: str, query: Mapping[str, Any], content: bytes) -> Request:
        given = {name: plain(value) for name, value in query.items() if value is not None}
        return Request(functions()["add_document"], "POST", path, given, content)

    def headers(self, credential: str, traceparent: str | None) -> dict[str, str]:
        headers = {"Authorization": f"Bearer {credential}", "Accept": "application/json"}
        if self.body is not None:
            is_file = isinstance(self.body, bytes)
            headers["Content-Type"] = "application/octet-stream" if is_file else "application/json"
        if traceparent:
            headers["traceparent"] = traceparent
        return headers

    def result(self, answer: Any) -> Any:
        """What the function returned: lists and values are wrapped."""
        match self.function.returns:
            case "many":
                # A function that returns one row of a table of its own.
                return answer.get("items", [answer])
            case "value":
                return answer["value"]
            case _:
                return answer


def in_query(value: Any) -> Any:
    match value:
        case bool():
            return str(value).lower()
        case dict():
            return as_given(value)
        case _:
            return value


def with_keys(function: str, arguments: Mapping[str, Any]) -> tuple[Mapping[str, Any], bool]:
    """With an idempotency key for each job that has none, so that the request can be sent again; and whether it can."""
    match function:
        case "enqueue_job":
            return {**arguments, "idempotency_key": arguments.get("idempotency_key") or new_key()}, True
        case "enqueue_jobs":
            jobs: JsonArgument = arguments["jobs"]
            keyed = [{**job, "idempotency_key": job.get("idempotency_key") or new_key()} for job in jobs.value]
            return {**arguments, "jobs": as_json(keyed)}, True
        case _:
            return arguments, False


def new_key() -> str:
    return f"client-{uuid4().hex}"


def pause_before(attempt: int, retry_after: str | None) -> float:
    """Seconds, at random, so that many clients do not come back all at once."""
    asked = float(retry_after) if retry_after and retry_after.isdecimal() else 0.0
    backoff: float = FIRST_PAUSE * 2 ** (attempt - 2)
    return min(max(asked, backoff) * random.uniform(0.75, 1.25), MAX_PAUSE)


def is_passing(status: int, text: str) -> bool:
    """Whether it may be different in a moment. A queue that is full says so on every way in."""
    return status in (502, 503) or (status == 429 and problem_of(text).get("code") != "TWFUL")


def error_of(status: int, text: str) -> QueueError:
    """The same class as on every other way in, by the code of the problem; without one, by the status."""
    problem = problem_of(text)
    code, hint = problem.get("code"), problem.get("hint")
    message = str(problem.get("detail") or problem.get("title") or f"the API answered with {status}")
    if code:
        error = queue_error(str(code), message, hint)
    elif status in (401, 403):
        error = NotAllowed(message, hint=hint)
    elif status == 429 or status >= 500:
        error = Unavailable(message, hint=hint)
    else:
        error = InvalidRequest(message, hint=hint)
    if problem.get("request_id"):
        error.add_note(f"The id of the request is {problem['request_id']}.")
    return error


def problem_of(text: str) -> Mapping[str, Any]:
    try:
        problem = json.loads(text)
    except ValueError:
        # Whatever a proxy says.
        return {}
    return problem if isinstance(problem, dict) else {}
