"""What keeps other sites out: where a form may come from, and what a page may load."""

from collections.abc import Mapping
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from tickwork.console.page import Refused
from tickwork.settings import Settings

if TYPE_CHECKING:
    from flask import Request


def check_same_origin(request: "Request") -> None:
    """Raises Refused unless the form is one of our own pages': browsers say so, and no page can make them lie."""
    site = request.headers.get("Sec-Fetch-Site")
    if site is None:
        # Browsers before 2023 only name the origin.
        origin = urlsplit(request.headers.get("Origin", ""))
        is_own = bool(origin.netloc) and origin.netloc == request.headers.get("Host")
    else:
        is_own = site == "same-origin"
    if not is_own:
        raise Refused(403, "The form was sent by another site: open the console itself and try again.")


def security_headers(settings: Settings, nonce: str) -> Mapping[str, str]:
    ancestors = " ".join((settings.console_frame_ancestors or "'none'").split(","))
    policy = {
        "default-src": "'none'",
        "script-src": f"'nonce-{nonce}'",
        "style-src": "'self'",
        "img-src": "'self' data:",
        "connect-src": "'self'",
        "form-action": "'self'",
        "base-uri": "'none'",
        "frame-ancestors": ancestors,
        "require-trusted-types-for": "'script'",
        "trusted-types": "htmx",
    }
    headers = {
        "Content-Security-Policy": "; ".join(f"{name} {value}" for name, value in policy.items()),
        "X-Content-Type-Options": "nosniff",
        "Referrer-Policy": "same-origin",
        "Cross-Origin-Opener-Policy": "same-origin",
        "Cross-Origin-Resource-Policy": "same-origin",
        "Permissions-Policy": "camera=(), microphone=(), geolocation=()",
    }
    return headers if settings.console_frame_ancestors else {**headers, "X-Frame-Options": "DENY"}
