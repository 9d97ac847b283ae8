"""Who may call the API, and everybody who may not."""

import hashlib
import json
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec, ed25519
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature, encode_dss_signature
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from werkzeug.datastructures import Headers

from tests.serve.test_callers import (
    AUDIENCE,
    KEY,
    NO_KEYS,
    Google,
    Signer,
    base64url,
    by_stranger,
    hs256,
    jwk,
    later,
    raw,
    rs256,
    rs384,
    swapped,
    unsigned,
)
from tests.serve.test_callers import token as google_token
from tests.servers.jwks import KeyServer
from tests.world.api import ISSUER, SECRET, user_token
from tickwork.api import user_tokens
from tickwork.api.callers import Callers
from tickwork.errors import CallerRefused
from tickwork.settings import Settings
from tickwork.web import google_tokens, keys

USER = "6f46a1d8-6e2b-4ecf-8b46-9ec2e6a37f09"
EC_KEY, NEXT_EC_KEY, STRANGERS_EC_KEY = (ec.generate_private_key(ec.SECP256R1()) for _ in range(3))
P384_KEY = ec.generate_private_key(ec.SECP384R1())
ED_KEY = ed25519.Ed25519PrivateKey.generate()

Json = dict[str, Any]


def es256_of(key: ec.EllipticCurvePrivateKey) -> Signer:
    def signed(text: bytes) -> bytes:
        r, s = decode_dss_signature(key.sign(text, ec.ECDSA(SHA256())))
        return r.to_bytes(32, "big") + s.to_bytes(32, "big")

    return signed


es256, by_next, by_elliptic_stranger = map(es256_of, (EC_KEY, NEXT_EC_KEY, STRANGERS_EC_KEY))


def ec_jwk(key: ec.EllipticCurvePrivateKey, kid: str) -> Json:
    return {**jwt.algorithms.ECAlgorithm.to_jwk(key.public_key(), as_dict=True), "kid": kid, "use": "sig"}


ED_JWK = {**jwt.algorithms.OKPAlgorithm.to_jwk(ED_KEY.public_key(), as_dict=True), "kid": "edwards"}
SYMMETRIC = {"kty": "oct", "kid": "symmetric", "k": base64url(b"k" * 32), "alg": "HS256"}
FOR_OTHERS = {**ec_jwk(NEXT_EC_KEY, "encrypts"), "use": "enc"}
KEYS = (
    *(ec_jwk(EC_KEY, "first"), jwk(KEY, "rsa"), ED_JWK, SYMMETRIC, FOR_OTHERS),
    {**ec_jwk(P384_KEY, "p384")},
)

HEADER: Json = {"alg": "ES256", "kid": "first", "typ": "JWT"}


def claims(**changed: Any) -> Json:
    """What Supabase says about a user, but for what is changed; None leaves it out."""
    now = int(time.time())
    good = {
        "iss": ISSUER,
        "sub": USER,
        "aud": "authenticated",
        "role": "authenticated",
        "iat": now,
        "exp": now + 3600,
        "email": "ada@example.com",
        "session_id": "b3c0bc4c-4a2e-4d0a-9a5e-8a6d1c4e0f11",
        "is_anonymous": False,
        "aal": "aal1",
    }
    return {name: value for name, value in {**good, **changed}.items() if value is not None}


def token(signed: Signer = es256, header: Json | None = None, **changed: Any) -> str:
    return raw(json.dumps({**HEADER, **(header or {})}), json.dumps(claims(**changed)), signed)


def with_header(text: str, signed: Signer = es256) -> str:
    return raw(text, json.dumps(claims()), signed)


def with_claims(text: str, signed: Signer = es256) -> str:
    return raw(json.dumps(HEADER), text, signed)


def without(name: str) -> str:
    return json.dumps({key: value for key, value in HEADER.items() if key != name})


def pem(encoding: Encoding = Encoding.PEM) -> bytes:
    return EC_KEY.public_key().public_bytes(encoding, PublicFormat.SubjectPublicKeyInfo)


