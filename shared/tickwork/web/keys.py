"""The public keys of somebody who signs tokens: fetched rarely, and kept when a fetch fails."""

import json
import threading
import time
from collections.abc import Mapping
from typing import Any

from tickwork.errors import CallerRefused
from tickwork.logs import log
from tickwork.settings import Settings

# How often an unknown key id may make us ask for the keys.
KEYS_SECONDS = 30
# How soon it may when there are no keys yet: until then every token is refused, good ones too.
FIRST_KEYS_SECONDS = 1
# After that long they are fetched again, so that a key that was withdrawn is not good for much longer.
FRESH_SECONDS = 600
MAX_KEYS = 100
MAX_BYTES = 1_000_000

# One algorithm for each kind of key, whatever a token or the key itself says.
ALGORITHMS: Mapping[tuple[str | None, str | None], str] = {
    ("RSA", None): "RS256",
    ("EC", "P-256"): "ES256",
    ("OKP", "Ed25519"): "EdDSA",
}

Key = tuple[Any, str]


class Keys:
    """By key id, each with its algorithm."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._asked_at = float("-inf")
        self._fresh_until = float("-inf")
        self._keys: dict[str, Key] = {}

    def get(self, key_id: object, url: str, settings: Settings) -> Key:
        """Raises CallerRefused if there is no such key."""
        found = self._keys.get(key_id) if isinstance(key_id, str) else None
        if found is None or time.monotonic() > self._fresh_until:
            # A request with a known key never waits for one with an unknown key.
            self._ask(url, settings, must_wait=found is None)
            found = self._keys.get(key_id) if isinstance(key_id, str) else None
        if found is None:
            raise CallerRefused("the token is signed with an unknown key")
        return found

    def _ask(self, url: str, settings: Settings, must_wait: bool) -> None:
        if not self._lock.acquire(blocking=must_wait):
            return
        try:
            pause = KEYS_SECONDS if self._keys else FIRST_KEYS_SECONDS
            if time.monotonic() > self._asked_at + pause:
                self._asked_at = time.monotonic()
                if keys := fetched(url, settings):
                    self._keys = keys
                    self._fresh_until = time.monotonic() + FRESH_SECONDS
        finally:
            self._lock.release()


def fetched(url: str, settings: Settings) -> dict[str, Key]:
    """None if anything is wrong with the response: then the known keys are still valid."""
    from tickwork.tools.outbound.http import LOOPBACK, Limits, Policy, request
    from tickwork.tools.outbound.policy import policy_of

    # The setting allows no other address without TLS.
    is_local = url.startswith("http://127.0.0.1:")
    policy = Policy(allow_http=True, private=LOOPBACK) if is_local else policy_of(settings)
    try:
        limits = Limits(connect_seconds=3, seconds=5, max_body_bytes=MAX_BYTES)
        answer = request("GET", url, policy=policy, limits=limits)
        if answer.status != 200:
            raise ValueError(f"the server answered {answer.status}")
        return keys_in(json.loads(answer.body))
    except Exception as error:
        log("miss_keys", "WARNING", reason=f"{type(error).__name__}: {error}")
        return {}


def keys_in(document: Any) -> dict[str, Key]:
    import jwt  # takes 0.2 s, and only tokens need it

    keys = [each for each in jwt.PyJWKSet.from_dict(document).keys if each.public_key_use in (None, "sig")]
    known = [(each, ALGORITHMS.get((each.key_type, curve_of(each)))) for each in keys[:MAX_KEYS]]
    return {each.key_id: (each.key, algorithm) for each, algorithm in known if each.key_id and algorithm}


def curve_of(key: Any) -> str | None:
    curve = key._jwk_data.get("crv")
    return str(curve) if curve else None
