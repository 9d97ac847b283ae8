"""Tokens that are almost Google's: only a genuine one lets its bearer in, and everything else is refused by name."""

import base64
import json
import time
from collections.abc import Iterator
from typing import Any

import pytest
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric import padding
from cryptography.hazmat.primitives.hashes import SHA256
from hypothesis import given
from hypothesis import strategies as st

from tests.fuzz import quick
from tests.fuzz.json_texts import as_object, json_texts
from tests.serve import test_callers as scene
from tickwork.errors import CallerRefused
from tickwork.serve.callers import check_caller
from tickwork.settings import Settings
from tickwork.web import google_tokens, keys

ISSUERS = ("https://accounts.google.com", "accounts.google.com")
SIGNERS = [scene.rs256, scene.rs256, scene.rs256, scene.by_stranger, scene.rs384, scene.ps256, scene.unsigned]
HEADERS = st.dictionaries(
    st.sampled_from(["alg", "kid", "typ", "crit", "b64", "jku", "jwk", "x5c", "zip"]),
    st.sampled_from(["RS256", "rs256", "none", "HS256", "PS256", "first", "second", "JWT", ""]).map(json.dumps)
    | json_texts(["kid", "alg"]),
    max_size=3,
)
TIMES = st.integers(-100_000, 100_000).map(lambda shift: str(int(time.time()) + shift))
ODD = st.sampled_from(["Infinity", "-Infinity", "NaN", "1e400", "true", '"1"', "9" * 5000, "[" * 1200 + "]" * 1200])
CLAIMS = st.dictionaries(
    st.sampled_from(["iss", "aud", "email", "email_verified", "iat", "exp", "nbf", "sub", "jti"]),
    TIMES | ODD | json_texts(values=[json.dumps(each) for each in (*ISSUERS, scene.AUDIENCE, [scene.AUDIENCE])]),
    max_size=3,
)


@pytest.fixture(scope="module")
def settings() -> Iterator[Settings]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(google_tokens, "_keys", keys.Keys())
        google = scene.Google()
        with google.running():
            yield scene.by_token(google)


def token_of(header: dict[str, str], claims: dict[str, str], signer: scene.Signer) -> str:
    """A good token but for these fields, which are JSON texts."""
    parts = [
        {name: json.dumps(value) for name, value in good.items()} | changed
        for good, changed in ((scene.HEADER, header), (scene.claims(), claims))
    ]
    return scene.raw(as_object(parts[0]), as_object(parts[1]), signer)


def lets_in(token: str, settings: Settings) -> bool:
    try:
        check_caller({"Authorization": f"Bearer {token}"}, "203.0.113.7", "extract", settings)
    except CallerRefused:
        return False
    return True


@quick
@given(HEADERS, CLAIMS, st.sampled_from(SIGNERS))
def test_only_a_genuine_token_lets_in(
    settings: Settings, header: dict[str, str], claims: dict[str, str], signer: scene.Signer
) -> None:
    token = token_of(header, claims, signer)

    assert not lets_in(token, settings) or is_genuine(token)
    assert lets_in(token_of({}, {}, scene.rs256), settings)


@quick
@given(st.data())
def test_a_token_that_was_touched_is_refused(settings: Settings, data: st.DataObject) -> None:
    good = token_of({}, {}, scene.rs256)
    at, length = data.draw(st.integers(0, len(good))), data.draw(st.integers(0, 3))
    other = data.draw(st.text(st.sampled_from("Aa9-_.=+/ \n\0ä\udcff"), max_size=3))
    touched = good[:at] + other + good[at + length :]

    assert not lets_in(touched, settings) or is_genuine(touched)


def is_genuine(token: str) -> bool:
    """What we promise, by other means than PyJWT."""
    header, claims = (json.loads(decoded(part)) for part in token.split(".")[:2])
    text, _, signature = token.rpartition(".")
    key = {"first": scene.KEY, "second": scene.NEXT_KEY}[header["kid"]]
    try:
        key.public_key().verify(decoded(signature), text.encode(), padding.PKCS1v15(), SHA256())
    except InvalidSignature:
        return False
    return header["alg"] == "RS256" and claims["aud"] == scene.AUDIENCE and is_ours(claims)


def is_ours(claims: dict[str, Any]) -> bool:
    now, leeway = time.time(), 15
    return (
        claims["iss"] in ISSUERS
        and (claims["email"], claims["email_verified"]) == (scene.EMAIL, True)
        and claims["exp"] > now - leeway
        and claims["iat"] < now + leeway
        and claims["exp"] - claims["iat"] <= 86_400
        and int(claims.get("nbf", 0)) < now + leeway
    )


def decoded(part: str) -> bytes:
    return base64.urlsafe_b64decode(part + "=" * (-len(part) % 4))