# Each differs in one thing from a token that is accepted.
FORGED: dict[str, Callable[[], str]] = {
    "alg none": lambda: token(unsigned, {"alg": "none"}),
    "alg None": lambda: token(unsigned, {"alg": "None"}),
    "alg nOnE": lambda: token(unsigned, {"alg": "nOnE"}),
    "alg missing": lambda: with_header(without("alg")),
    "alg a list": lambda: token(header={"alg": ["ES256"]}),
    "signature empty": lambda: token(unsigned),
    "signature of zeros": lambda: token(lambda text: bytes(64)),
    "signature of r = s = 0 in DER": lambda: token(lambda text: encode_dss_signature(0, 0)),
    "signature by a stranger": lambda: token(by_elliptic_stranger),
    "signature of other claims": lambda: swapped(token(sub=USER), token(sub=USER.replace("6", "7"))),
    "HS256 with the PEM": lambda: token(hs256(pem()), {"alg": "HS256"}),
    "HS256 with the stripped PEM": lambda: token(hs256(pem().strip()), {"alg": "HS256"}),
    "HS256 with the DER": lambda: token(hs256(pem(Encoding.DER)), {"alg": "HS256"}),
    "HS256 with the JWK": lambda: token(hs256(json.dumps(ec_jwk(EC_KEY, "first")).encode()), {"alg": "HS256"}),
    "HS256 with nothing": lambda: token(hs256(b""), {"alg": "HS256"}),
    "HS256 by a key of the set": lambda: token(hs256(b"k" * 32), {"alg": "HS256", "kid": "symmetric"}),
    "HS256 with the secret of others": lambda: token(hs256(SECRET.encode()), {"alg": "HS256"}),
    "RS256 for an elliptic key": lambda: token(rs256, {"alg": "RS256"}),
    "ES256 for an RSA key": lambda: token(header={"kid": "rsa"}),
    "RS384 by the right key": lambda: token(rs384, {"alg": "RS384", "kid": "rsa"}),
    "a curve that is not on the list": lambda: token(
        lambda text: P384_KEY.sign(text, ec.ECDSA(SHA256())), {"alg": "ES384", "kid": "p384"}
    ),
    "a key that is not for signatures": lambda: token(by_next, {"kid": "encrypts"}),
    "kid missing": lambda: with_header(without("kid")),
    "kid unknown": lambda: token(header={"kid": "unknown"}),
    "kid a list": lambda: token(header={"kid": ["first"]}),
    "kid a path": lambda: token(hs256(b""), {"alg": "HS256", "kid": "../../../../dev/null"}),
    "kid of SQL": lambda: token(hs256(b"x"), {"alg": "HS256", "kid": "x' union select 'x' --"}),
    "kid a URL": lambda: token(by_elliptic_stranger, {"kid": "http://127.0.0.1:9/keys"}),
    "jku": lambda: token(by_elliptic_stranger, {"jku": "http://127.0.0.1:9/keys", "kid": "mine"}),
    "x5u": lambda: token(by_elliptic_stranger, {"x5u": "http://127.0.0.1:9/keys"}),
    "jwk": lambda: token(by_elliptic_stranger, {"jwk": ec_jwk(STRANGERS_EC_KEY, "first")}),
    "crit unknown": lambda: token(header={"crit": ["exp-2"], "exp-2": 1}),
    "crit empty": lambda: token(header={"crit": []}),
    "b64 false": lambda: token(header={"b64": False, "crit": ["b64"]}),
    "alg twice, none first": lambda: with_header('{"kid": "first", "alg": "none", "alg": "ES256"}'),
    "kid twice": lambda: with_header('{"alg": "ES256", "kid": "unknown", "kid": "first"}'),
    "sub twice": lambda: with_claims(f'{{"sub": "{USER[::-1]}", {json.dumps(claims())[1:]}'),
    "exp twice": lambda: with_claims(f'{{"exp": 1, {json.dumps(claims())[1:]}'),
    "header no JSON": lambda: with_header("ES256"),
    "header a list": lambda: with_header('["ES256"]'),
    "header nested deeply": lambda: with_header("[" * 2000),
    "typ of something else": lambda: token(header={"typ": "secevent+jwt"}),
    "claims no JSON": lambda: with_claims("sub=1"),
    "claims a list": lambda: with_claims(json.dumps([claims()])),
    "a token in a token": lambda: raw(json.dumps({**HEADER, "cty": "JWT"}), token()),
    "a JWE": lambda: base64url(b'{"alg": "RSA-OAEP", "enc": "A256GCM"}') + ".a.b.c.d",
    "1 MB": lambda: token(x="x" * 1_000_000),
    "10,000 claims": lambda: token(es256, None, **{f"claim_{number}": number for number in range(10_000)}),
    "expired": lambda: token(exp=later(-11), iat=later(-3611)),
    "exp missing": lambda: token(exp=None),
    "exp a string": lambda: token(exp=str(later(3600))),
    "exp a float": lambda: token(exp=later(3600) + 0.5),
    "exp negative": lambda: token(exp=-1),
    "exp 2^63": lambda: token(exp=2**63),
    "exp 10^400": lambda: token(exp=10**400),
    "exp infinite": lambda: token(exp=float("inf")),
    "exp true": lambda: token(exp=True),
    "exp in a year": lambda: token(exp=later(365 * 86_400)),
    "nbf in the future": lambda: token(nbf=later(60)),
    "iat in the future": lambda: token(iat=later(60)),
    "iat missing": lambda: token(iat=None),
    "iss with a slash": lambda: token(iss=f"{ISSUER}/"),
    "iss in upper case": lambda: token(iss=ISSUER.upper()),
    "iss of another project": lambda: token(iss="https://xyz.supabase.co/auth/v1"),
    "iss a list": lambda: token(iss=[ISSUER]),
    "iss missing": lambda: token(iss=None),
    "aud a list with ours": lambda: token(aud=["authenticated", "x"]),
    "aud a part": lambda: token(aud="authenticate"),
    "aud missing": lambda: token(aud=None),
    "aud of others": lambda: token(aud="anon"),
    "role of the service": lambda: token(role="service_role"),
    "role of nobody": lambda: token(role="anon"),
    "role a list": lambda: token(role=["authenticated"]),
    "role missing": lambda: token(role=None),
    "sub missing": lambda: token(sub=None),
    "sub no id": lambda: token(sub="ada"),
    "sub an id in braces": lambda: token(sub=f"{{{USER}}}"),
    "sub in upper case": lambda: token(sub=USER.upper()),
    "sub a number": lambda: token(sub=1),
    "the anon key of a project": lambda: raw(
        '{"alg": "HS256", "typ": "JWT"}', json.dumps(claims(role="anon", sub=None)), hs256(SECRET.encode())
    ),
    "a refresh token": lambda: "v1.MWZkZTJlYzI",
    "a token of Google": google_token,
    "space before": lambda: f" {token()}",
    "space after": lambda: f"{token()} ",
    "newline within": lambda: token().replace(".", ".\t", 1),
    "quoted": lambda: f'"{token()}"',
    "with another token": lambda: f"{token()}, Bearer {token()}",
    "padded": lambda: f"{token()}==",
    "nothing": lambda: "",
    "a short key": lambda: "tw_abc",
    "a key with a space": lambda: "tw_" + "a" * 40 + " b",
    "a key of other letters": lambda: "tw_" + "ä" * 40,
    "a secret key of Supabase": lambda: "sb_secret_" + "a" * 40,
}

