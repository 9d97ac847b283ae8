"""Signing in, with a link that works once, a user's token, a password at Supabase, or an API key."""

from typing import TYPE_CHECKING

from tickwork.api.callers import API_KEY, Callers
from tickwork.console.page import Page, Redirect, Shown
from tickwork.console.session import SESSION, SESSION_SECONDS, Cookie, session_cookie
from tickwork.errors import CallerRefused, QueueError, UnknownCaller

if TYPE_CHECKING:
    from tickwork.console.view import View

USE_LINK = "select public.use_sign_in_link(%(code)s) as user_id"


def sign_in_page(view: "View") -> Shown:
    return view.show("sign_in.html", code=view.query.get("code"), next=view.query.get("next"), refused=None)


def sign_in(view: "View") -> "Shown | Redirect":
    """The form is one of our own pages', so that nobody is signed in by another site."""
    try:
        cookie = verified(view)
    except (CallerRefused, UnknownCaller) as refusal:
        return view.show("sign_in.html", 403, code=None, next=view.form.get("next"), refused=str(refusal))
    return Redirect(own_address(view, view.form.get("next", "")), cookies=[cookie])


def verified(view: "View") -> Cookie:
    """Raises CallerRefused or UnknownCaller."""
    if code := view.form.get("code"):
        return session_cookie(str(linked_user(view, code)), view.settings)
    credential = view.form.get("credential", "").strip()
    if view.settings.console_auth_key and (email := view.form.get("email", "").strip()):
        from tickwork.console.password import token_for

        credential = token_for(email, view.form.get("password", ""), view.settings)
    callers = Callers(view.settings)
    caller = callers.caller_with(credential)
    if API_KEY.fullmatch(credential):
        with view.asking_as(caller):
            view.row("who_am_i")
        return Cookie(SESSION, credential, SESSION_SECONDS)
    return session_cookie(caller.claims["sub"], view.settings)


def linked_user(view: "View", code: str) -> object:
    try:
        rows = view.connections.transaction("set local role authenticated", USE_LINK, {"code": code}, is_kept=True)
    except QueueError as error:
        raise UnknownCaller(str(error)) from error
    return rows[0]["user_id"]


def own_address(view: "View", wanted: str) -> str:
    """Where the viewer was going, if that is a page of the console: never another site."""
    path = view.settings.console_path
    is_own = wanted == path or wanted.startswith((f"{path}/", f"{path}?"))
    return wanted if is_own and "\\" not in wanted and wanted.isprintable() else view.url()


def sign_out(view: "View") -> Redirect:
    return Redirect(view.url("/sign-in"), is_signed_out=True)


PAGES = (
    Page("GET", "/sign-in", sign_in_page, is_open=True),
    Page("POST", "/sign-in", sign_in, is_open=True),
    Page("POST", "/sign-out", sign_out, is_open=True),
)
