"""The HTTP side of the API: what `api_function` returns is called once for every request."""

import json
import re
from collections.abc import Callable, Mapping
from importlib import resources
from threading import BoundedSemaphore
from typing import TYPE_CHECKING
from uuid import uuid4

from tickwork.api.callers import Callers
from tickwork.api.calling import Origin, note_refusal
from tickwork.api.connections import Connections
from tickwork.api.origins import Origins
from tickwork.api.problems import CONTENT_TYPE, Problem, problem_of
from tickwork.api.reading import arguments_of
from tickwork.api.route import Route
from tickwork.api.storing import Stores
from tickwork.api.table import routes_for
from tickwork.api.waiting import answered
from tickwork.errors import CallerRefused, NotAllowed, QueueError, Unavailable
from tickwork.logs import log, log_exception, traced
from tickwork.settings import Settings
from tickwork.waking.announcer import UNKNOWN_JOB, announce
from tickwork.waking.rabbitmq import required_check
from tickwork.web.bodies import BodyRefused, body_of, leave_body
from tickwork.web.health import failed_of
from tickwork.web.starting import thread_count

if TYPE_CHECKING:
    from flask import Request

    from tickwork.web.health import Checks

Response = tuple[str, int, Mapping[str, str]]

PREFIX = "/api/v1/"
# Ten thousand small jobs in one request, or a result and its logs.
MAX_BODY_BYTES = 4_000_000
# All threads but one: what comes without a body is served even if callers send nothing but bodies, byte by byte.
_readers = BoundedSemaphore(max(thread_count() - 1, 1))

JSON = {"Content-Type": "application/json", "Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"}
REQUEST_ID = re.compile("[0-9A-Za-z._:/+=-]{1,100}")
TRACEPARENT = re.compile("00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}")
UNDEFINED_FUNCTION = "42883"
# What the audit log may show of a request.
TOLD_HEADERS = ("User-Agent", "traceparent", "Origin")


def api_function(settings: Settings, connections: Connections) -> "Callable[[Request], Response]":
    callers, origins, stores = Callers(settings), Origins(settings.api_origins), Stores(settings)
    checks = required_check(settings) or {}

    def function(request: "Request") -> Response:
        request_id = request_id_of(request)
        of_origin = origins.headers_for(request)
        if (asked := origins.preflight(request)) is not None:
            return "", 204, {**of_origin, **(asked if "Access-Control-Allow-Origin" in of_origin else {})}
        with traced(request.headers.get("traceparent"), request.headers.get("X-Cloud-Trace-Context")):
            text, status, headers = respond(request, request_id, connections, callers, stores, checks)
        leave_body(request, is_refused=status >= 400)
        trace = request.headers.get("traceparent", "")
        echoed = {"traceparent": trace} if TRACEPARENT.fullmatch(trace) else {}
        return text, status, {**JSON, **headers, **echoed, **of_origin, "X-Request-Id": request_id}

    return function


def respond(
    request: "Request",
    request_id: str,
    connections: Connections,
    callers: Callers,
    stores: Stores,
    checks: "Checks",
) -> Response:
    try:
        if opened := open_page(request, connections, checks):
            return opened
        if request.path == "/metrics":
            return metrics_page(request, request_id, connections, callers, stores)
        route, in_path = found_route(request)
        return called(route, in_path, request, request_id, connections, callers, stores)
    except Problem as problem:
        return refused(problem, request_id)
    except BodyRefused as refusal:
        told = f"The body was refused: at most {MAX_BODY_BYTES} bytes, sent within five seconds."
        return refused(Problem(refusal.status, told), request_id)
    except QueueError as error:
        found = problem_of(error)
        if found.status >= 500:
            log("fail_request", "ERROR", reason=str(error), sqlstate=error.sqlstate, request_id=request_id)
        return refused(found, request_id)
    except Exception as error:
        log_exception("fail_request", error)
        told = "The request failed for a reason of our own; the log of the function tells it."
        return refused(Problem(500, told), request_id)


def refused(problem: Problem, request_id: str) -> Response:
    return problem.text(request_id), problem.status, {**problem.headers, "Content-Type": CONTENT_TYPE}


def open_page(request: "Request", connections: Connections, checks: "Checks") -> Response | None:
    """What everybody may see: whether the function and its database are there, and the description of the API."""
    if request.method != "GET":
        return None
    match request.path:
        case "/health/live":
            return '{"status": "live"}', 200, {}
        case "/health/ready" | "/v1/health/ready":
            return readiness(connections, checks)
        case "/api/v1/openapi.json":
            return resources.files("tickwork.api").joinpath("openapi.json").read_text(), 200, {}
        case _:
            return None


