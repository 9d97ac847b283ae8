"""Which pages may call the API from a browser: cross-origin resource sharing."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from flask import Request

# Credentials are in headers, never in cookies: a page can only send what it has been given.
SENT = "Authorization, Content-Type, Idempotency-Key, X-Api-Key, X-Request-Id, traceparent"
SHOWN = "Retry-After, X-Dry-Run, X-Request-Id, traceparent"
METHODS = "GET, POST, PATCH, DELETE"
REMEMBER_SECONDS = "600"


class Origins:
    def __init__(self, setting: str | None) -> None:
        self._allowed = set(setting.split(",")) if setting else set()

    def headers_for(self, request: "Request") -> Mapping[str, str]:
        """None for pages that are not allowed: then the browser shows its script nothing."""
        origin = request.headers.get("Origin", "")
        if not origin or not self._allowed:
            return {}
        if not self._allowed & {origin, "*"}:
            return {"Vary": "Origin"}
        return {"Access-Control-Allow-Origin": origin, "Access-Control-Expose-Headers": SHOWN, "Vary": "Origin"}

    def preflight(self, request: "Request") -> Mapping[str, str] | None:
        """The answer to a browser that asks what a page may send; None if that is not the question."""
        if request.method != "OPTIONS" or "Access-Control-Request-Method" not in request.headers:
            return None
        return {
            "Access-Control-Allow-Methods": METHODS,
            "Access-Control-Allow-Headers": SENT,
            "Access-Control-Max-Age": REMEMBER_SECONDS,
        }
