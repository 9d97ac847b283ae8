"""Signing in with an e-mail address and a password, which only Supabase Auth can check."""

import json

from tickwork.errors import CallerRefused, JobError
from tickwork.logs import log
from tickwork.settings import Settings
from tickwork.tools.outbound.http import LOOPBACK, Limits, Policy, request
from tickwork.tools.outbound.policy import policy_of


def token_for(email: str, password: str, settings: Settings) -> str:
    """The token that Supabase gives this user. Raises CallerRefused."""
    url = f"{settings.jwt_issuer}/token?grant_type=password"
    # The setting allows no other address without TLS.
    is_local = url.startswith("http://127.0.0.1:")
    policy = Policy(allow_http=True, private=LOOPBACK) if is_local else policy_of(settings)
    try:
        answer = request(
            "POST",
            url,
            policy=policy,
            limits=Limits(connect_seconds=3, seconds=10, max_body_bytes=100_000),
            headers={"apikey": settings.console_auth_key or "", "Content-Type": "application/json"},
            body=json.dumps({"email": email, "password": password}).encode(),
        )
    except JobError as error:
        log("miss_sign_in", "ERROR", reason=str(error))
        raise CallerRefused("Supabase Auth cannot be reached: try again.") from None
    match answer.status:
        case 200:
            return str(json.loads(answer.body)["access_token"])
        case 429:
            raise CallerRefused("There were too many attempts: wait a minute and try again.")
        case 400 | 401 | 403 | 422:
            raise CallerRefused("The e-mail address or the password is wrong.")
        case _:
            log("miss_sign_in", "ERROR", reason=f"the server answered {answer.status}")
            raise CallerRefused("Supabase Auth cannot be reached: try again.")