def readiness(connections: Connections, checks: "Checks") -> Response:
    try:
        query = "select * from public.queue_health()"
        rows = connections.transaction("set local role authenticated", query, {}, is_kept=True)
    except Unavailable as error:
        log("miss_database", "ERROR", reason=str(error))
        raise
    if failed := failed_of(rows) + [name for name, check in checks.items() if not check()]:
        return json.dumps({"status": "not ready", "failed": failed}), 503, {}
    return '{"status": "ready"}', 200, {}


def found_route(request: "Request") -> tuple[Route, Mapping[str, str]]:
    """Raises Problem: 404 if there is no such path, 405 if it takes other methods."""
    path = request.path.removeprefix(PREFIX) if request.path.startswith(PREFIX) else ""
    matches = [(route, found) for route in routes_for(path) if (found := route.values_in(path)) is not None]
    for route, in_path in matches:
        if route.method == request.method:
            return route, in_path
    if not matches:
        raise Problem(404, "There is nothing at this path. GET /api/v1/openapi.json lists what there is.")
    allowed = ", ".join(sorted({route.method for route, _ in matches}))
    raise Problem(405, f"This path takes {allowed}.", headers={"Allow": allowed})


def called(
    route: Route,
    in_path: Mapping[str, str],
    request: "Request",
    request_id: str,
    connections: Connections,
    callers: Callers,
    stores: Stores,
) -> Response:
    try:
        # Before anything of the body is read.
        caller = callers.caller_of(request.headers)
    except CallerRefused as refusal:
        log("refuse_caller", "WARNING", reason=str(refusal), request_id=request_id)
        told = "The caller could not be verified: send `Authorization: Bearer` with a user's token or an API key."
        raise Problem(401, told) from None
    body = body_of(request, MAX_BODY_BYTES, _readers) if route.has_body else b""
    if body and request.mimetype != "application/json":
        raise Problem(415, "The body must be JSON, with Content-Type: application/json.")
    arguments = arguments_of(route, in_path, request.args, request.headers, body)
    origin = Origin(request.method, request.path, told_headers(request, request_id))
    try:
        if route.seals:
            text = stores.sealed(connections, route, arguments, caller, origin)
        elif route.takes_file:
            text = stores.uploaded(connections, route, arguments, caller, origin, request)
        else:
            text = answered(connections, route, arguments, caller, origin)
    except QueueError as error:
        if error.sqlstate and error.sqlstate == route.not_found:
            raise Problem(404, str(error), code=error.sqlstate, hint=error.hint) from None
        if error.sqlstate == UNDEFINED_FUNCTION and is_left_out(connections, route):
            raise Problem(404, "The module of tickwork that has this is not installed in the database.") from None
        if isinstance(error, NotAllowed):
            note_refusal(connections, route.function, caller, origin, error)
        raise
    if route.function in ("enqueue_job", "enqueue_jobs") and not arguments.is_dry_run:
        announce(first_id(text or ""))
    headers = {"X-Dry-Run": "true"} if arguments.is_dry_run else {}
    return ("", 204, headers) if text is None else (text, 200, headers)


def first_id(text: str) -> str:
    match = re.search('"id": ?"([0-9a-f-]{36})"', text)
    return match[1] if match else str(UNKNOWN_JOB)


def metrics_page(
    request: "Request", request_id: str, connections: Connections, callers: Callers, stores: Stores
) -> Response:
    """Where Prometheus looks for them, and as the text that it reads."""
    if request.method != "GET":
        raise Problem(405, "This path takes GET.", headers={"Allow": "GET"})
    (route,) = (each for each in routes_for("metrics") if each.path == "metrics")
    text, status, headers = called(route, {}, request, request_id, connections, callers, stores)
    return json.loads(text)["value"], status, {**headers, "Content-Type": "text/plain; version=0.0.4; charset=utf-8"}


def is_left_out(connections: Connections, route: Route) -> bool:
    query = "select to_regproc(%(name)s) is null as is_gone"
    given = {"name": f"public.{route.function}"}
    (row,) = connections.transaction("set local role authenticated", query, given, is_kept=True)
    return bool(row["is_gone"])


def told_headers(request: "Request", request_id: str) -> Mapping[str, str]:
    # Each proxy appends whom it was called by: the last is the one that nobody outside can make up.
    forwarded = request.headers.get("X-Forwarded-For", "").rpartition(",")[2].strip()
    address = forwarded or request.remote_addr or ""
    told = {name.lower(): request.headers[name][:500] for name in TOLD_HEADERS if name in request.headers}
    return {**told, "x-request-id": request_id, "x-forwarded-for": address[:100]}


def request_id_of(request: "Request") -> str:
    given = request.headers.get("X-Request-Id", "")
    return given if REQUEST_ID.fullmatch(given) else str(uuid4())