ACCEPTED: dict[str, Callable[[], str]] = {
    "ES256": token,
    "RS256": lambda: token(rs256, {"alg": "RS256", "kid": "rsa"}),
    "EdDSA": lambda: token(ED_KEY.sign, {"alg": "EdDSA", "kid": "edwards"}),
    "made by PyJWT": lambda: jwt.encode(claims(), EC_KEY, "ES256", {"kid": "first"}),
    "without a type": lambda: with_header(without("typ")),
    "just expired, by our clock": lambda: token(exp=later(-2), iat=later(-3602)),
    "of the next second, by our clock": lambda: token(iat=later(2), nbf=later(2)),
    "of an anonymous user": lambda: token(is_anonymous=True),
    "with what the project adds": lambda: token(app_metadata={"provider": "email"}, user_role="x"),
    "for a week": lambda: token(exp=later(7 * 86_400) - 1, iat=later(0)),
    "with addresses of keys that nobody asks": lambda: token(header={"jku": "http://127.0.0.1:9"}),
}


@pytest.fixture
def signers(monkeypatch: pytest.MonkeyPatch) -> Iterator[KeyServer]:
    monkeypatch.setattr(user_tokens, "_keys", keys.Keys())
    server = KeyServer(*KEYS)
    with server.running():
        yield server


@pytest.fixture
def settings(signers: KeyServer) -> Settings:
    url = "postgresql://tickwork_api@127.0.0.1/postgres"
    return Settings(database_url=url, jwt_issuer=ISSUER, jwks_url=signers.url)


def claims_for(settings: Settings, bearer: str, name: str = "Authorization") -> Json:
    value = f"Bearer {bearer}" if name == "Authorization" else bearer
    return dict(Callers(settings).caller_of(Headers([(name, value)])).claims)


def is_refused(settings: Settings, bearer: str) -> bool:
    try:
        claims_for(settings, bearer)
    except CallerRefused as refusal:
        # The log has what it says.
        return len(bearer) < 10 or bearer not in str(refusal)
    return False


def test_no_forged_token_is_accepted(settings: Settings) -> None:
    accepted = [name for name, forged in FORGED.items() if not is_refused(settings, forged())]

    assert accepted == []
    assert len(FORGED) >= 40


def test_every_valid_token_is_accepted(settings: Settings) -> None:
    for name, valid in ACCEPTED.items():
        found = claims_for(settings, valid())
        assert (found["sub"], found["role"]) == (USER, "authenticated"), name
    assert len(ACCEPTED) >= 10


