"""A request of a browser: who it is from, which page it wants, and what goes wrong."""

import hashlib
import secrets
from collections.abc import Mapping
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, quote

from tickwork.api.app import MAX_BODY_BYTES, request_id_of, told_headers
from tickwork.api.callers import Callers
from tickwork.api.calling import Origin, note_refusal
from tickwork.api.connections import Connections
from tickwork.api.problems import Problem, problem_of
from tickwork.console.page import Page, Redirect, Refused, Sent, Shown, find_page
from tickwork.console.preferences import preferences_of
from tickwork.console.protection import check_same_origin, security_headers
from tickwork.console.rendering import NONCE, rendered
from tickwork.console.session import forget, said_cookie, session_of
from tickwork.console.static import static_file
from tickwork.console.view import View
from tickwork.errors import CallerRefused, NotAllowed, QueueError, UnknownCaller
from tickwork.logs import log, log_exception, traced
from tickwork.settings import Settings
from tickwork.web.bodies import BodyRefused, body_of, leave_body

if TYPE_CHECKING:
    from flask import Request, Response

# A statement that was stopped because it took too long.
TOO_SLOW = "57014"


def respond(request: "Request", connections: Connections, callers: Callers, settings: Settings) -> "Response":
    request_id = request_id_of(request)
    with traced(request.headers.get("traceparent"), request.headers.get("X-Cloud-Trace-Context")):
        response = static_file(request, settings) or page_response(request, request_id, connections, callers, settings)
    leave_body(request, is_refused=response.status_code >= 400)
    response.headers["X-Request-Id"] = request_id
    return response


def page_response(
    request: "Request", request_id: str, connections: Connections, callers: Callers, settings: Settings
) -> "Response":
    view = View(request, connections, settings, preferences_of(request, settings))
    try:
        shown = answer(view, request_id, callers)
    except (CallerRefused, UnknownCaller) as refusal:
        log("refuse_caller", "WARNING", reason=str(refusal), request_id=request_id)
        shown = Redirect(view.url("/sign-in", next=view.address), is_signed_out=True)
    except Problem as problem:
        shown = refusal_page(view, problem.status, str(problem), problem.hint)
    except Refused as refusal:
        shown = refusal_page(view, refusal.status, str(refusal), refusal.hint)
    except BodyRefused as refusal:
        shown = refusal_page(view, refusal.status, view.say("What you sent is too large, or took too long."), None)
    except QueueError as error:
        shown = failed_page(view, error, request_id)
    except Exception as error:
        log_exception("fail_request", error)
        shown = refusal_page(view, 500, view.say("The page failed; the log of the function says why."), None)
    return response_of(view, shown)


def answer(view: View, request_id: str, callers: Callers) -> "Shown | Sent | Redirect":
    found = find_page(view.method, view.path)
    origin = Origin(view.method, view.request.path, told_headers(view.request, request_id))
    if view.method == "POST":
        check_same_origin(view.request)
        fields = fields_of(view.request)
        view.form = {name: values[-1] for name, values in fields.items()}
        view.marked = fields.get("marked", [])
    if found.page.is_open:
        return found.page.function(view, **found.in_path)
    caller = session_of(view.request, callers, view.settings)
    if found.page.takes_file:
        view.caller, view.origin = caller, origin
        return found.page.function(view)
    try:
        with view.opened(caller, origin, is_written=view.method == "POST"):
            return missing(view, found.page) or found.page.function(view, **found.in_path)
    except NotAllowed as refusal:
        note_refusal(view.connections, found.page.function.__name__, caller, origin, refusal)
        raise


def missing(view: View, page: Page) -> Shown | None:
    """In place of a page that the database has nothing for, or before the viewer has chosen a tenant."""
    if page.module and page.module not in view.modules:
        told = view.say("This database is without the module {}.", page.module)
        raise Refused(404, told, view.say("An operator adds it with: tickwork migrate --with {}", page.module))
    if page.needs_tenant and view.tenant_id is None:
        return view.show("choose_tenant.html", 400 if view.method == "POST" else 200)
    return None


def fields_of(request: "Request") -> dict[str, list[str]]:
    """The fields of a form. A file is sent as the body itself."""
    if request.mimetype != "application/x-www-form-urlencoded":
        return {}
    body = body_of(request, MAX_BODY_BYTES)
    try:
        return parse_qs(body.decode(), keep_blank_values=True, max_num_fields=2000, errors="strict")
    except ValueError:
        raise Refused(400, "The form could not be read: send it again.") from None


def failed_page(view: View, error: QueueError, request_id: str) -> Shown:
    problem = problem_of(error)
    if error.sqlstate == TOO_SLOW:
        told = view.say("This page would take more than five seconds, so it was stopped.")
        return refusal_page(view, 503, told, view.say("Narrow the filter: a tenant, a type or a shorter time."))
    if problem.status >= 500:
        log("fail_request", "ERROR", reason=str(error), sqlstate=error.sqlstate, request_id=request_id)
    return refusal_page(view, problem.status, str(problem), problem.hint)


def refusal_page(view: View, status: int, message: str, hint: str | None) -> Shown:
    return Shown(rendered(view, "refusal.html", message=message, hint=hint, status=status), status)


def response_of(view: View, shown: "Shown | Sent | Redirect") -> "Response":
    from flask import Response

    nonce = secrets.token_urlsafe(16)
    headers = {**security_headers(view.settings, nonce), "Vary": "Cookie, Accept-Language"}
    if isinstance(shown, Sent):
        return file_response(shown, headers)
    if isinstance(shown, Redirect):
        response = Response(status=303, headers={**headers, "Location": shown.address, "Cache-Control": "no-store"})
        if shown.is_signed_out:
            forget(response, view)
        for cookie in [*shown.cookies, *([said_cookie(shown.said)] if shown.said else [])]:
            cookie.put(response, view)
        return response
    if shown.file_name:
        headers["Content-Disposition"] = f'attachment; filename="{shown.file_name}"'
    # What changes with every response is no difference.
    tag = f'"{hashlib.sha256(shown.text.encode()).hexdigest()[:32]}"'
    headers |= {"ETag": tag, "Cache-Control": "private, no-cache"}
    if shown.status == 200 and view.request.headers.get("If-None-Match") == tag:
        # The browser keeps the page with its nonce, and would take the policy of this response for it.
        return Response(status=304, headers={name: headers[name] for name in ("ETag", "Cache-Control", "Vary")})
    text = shown.text.replace(NONCE, nonce) if shown.mime_type == "text/html" else shown.text
    response = Response(text, shown.status, headers, content_type=f"{shown.mime_type}; charset=utf-8")
    if view.said:
        said_cookie("").put(response, view)
    return response


def file_response(sent: Sent, headers: Mapping[str, str]) -> "Response":
    """Saved, never shown: whatever is in the file, it is no page of ours."""
    from flask import Response

    saved = f"attachment; filename=\"download\"; filename*=UTF-8''{quote(sent.file_name, safe='')}"
    own = {"Content-Disposition": saved, "Cache-Control": "private, no-store"}
    response = Response(sent.pieces, headers={**headers, **own}, content_type="application/octet-stream")
    response.call_on_close(sent.close)
    return response
