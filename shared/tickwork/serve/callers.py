"""Who may wake a function: checked before the body is read, and closed unless a setting opens it."""

import hashlib
import hmac
import re
import threading
import time
from collections.abc import Mapping

from tickwork.errors import CallerRefused
from tickwork.settings import Settings
from tickwork.web.google_tokens import google_account

# How far the clocks of the caller and of this function may be apart.
SIGNATURE_SECONDS = 300
# How many signatures an instance remembers, to refuse replays; the oldest are forgotten first.
MAX_SIGNATURES = 10_000

LOOPBACK = ("127.0.0.1", "::1")


def check_caller(headers: Mapping[str, str], remote: str | None, family: str, settings: Settings) -> None:
    """Return if one of the configured checks accepts the caller; raise CallerRefused otherwise."""
    if settings.open_on_loopback and remote in LOOPBACK:
        return
    scheme, _, token = headers.get("Authorization", "").partition(" ")
    if signature := headers.get("X-Tickwork-Signature"):
        timestamp, nonce = headers.get("X-Tickwork-Timestamp", ""), headers.get("X-Tickwork-Nonce", "")
        _check_signature(signature, timestamp, nonce, family, settings)
    elif scheme.lower() != "bearer" or not token:
        raise CallerRefused("the request carries no credential")
    # Google's tokens have three parts; a secret with two dots in it is not worth telling apart.
    elif settings.oidc_audience and token.count(".") == 2:
        _check_google_token(token, settings)
    else:
        _check_bearer(token, settings)


def sign(family: str, timestamp: int, secret: str, nonce: str = "") -> str:
    """The value of X-Tickwork-Signature, for the same values in X-Tickwork-Timestamp and X-Tickwork-Nonce."""
    message = f"{timestamp}.{family}.{nonce}" if nonce else f"{timestamp}.{family}"
    return "sha256=" + hmac.digest(secret.encode(), message.encode(), hashlib.sha256).hex()


def _check_signature(signature: str, timestamp: str, nonce: str, family: str, settings: Settings) -> None:
    if not re.fullmatch("[0-9]{1,12}", timestamp) or abs(time.time() - int(timestamp)) > SIGNATURE_SECONDS:
        raise CallerRefused("the signature is too old, or has no timestamp")
    if not re.fullmatch("[0-9A-Za-z_-]{0,100}", nonce):
        raise CallerRefused("the nonce is missing or malformed")
    expected = [sign(family, int(timestamp), secret, nonce) for secret in _secrets(settings.hmac_secret)]
    if not _equals_one(signature, expected):
        raise CallerRefused("the signature is wrong")
    if not _seen.is_new(signature):
        raise CallerRefused("the signature was used before")


class _Seen:
    """
    The signatures that were accepted and are still fresh. Nobody without the secret can fill it.

    Other instances of the function do not know them, so each may accept a replayed call once. That does no harm,
    because a wake-up only makes a function look for due jobs.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._until: dict[str, float] = {}

    def is_new(self, signature: str) -> bool:
        now = time.monotonic()
        with self._lock:
            # Ordered by arrival, which is also the order in which they expire.
            while self._until and (self._is_over(now) or len(self._until) >= MAX_SIGNATURES):
                del self._until[next(iter(self._until))]
            if signature in self._until:
                return False
            self._until[signature] = now + 2 * SIGNATURE_SECONDS
            return True

    def _is_over(self, now: float) -> bool:
        return self._until[next(iter(self._until))] < now


_seen = _Seen()


def _check_bearer(token: str, settings: Settings) -> None:
    if not _equals_one(token, _secrets(settings.bearer_secret)):
        raise CallerRefused("the secret is wrong")


def _secrets(setting: str | None) -> list[str]:
    return setting.split(",") if setting else []


def _equals_one(given: str, expected: list[str]) -> bool:
    # All are compared, so that timing reveals nothing. As bytes, because a header may not be ASCII.
    equal = [hmac.compare_digest(given.encode(errors="replace"), each.encode()) for each in expected]
    return any(equal)


def _check_google_token(token: str, settings: Settings) -> None:
    if google_account(token, settings) != settings.oidc_email:
        raise CallerRefused("the token belongs to another account")