def test_a_secret_is_accepted_only_where_there_are_no_public_keys(settings: Settings) -> None:
    by_secret = replace(settings, jwks_url=None, jwt_secret=SECRET)

    assert claims_for(by_secret, user_token(USER))["sub"] == USER
    assert is_refused(by_secret, token())
    assert is_refused(by_secret, user_token(USER, role="service_role"))
    assert is_refused(settings, user_token(USER))
    assert is_refused(replace(settings, jwks_url=None), token())
    assert is_refused(replace(settings, jwt_issuer=None), token())


def test_a_key_is_told_to_the_database_by_its_hash(settings: Settings) -> None:
    key = "tw_" + "a" * 43

    for name in ("Authorization", "X-Api-Key"):
        caller = claims_for(settings, key, name)
        assert set(caller) == {"role", "tickwork_key"}
        assert caller["tickwork_key"] == hashlib.sha256(key.encode()).hexdigest()


@pytest.mark.parametrize(
    "headers",
    [
        [],
        [("Authorization", "Basic dTpw")],
        [("Authorization", "Bearer")],
        [("Cookie", "sb-access-token=x")],
        [("Authorization", "Bearer a"), ("Authorization", "Bearer b")],
        [("Authorization", "Bearer tw_" + "a" * 43), ("X-Api-Key", "tw_" + "a" * 43)],
    ],
)
def test_a_request_carries_one_credential_in_a_header(settings: Settings, headers: list[tuple[str, str]]) -> None:
    with pytest.raises(CallerRefused):
        Callers(settings).caller_of(Headers(headers))


def test_an_account_of_google_is_told_by_its_verified_address(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(google_tokens, "_keys", keys.Keys())
    google = Google()
    with google.running():
        both = replace(settings, oidc_audience=AUDIENCE, oidc_keys_url=google.url)

        assert claims_for(both, google_token(email="robot@x.iam.gserviceaccount.com")) == {
            "role": "authenticated",
            "tickwork_account": "robot@x.iam.gserviceaccount.com",
        }
        assert is_refused(both, google_token(by_stranger))
        assert is_refused(both, google_token(email_verified=False))
        assert is_refused(both, google_token(aud="https://another.example.com"))
        # A user's key does not sign for Google, nor Google's for a user.
        assert is_refused(both, token(iss="https://accounts.google.com", email_verified=True, aud=AUDIENCE))
        assert is_refused(both, google_token(iss=ISSUER))


def test_a_new_key_is_found_and_a_withdrawn_one_is_not(
    signers: KeyServer, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    claims_for(settings, token())
    signers.serve_keys(ec_jwk(EC_KEY, "first"), ec_jwk(NEXT_EC_KEY, "next"))
    assert is_refused(settings, token(by_next, {"kid": "next"}))

    monkeypatch.setattr(keys, "KEYS_SECONDS", 0)
    assert claims_for(settings, token(by_next, {"kid": "next"}))["sub"] == USER
    assert claims_for(settings, token())["sub"] == USER

    signers.serve_keys(ec_jwk(NEXT_EC_KEY, "next"))
    monkeypatch.setattr(keys, "FRESH_SECONDS", -1)
    assert is_refused(settings, token(by_elliptic_stranger, {"kid": "another"}))
    assert is_refused(settings, token())


def test_unknown_keys_are_asked_for_once_in_thirty_seconds(signers: KeyServer, settings: Settings) -> None:
    claims_for(settings, token())
    with ThreadPoolExecutor(8) as pool:
        refused = list(pool.map(lambda n: is_refused(settings, token(header={"kid": f"k{n}"})), range(200)))

    assert all(refused)
    assert signers.hits == 1
    assert (keys.KEYS_SECONDS, keys.FRESH_SECONDS) == (30, 600)


@pytest.mark.parametrize("answer", NO_KEYS.values(), ids=NO_KEYS)
def test_the_keys_stay_when_they_cannot_be_fetched(
    signers: KeyServer, settings: Settings, monkeypatch: pytest.MonkeyPatch, answer: bytes
) -> None:
    monkeypatch.setattr(keys, "KEYS_SECONDS", 0)
    monkeypatch.setattr(keys, "FRESH_SECONDS", -1)
    claims_for(settings, token())

    signers.answer = answer
    assert claims_for(settings, token())["sub"] == USER
    assert signers.hits == 2


def test_a_known_key_does_not_wait_for_an_unknown_one(
    signers: KeyServer, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    claims_for(settings, token())
    monkeypatch.setattr(keys, "KEYS_SECONDS", 0)
    signers.is_asked.clear()
    signers.may_answer.clear()
    with ThreadPoolExecutor(1) as pool:
        unknown = pool.submit(is_refused, settings, token(header={"kid": "unknown"}))
        assert signers.is_asked.wait(60)
        assert claims_for(settings, token())["sub"] == USER
        signers.may_answer.set()

    assert unknown.result()
