"""What is wrong with a request, as RFC 9457 says it."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from tickwork import errors

CONTENT_TYPE = "application/problem+json"

TITLES = {
    400: "Malformed request",
    401: "Not signed in",
    403: "Not allowed",
    404: "Not found",
    405: "Method not allowed",
    408: "Request too slow",
    409: "Conflict",
    413: "Too large",
    415: "Not JSON",
    422: "Refused value",
    429: "Limit reached",
    500: "Internal error",
    503: "Unavailable",
}
STATUS_OF: Mapping[type[errors.QueueError], int] = {
    errors.UnknownCaller: 401,
    errors.LeaseLost: 409,
    errors.WrongStatus: 409,
    errors.NotAllowed: 403,
    errors.QueueFull: 429,
    errors.InvalidRequest: 422,
    errors.WrongSchema: 503,
    errors.Unavailable: 503,
    **{each: 404 for each in errors.QueueError.__subclasses__() if each.__name__.startswith("NoSuch")},
}
STATUS_OF_CODE = {"TWBIG": 413}
# After how many seconds to try again, and how to sign in.
HEADERS = {401: {"WWW-Authenticate": "Bearer"}, 429: {"Retry-After": "5"}, 503: {"Retry-After": "2"}}
# A deadlock, a lock that is not free, a statement that took too long.
PASSING = ("40001", "40P01", "55P03", "57014")


class Problem(Exception):
    def __init__(
        self,
        status: int,
        detail: str,
        *,
        code: str | None = None,
        hint: str | None = None,
        errors: Sequence[Mapping[str, str]] = (),
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(detail)
        self.status = status
        self.code = code
        self.hint = hint
        self.errors = errors
        self.headers = {**HEADERS.get(status, {}), **(headers or {})}

    def text(self, request_id: str) -> str:
        told: dict[str, Any] = {
            "type": "about:blank",
            "title": TITLES.get(self.status, "Error"),
            "status": self.status,
            "detail": str(self),
            "code": self.code,
            "hint": self.hint,
            "request_id": request_id,
        }
        if self.errors:
            told["errors"] = self.errors
        return json.dumps(told)


def problem_of(error: errors.QueueError) -> Problem:
    code = error.sqlstate
    status = STATUS_OF_CODE.get(code or "") or STATUS_OF.get(type(error))
    if code in PASSING:
        status = 503
    if status is None:
        # Its text may name what only the operator should know.
        return Problem(500, "The request failed for a reason of our own; the log of the function tells it.", code=code)
    if status == 503:
        return Problem(503, "The database cannot be reached, or is busy: try again.", code=code)
    if code and code.startswith("22") and status == 422:
        status = 400
    return Problem(status, str(error), code=code, hint=error.hint)
