"""Who calls: verified before the body is read, and told to the database as claims."""

import hashlib
import json
import re
from base64 import urlsafe_b64decode
from typing import TYPE_CHECKING, Any

from tickwork.api.calling import Caller
from tickwork.errors import CallerRefused
from tickwork.settings import Settings

if TYPE_CHECKING:
    from werkzeug.datastructures import Headers

MAX_TOKEN_LENGTH = 8000
API_KEY = re.compile("tw_[0-9A-Za-z_-]{16,200}")
TOKEN = re.compile(r"[0-9A-Za-z_-]+\.[0-9A-Za-z_-]+\.[0-9A-Za-z_-]+")


class Callers:
    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    def caller_of(self, headers: "Headers") -> Caller:
        """Raises CallerRefused, with a reason for the log that quotes nothing of the credential."""
        return self.caller_with(credential_in(headers))

    def caller_with(self, credential: str) -> Caller:
        if API_KEY.fullmatch(credential):
            # Nobody who does not know the key knows its hash, and the database has nothing else.
            digest = hashlib.sha256(credential.encode()).hexdigest()
            return Caller({"role": "authenticated", "tickwork_key": digest}, is_known=False)
        if len(credential) > MAX_TOKEN_LENGTH or not TOKEN.fullmatch(credential):
            raise CallerRefused("the credential is neither a token nor an API key")
        return self._caller_of_token(credential)

    def _caller_of_token(self, token: str) -> Caller:
        from tickwork.api.user_tokens import claims_of_user
        from tickwork.web.google_tokens import ISSUERS, google_account

        issuer = strict_part(token.split(".")[1]).get("iss")
        if self._settings.oidc_audience and issuer in ISSUERS:
            account = google_account(token, self._settings)
            return Caller({"role": "authenticated", "tickwork_account": account}, is_known=False)
        strict_part(token.split(".")[0])
        return Caller(claims_of_user(token, self._settings))


def credential_in(headers: "Headers") -> str:
    given = [*headers.getlist("Authorization"), *headers.getlist("X-Api-Key")]
    if len(given) != 1:
        raise CallerRefused("the request carries no credential" if not given else "the request carries two credentials")
    if "X-Api-Key" in headers:
        return given[0]
    scheme, _, credential = given[0].partition(" ")
    if scheme.lower() != "bearer":
        raise CallerRefused("the credential is not a bearer token")
    return credential


def strict_part(part: str) -> dict[str, Any]:
    """A part of a token, which two readers must not read differently."""
    try:
        found = json.loads(
            urlsafe_b64decode(part + "=" * (-len(part) % 4)),
            object_pairs_hook=without_repetition,
            parse_constant=lambda name: float(name) / 0,
        )
    except (ValueError, RecursionError, ZeroDivisionError):
        raise CallerRefused("the token is malformed") from None
    if not isinstance(found, dict):
        raise CallerRefused("the token is malformed")
    return found


def without_repetition(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key is there twice")
    return found
