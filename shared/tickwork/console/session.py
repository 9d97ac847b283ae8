"""Who is signed in: a cookie that no script can read, with a session of a user or an API key."""

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, unquote

from tickwork.api.callers import API_KEY, Callers
from tickwork.api.calling import Caller
from tickwork.errors import CallerRefused
from tickwork.settings import Settings

if TYPE_CHECKING:
    from flask import Request, Response

    from tickwork.console.view import View

SESSION = "tickwork-session"
SAID = "tickwork-said"
SESSION_SECONDS = 12 * 60 * 60
AUDIENCE = "tickwork-console"


@dataclass(frozen=True)
class Cookie:
    name: str
    value: str
    max_age: int | None = None

    def put(self, response: "Response", view: "View") -> None:
        response.set_cookie(
            cookie_name(self.name, view.request),
            self.value,
            max_age=self.max_age,
            path="/",
            secure=view.request.is_secure or is_behind_tls(view.request),
            httponly=True,
            samesite="Strict",
        )


def said_cookie(said: str) -> Cookie:
    """For the next page, and for a minute at most."""
    return Cookie(SAID, quote(said[:500]), 60 if said else 0)


def said_before(request: "Request") -> str:
    return unquote(request.cookies.get(cookie_name(SAID, request), ""))[:500]


def forget(response: "Response", view: "View") -> None:
    Cookie(SESSION, "", 0).put(response, view)


def cookie_name(name: str, request: "Request") -> str:
    # A cookie of this kind cannot be set by another host of the same domain. Browsers refuse it without TLS.
    return f"__Host-{name}" if request.is_secure or is_behind_tls(request) else name


def is_behind_tls(request: "Request") -> bool:
    """Whoever adds that header to his own request only makes his own cookie stricter."""
    return request.headers.get("X-Forwarded-Proto", "").split(",")[-1].strip() == "https"


def session_of(request: "Request", callers: Callers, settings: Settings) -> Caller:
    """Raises CallerRefused."""
    credential = request.cookies.get(cookie_name(SESSION, request), "")
    if API_KEY.fullmatch(credential):
        return callers.caller_with(credential)
    return user_of(credential, settings)


def session_cookie(user_id: str, settings: Settings) -> Cookie:
    """A session of a user who has been verified. It ends after some hours; what they may see is asked every time."""
    import jwt

    now = int(time.time())
    claims = {"sub": user_id, "aud": AUDIENCE, "iat": now, "exp": now + SESSION_SECONDS}
    return Cookie(SESSION, jwt.encode(claims, secret_of(settings), algorithm="HS256"), SESSION_SECONDS)


def user_of(token: str, settings: Settings) -> Caller:
    import jwt

    try:
        claims: dict[str, Any] = jwt.decode(
            token,
            key=secret_of(settings),
            algorithms=["HS256"],
            audience=AUDIENCE,
            options={"require": ["exp", "iat", "aud", "sub"], "strict_aud": True},
        )
    except (jwt.PyJWTError, ValueError) as error:
        raise CallerRefused(f"the session was refused: {type(error).__name__}") from None
    return Caller({"role": "authenticated", "sub": claims["sub"]})


def secret_of(settings: Settings) -> str:
    if not settings.console_secret:
        raise CallerRefused("TICKWORK_CONSOLE_SECRET is not set, so no user can sign in to the console")
    return settings.console_secret
