"""Who may wake a function, and everybody who may not."""

import base64
import hashlib
import hmac
import json
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa
from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature
from cryptography.hazmat.primitives.hashes import SHA256, SHA384
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from tests.servers.jwks import KeyServer, response
from tests.world.waiting import PATIENCE, until
from tickwork.errors import CallerRefused
from tickwork.serve import callers
from tickwork.serve.callers import check_caller, sign
from tickwork.settings import Settings
from tickwork.web import google_tokens, keys

DATABASE_URL = "postgresql://tickwork_worker@127.0.0.1/postgres"
SECRET, OLD, NEW = "s" * 32, "o" * 32, "n" * 40
AUDIENCE = "https://extract-abc123-ew.a.run.app"
EMAIL = "scheduler@my-project.iam.gserviceaccount.com"

KEY, NEXT_KEY, STRANGERS_KEY = (rsa.generate_private_key(public_exponent=65537, key_size=2048) for _ in range(3))
EC_KEY = ec.generate_private_key(ec.SECP256R1())


@pytest.fixture(autouse=True)
def nothing_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(callers, "_seen", callers._Seen())


Json = dict[str, Any]
Signer = Callable[[bytes], bytes]


def rs256_of(key: rsa.RSAPrivateKey) -> Signer:
    return lambda text: key.sign(text, padding.PKCS1v15(), SHA256())


rs256, by_next_key, by_stranger = map(rs256_of, (KEY, NEXT_KEY, STRANGERS_KEY))


def rs384(text: bytes) -> bytes:
    return KEY.sign(text, padding.PKCS1v15(), SHA384())


def ps256(text: bytes) -> bytes:
    return KEY.sign(text, padding.PSS(padding.MGF1(SHA256()), padding.PSS.DIGEST_LENGTH), SHA256())


def hs256(secret: bytes) -> Signer:
    return lambda text: hmac.digest(secret, text, hashlib.sha256)


def unsigned(text: bytes) -> bytes:
    return b""


def jwk(key: rsa.RSAPrivateKey, kid: str) -> Json:
    public: Json = jwt.algorithms.RSAAlgorithm.to_jwk(key.public_key(), as_dict=True)
    return {**public, "kid": kid, "alg": "RS256", "use": "sig"}


def public_bytes(encoding: Encoding) -> bytes:
    return KEY.public_key().public_bytes(encoding, PublicFormat.SubjectPublicKeyInfo)


def base64url(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def raw(header: str, claims: str, signed: Signer = rs256) -> str:
    """A token of any text, by hand: PyJWT would refuse to make most of these."""
    text = f"{base64url(header.encode())}.{base64url(claims.encode())}"
    return f"{text}.{base64url(signed(text.encode()))}"


HEADER: Json = {"alg": "RS256", "kid": "first", "typ": "JWT"}


def claims(**changed: Any) -> Json:
    """What Google says about our scheduler, but for what is changed; None leaves it out."""
    now = int(time.time())
    good = {
        "iss": "https://accounts.google.com",
        "aud": AUDIENCE,
        "azp": "1122334455",
        "sub": "1122334455",
        "email": EMAIL,
        "email_verified": True,
        "iat": now,
        "exp": now + 3600,
    }
    return {name: value for name, value in {**good, **changed}.items() if value is not None}


def token(signed: Signer = rs256, header: Json | None = None, **changed: Any) -> str:
    return raw(json.dumps({**HEADER, **(header or {})}), json.dumps(claims(**changed)), signed)


def without(name: str) -> Json:
    return {key: value for key, value in HEADER.items() if key != name}


def with_claims(text: str) -> str:
    return raw(json.dumps(HEADER), text)


def with_header(text: str, signed: Signer = rs256) -> str:
    return raw(text, json.dumps(claims()), signed)


def later(seconds: float) -> int:
    return int(time.time() + seconds)


def swapped(head: str, body: str) -> str:
    """The claims of one token under the signature of another."""
    return ".".join([head.split(".")[0], body.split(".")[1], head.split(".")[2]])


# Each differs in one thing from a token that is accepted.
FORGED: dict[str, Callable[[], str]] = {
    "alg none": lambda: token(unsigned, {"alg": "none"}),
    "alg None": lambda: token(unsigned, {"alg": "None"}),
    "alg nOnE": lambda: token(unsigned, {"alg": "nOnE"}),
    "alg NONE": lambda: token(unsigned, {"alg": "NONE"}),
    "alg none, signed": lambda: token(header={"alg": "none"}),
    "alg missing": lambda: with_header(json.dumps(without("alg"))),
    "alg empty": lambda: token(header={"alg": ""}),
    "alg null": lambda: token(header={"alg": None}),
    "alg in lower case": lambda: token(header={"alg": "rs256"}),
    "alg a list": lambda: token(header={"alg": ["RS256"]}),
    "alg an object": lambda: token(header={"alg": {"RS256": 1}}),
    "signature empty": lambda: token(unsigned),
    "signature of zeros": lambda: token(lambda text: bytes(256)),
    "signature too long": lambda: token(lambda text: rs256(text) + b"\0"),
    "signature by a stranger": lambda: token(by_stranger),
    "signature of other claims": lambda: swapped(token(sub="1"), token(sub="2")),
    "HS256 with the PEM": lambda: token(hs256(public_bytes(Encoding.PEM)), {"alg": "HS256"}),
    "HS256 with the stripped PEM": lambda: token(hs256(public_bytes(Encoding.PEM).strip()), {"alg": "HS256"}),
    "HS256 with the DER": lambda: token(hs256(public_bytes(Encoding.DER)), {"alg": "HS256"}),
    "HS256 with the JWK": lambda: token(hs256(json.dumps(jwk(KEY, "first")).encode()), {"alg": "HS256"}),
    "HS256 with nothing": lambda: token(hs256(b""), {"alg": "HS256"}),
    "HS256 called RS256": lambda: token(hs256(public_bytes(Encoding.PEM))),
    "RS384 by the right key": lambda: token(rs384, {"alg": "RS384"}),
    "PS256 by the right key": lambda: token(ps256, {"alg": "PS256"}),
    "ES256 by a key of the set": lambda: token(
        lambda text: EC_KEY.sign(text, ec.ECDSA(SHA256())), {"alg": "ES256", "kid": "elliptic"}
    ),
    "ES256 with r = s = 0": lambda: token(lambda text: bytes(64), {"alg": "ES256"}),
    "ES256 with r = s = 0 in DER": lambda: token(lambda text: encode_dss_signature(0, 0), {"alg": "ES256"}),
    "RS256 for an elliptic key": lambda: token(header={"kid": "elliptic"}),
    "RS256 for a symmetric key": lambda: token(header={"kid": "symmetric"}),
    "HS256 by a key of the set": lambda: token(hs256(b"k" * 32), {"alg": "HS256", "kid": "symmetric"}),
    "kid missing": lambda: with_header(json.dumps(without("kid"))),
    "kid unknown": lambda: token(header={"kid": "unknown"}),
    "kid empty": lambda: token(header={"kid": ""}),
    "kid null": lambda: token(header={"kid": None}),
    "kid a number": lambda: token(header={"kid": 1}),
    "kid a list": lambda: token(header={"kid": ["first"]}),
    "kid a path": lambda: token(hs256(b""), {"alg": "HS256", "kid": "../../../../dev/null"}),
    "kid of SQL": lambda: token(hs256(b"x"), {"alg": "HS256", "kid": "x' union select 'x' --"}),
    "kid a URL": lambda: token(by_stranger, {"kid": "http://127.0.0.1:9/keys"}),
    "jku": lambda: token(by_stranger, {"jku": "http://127.0.0.1:9/keys"}),
    "jku, unknown kid": lambda: token(by_stranger, {"jku": "http://127.0.0.1:9/keys", "kid": "mine"}),
    "x5u": lambda: token(by_stranger, {"x5u": "http://127.0.0.1:9/keys"}),
    "x5c": lambda: token(by_stranger, {"x5c": [base64.b64encode(public_bytes(Encoding.DER)).decode()]}),
    "jwk": lambda: token(by_stranger, {"jwk": jwk(STRANGERS_KEY, "first")}),
    "jwk, unknown kid": lambda: token(by_stranger, {"jwk": jwk(STRANGERS_KEY, "mine"), "kid": "mine"}),
    "crit unknown": lambda: token(header={"crit": ["exp-2"], "exp-2": 1}),
    "crit empty": lambda: token(header={"crit": []}),
    "crit no list": lambda: token(header={"crit": "b64"}),
    "crit of numbers": lambda: token(header={"crit": [1]}),
    "b64 false": lambda: token(header={"b64": False, "crit": ["b64"]}),
    "b64 false, not critical": lambda: token(header={"b64": False}),
    "alg twice, none last": lambda: with_header('{"kid": "first", "alg": "RS256", "alg": "none"}', unsigned),
    "alg twice, none first": lambda: with_header('{"kid": "first", "alg": "none", "alg": "RS256"}', unsigned),
    "kid twice": lambda: with_header('{"alg": "RS256", "kid": "first", "kid": "unknown"}'),
    "e-mail twice": lambda: with_claims(json.dumps(claims())[:-1] + ', "email": "mallory@example.com"}'),
    "e-mail twice, by a stranger": lambda: raw(
        json.dumps(HEADER), f'{{"email": "mallory@example.com", {json.dumps(claims())[1:]}', by_stranger
    ),
    "exp twice": lambda: with_claims(json.dumps(claims())[:-1] + ', "exp": 1}'),
    "header no JSON": lambda: with_header("RS256"),
    "header empty": lambda: with_header(""),
    "header a list": lambda: with_header('["RS256"]'),
    "header null": lambda: with_header("null"),
    "header nested deeply": lambda: with_header("[" * 200_000),
    "header of bad UTF-8": lambda: base64url(b"{\xff}") + token()[token().index(".") :],
    "claims no JSON": lambda: with_claims("sub=1"),
    "claims empty": lambda: with_claims(""),
    "claims a list": lambda: with_claims(json.dumps([claims()])),
    "claims a string": lambda: with_claims(json.dumps(json.dumps(claims()))),
    "claims nested deeply": lambda: with_claims("[" * 200_000),
    "claims with a huge number": lambda: with_claims(json.dumps(claims())[:-1] + f', "x": {"9" * 10_000}}}'),
    "expired": lambda: token(exp=later(-60), iat=later(-3660)),
    "expired long ago": lambda: token(exp=later(-(10**8)), iat=later(-(10**8) - 3600)),
    "exp missing": lambda: token(exp=None),
    "exp null": lambda: with_claims(json.dumps({**claims(), "exp": None})),
    "exp a string": lambda: token(exp=str(later(3600))),
    "exp a word": lambda: token(exp="never"),
    "exp a float": lambda: token(exp=later(3600) + 0.5),
    "exp negative": lambda: token(exp=-1),
    "exp zero": lambda: token(exp=0),
    "exp 2^63": lambda: token(exp=2**63),
    "exp 10^400": lambda: token(exp=10**400),
    "exp in two days": lambda: token(exp=later(2 * 86_400)),
    "exp infinite": lambda: token(exp=float("inf")),
    "exp 1e999": lambda: with_claims(json.dumps(claims()).replace('"exp": ', '"exp": 1e999, "was": ')),
    "exp not a number": lambda: token(exp=float("nan")),
    "exp a list": lambda: token(exp=[later(3600)]),
    "exp true": lambda: token(exp=True),
    "nbf in the future": lambda: token(nbf=later(60)),
    "nbf a word": lambda: token(nbf="now"),
    "nbf infinite": lambda: token(nbf=float("inf")),
    "iat in the future": lambda: token(iat=later(60)),
    "iat missing": lambda: token(iat=None),
    "iat a string": lambda: token(iat=str(later(0))),
    "iat a float": lambda: token(iat=time.time() - 1),
    "iat true": lambda: token(iat=True),
    "iat negative": lambda: token(iat=-(2**63)),
    "iss with a slash": lambda: token(iss="https://accounts.google.com/"),
    "iss in upper case": lambda: token(iss="https://ACCOUNTS.google.com"),
    "iss over http": lambda: token(iss="http://accounts.google.com"),
    "iss of a stranger": lambda: token(iss="https://accounts.google.com.example.com"),
    "iss a part": lambda: token(iss="google.com"),
    "iss of Supabase": lambda: token(iss="https://abc.supabase.co/auth/v1"),
    "iss a list": lambda: token(iss=["https://accounts.google.com"]),
    "iss empty": lambda: token(iss=""),
    "iss missing": lambda: token(iss=None),
    "aud of another function": lambda: token(aud="https://import-abc123-ew.a.run.app"),
    "aud with a slash": lambda: token(aud=f"{AUDIENCE}/"),
    "aud with a path": lambda: token(aud=f"{AUDIENCE}/main"),
    "aud with a space": lambda: token(aud=f"{AUDIENCE} "),
    "aud a part": lambda: token(aud=AUDIENCE[:-1]),
    "aud one letter": lambda: token(aud="h"),
    "aud in upper case": lambda: token(aud=AUDIENCE.upper()),
    "aud a list with ours": lambda: token(aud=["https://example.com", AUDIENCE]),
    "aud a list of ours": lambda: token(aud=[AUDIENCE]),
    "aud a list without ours": lambda: token(aud=["https://example.com"]),
    "aud a list of anything": lambda: token(aud=[AUDIENCE, 1, {}]),
    "aud an object": lambda: token(aud={AUDIENCE: True}),
    "aud a number": lambda: token(aud=1),
    "aud empty": lambda: token(aud=""),
    "aud missing": lambda: token(aud=None),
    "e-mail of another account": lambda: token(email="scheduler@other-project.iam.gserviceaccount.com"),
    "e-mail in upper case": lambda: token(email=EMAIL.upper()),
    "e-mail a part": lambda: token(email=EMAIL[:-1]),
    "e-mail with more": lambda: token(email=f"{EMAIL}.example.com"),
    "e-mail with a space": lambda: token(email=f"{EMAIL} "),
    "e-mail of other letters": lambda: token(email=EMAIL.replace("c", "с")),
    "e-mail a list": lambda: token(email=[EMAIL]),
    "e-mail true": lambda: token(email=True),
    "e-mail empty": lambda: token(email=""),
    "e-mail missing": lambda: token(email=None),
    "e-mail not verified": lambda: token(email_verified=False),
    "e-mail verified as a string": lambda: token(email_verified="true"),
    "e-mail verified as a number": lambda: token(email_verified=1),
    "e-mail verified as a list": lambda: token(email_verified=[True]),
    "e-mail verified is missing": lambda: token(email_verified=None),
    "sub a list": lambda: token(sub=["1"]),
    "two parts": lambda: token().rsplit(".", 1)[0],
    "four parts": lambda: f"{token()}.x",
    "five parts, as of a JWE": lambda: base64url(b'{"alg": "RSA-OAEP", "enc": "A256GCM"}') + ".a.b.c.d",
    "a token in a token": lambda: raw(json.dumps({**HEADER, "cty": "JWT"}), token()),
    "only dots": lambda: "..",
    "part empty": lambda: f".{token().split('.', 1)[1]}",
    "space before": lambda: f" {token()}",
    "space after": lambda: f"{token()} ",
    "tab after": lambda: f"{token()}\t",
    "newline after": lambda: f"{token()}\n",
    "newline within": lambda: token().replace(".", ".\n", 1),
    "NUL after": lambda: f"{token()}\0",
    "padding after": lambda: f"{token()}====",
    "base64 of the other kind": lambda: token().replace(".", "+/.", 1),
    "quoted": lambda: f'"{token()}"',
    "not ASCII": lambda: f"{token()}ä",
    "not Unicode": lambda: f"{token()}\udcff",
    "with another token": lambda: f"{token()}, Bearer {token()}",
    "1 MB of claims": lambda: token(by_stranger, x="x" * 1_000_000),
    "1 MB of dots": lambda: "." * 1_000_000,
    "1 MB of nothing": lambda: f"{'A' * 1_000_000}.{'A' * 1_000_000}.A",
    "10,000 claims": lambda: token(by_stranger, None, **{f"claim_{number}": number for number in range(10_000)}),
    "a legacy Supabase key": lambda: raw('{"alg": "HS256", "typ": "JWT"}', '{"role": "anon"}', hs256(b"x" * 32)),
    "a refresh token": lambda: "1//0gabcdefghijklmnopqrstuvwxyz",
}

ACCEPTED: dict[str, Callable[[], str]] = {
    "of Google": token,
    "made by PyJWT": lambda: jwt.encode(claims(), KEY, "RS256", {"kid": "first"}),
    "without the scheme of the issuer": lambda: token(iss="accounts.google.com"),
    "by the second key of the set": lambda: token(by_next_key, {"kid": "second"}),
    "just expired, by our clock": lambda: token(exp=later(-2), iat=later(-3602)),
    "of the next second, by our clock": lambda: token(iat=later(2), nbf=later(2), exp=later(3602)),
    "about to expire": lambda: token(exp=later(60), iat=later(-3540)),
    "with claims that we do not know": lambda: token(google={"compute_engine": {"zone": "x"}}, jti="1", nbf=later(-9)),
    "with a critical b64 that changes nothing": lambda: token(header={"b64": True, "crit": ["b64"]}),
    "with addresses of keys that nobody asks": lambda: token(
        header={"jku": "http://127.0.0.1:9", "x5u": "http://[::1]"}
    ),
    "without a type": lambda: with_header(json.dumps(without("typ"))),
}


class Google(KeyServer):
    """Beside Google's keys, it has some of other kinds."""

    def __init__(self) -> None:
        super().__init__(jwk(KEY, "first"), jwk(NEXT_KEY, "second"))

    def serve_keys(self, *keys: Json) -> None:
        elliptic = jwt.algorithms.ECAlgorithm.to_jwk(EC_KEY.public_key(), as_dict=True)
        others = [{**elliptic, "kid": "elliptic"}, {"kty": "oct", "kid": "symmetric", "k": base64url(b"k" * 32)}]
        super().serve_keys(*others, *keys)


def keys_of(**changed: Any) -> bytes:
    return response(json.dumps({"keys": [{**jwk(KEY, "first"), **changed}]}).encode())


NO_KEYS: dict[str, bytes] = {
    "HTML": response(b"<!doctype html><title>Sign in</title>"),
    "nothing": response(b""),
    "null": response(b"null"),
    "a number": response(b"1"),
    "a list": response(b"[]"),
    "an object": response(b"{}"),
    "no keys": response(b'{"keys": []}'),
    "keys null": response(b'{"keys": null}'),
    "keys a number": response(b'{"keys": 1}'),
    "keys of numbers": response(b'{"keys": [1, null, "x"]}'),
    "keys without a type": response(b'{"keys": [{"kid": "first"}]}'),
    "only another kind of key": response(
        json.dumps({"keys": [{"kty": "oct", "kid": "first", "k": base64url(b"k" * 32)}]}).encode()
    ),
    "a kid that is a list": keys_of(kid=["first"]),
    "an alg that is a list": keys_of(alg=["RS256"]),
    "a modulus that is a number": keys_of(n=1),
    "a modulus of garbage": keys_of(n="!"),
    "an alg of symmetric keys": keys_of(alg="HS256"),
    "bad UTF-8": response(b'{"keys": "\xff"}'),
    "10 MB": response(b'{"keys": [' + b"1," * 5_000_000 + b"1]}"),
    "100,000 brackets": response(b"[" * 100_000),
    "half of it": response(b'{"keys": [', length=1000),
    "no HTTP": b"\x16\x03\x01 garbage\r\n\r\n",
    "no word": b"",
    "a bad length": b"HTTP/1.0 200 OK\r\nContent-Length: many\r\n\r\n{}",
    "bad chunks": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n{}",
    "a long header": b"HTTP/1.0 200 OK\r\nX: " + b"x" * 100_000 + b"\r\n\r\n",
    "not found": response(b"{}", "404 Not Found"),
    "an error": response(b"{}", "500 Internal Server Error"),
    "another place": b"HTTP/1.0 302 Found\r\nLocation: file:///etc/passwd\r\nContent-Length: 0\r\n\r\n",
}


@pytest.fixture
def google(monkeypatch: pytest.MonkeyPatch) -> Iterator[Google]:
    monkeypatch.setattr(google_tokens, "_keys", keys.Keys())
    google = Google()
    with google.running():
        yield google


def by_token(google: Google) -> Settings:
    return Settings(database_url=DATABASE_URL, oidc_audience=AUDIENCE, oidc_email=EMAIL, oidc_keys_url=google.url)


def refused(settings: Settings, remote: str | None = "169.254.1.1", **headers: str) -> bool:
    try:
        check_caller({name.replace("_", "-"): value for name, value in headers.items()}, remote, "extract", settings)
    except CallerRefused:
        return True
    return False


def refused_token(google: Google, credential: str) -> bool:
    return refused(by_token(google), Authorization=f"Bearer {credential}")


@pytest.mark.parametrize("name", FORGED)
def test_a_forged_token_is_refused(name: str, google: Google) -> None:
    assert refused_token(google, FORGED[name]())


@pytest.mark.parametrize("name", ACCEPTED)
def test_a_good_token_is_accepted(name: str, google: Google) -> None:
    assert not refused_token(google, ACCEPTED[name]())


def test_a_token_works_only_in_its_header(google: Google) -> None:
    settings, credential = by_token(google), f"Bearer {token()}"

    assert not refused(settings, Authorization=credential)
    for header in ("Cookie", "Proxy_Authorization", "X_Forwarded_Authorization", "X_Serverless_Authorization"):
        assert refused(settings, **{header: credential})
    assert refused(settings, X_Tickwork_Signature=credential)


@pytest.mark.parametrize("header", ["jku", "x5u", "kid"])
def test_a_token_cannot_say_where_its_key_is(header: str, google: Google) -> None:
    mallory = Google()
    mallory.serve_keys(jwk(STRANGERS_KEY, "mine"))

    with mallory.running():
        assert refused_token(google, token(by_stranger, {"kid": "mine", header: mallory.url}))

    assert mallory.hits == 0


@pytest.mark.parametrize("scheme", ["bearer", "BEARER", "Bearer"])
def test_the_scheme_is_accepted_in_any_case(scheme: str, google: Google) -> None:
    assert not refused(by_token(google), Authorization=f"{scheme} {token()}")


@pytest.mark.parametrize(
    "scheme", ["Basic ", "Token ", "", "Bearer", "Bearer\t", "Bearer  ", " Bearer ", "Bearer:", "Béarer "]
)
def test_another_scheme_is_refused(scheme: str, google: Google) -> None:
    assert refused(by_token(google), Authorization=f"{scheme}{token()}")


@pytest.mark.parametrize("separator", [",", ", ", "\n"])
def test_two_credentials_in_one_request_are_refused(separator: str, google: Google) -> None:
    settings = by_token(google)

    assert refused(settings, Authorization=f"Bearer {token()}{separator}Bearer {token()}")
    assert refused(settings, Authorization=f"Bearer {token()}{separator}Bearer x")
    assert refused(settings, Authorization=f"Bearer x{separator}Bearer {token()}")


def test_keys_are_fetched_once_for_many_tokens(google: Google) -> None:
    for _ in range(20):
        assert not refused_token(google, token())

    assert google.hits == 1


def test_a_flood_of_unknown_keys_makes_one_fetch(google: Google) -> None:
    assert keys.KEYS_SECONDS == 30
    unknown = [token(header={"kid": f"unknown-{number}"}) for number in range(100)]

    with ThreadPoolExecutor(8) as threads:
        answers = list(threads.map(lambda each: refused_token(google, each), unknown))

    assert all(answers)
    assert google.hits == 1


def test_a_new_key_is_accepted_next_to_the_old_one(google: Google, monkeypatch: pytest.MonkeyPatch) -> None:
    google.serve_keys(jwk(KEY, "first"))
    assert not refused_token(google, token())
    google.serve_keys(jwk(KEY, "first"), jwk(NEXT_KEY, "next"))
    by_new_key = token(by_next_key, {"kid": "next"})
    assert refused_token(google, by_new_key)

    monkeypatch.setattr(keys, "KEYS_SECONDS", 0)

    assert not refused_token(google, by_new_key)
    assert not refused_token(google, token())
    assert google.hits == 2


def test_a_withdrawn_key_is_refused_once_the_new_ones_are_here(google: Google, monkeypatch: pytest.MonkeyPatch) -> None:
    assert not refused_token(google, token())
    google.serve_keys(jwk(NEXT_KEY, "next"))
    monkeypatch.setattr(keys, "KEYS_SECONDS", 0)

    assert not refused_token(google, token(by_next_key, {"kid": "next"}))
    assert refused_token(google, token())


def test_known_keys_work_while_their_server_is_down(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(google_tokens, "_keys", keys.Keys())
    monkeypatch.setattr(keys, "KEYS_SECONDS", 0)
    google = Google()
    with google.running():
        assert not refused_token(google, token())

    for _ in range(10):
        assert refused_token(google, token(header={"kid": "unknown"}))
        assert not refused_token(google, token())


def test_everybody_is_refused_until_there_are_keys(google: Google, monkeypatch: pytest.MonkeyPatch) -> None:
    google.answer = response(b"", "503 Service Unavailable")
    assert refused_token(google, token())

    google.serve_keys(jwk(KEY, "first"))
    monkeypatch.setattr(keys, "FIRST_KEYS_SECONDS", 0)

    assert not refused_token(google, token())


def test_a_first_fetch_that_fails_is_soon_tried_again(google: Google, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keys, "KEYS_SECONDS", 10_000)
    google.answer = response(b"", "503 Service Unavailable")
    assert refused_token(google, token())

    google.serve_keys(jwk(KEY, "first"))

    until(lambda: not refused_token(google, token()), "valid tokens stay refused", seconds=60)


@pytest.mark.parametrize("name", NO_KEYS)
def test_known_keys_are_kept_when_the_answer_has_none(
    name: str, google: Google, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert not refused_token(google, token())
    monkeypatch.setattr(keys, "KEYS_SECONDS", 0)
    google.answer = NO_KEYS[name]

    assert refused_token(google, token(header={"kid": "unknown"}))

    assert google.hits == 2
    assert not refused_token(google, token())
    for line in capsys.readouterr().out.splitlines():
        assert (json.loads(line)["message"], json.loads(line)["severity"]) == ("miss_keys", "WARNING")


def test_a_known_key_does_not_wait_for_an_unknown_one(google: Google, monkeypatch: pytest.MonkeyPatch) -> None:
    assert not refused_token(google, token())
    monkeypatch.setattr(keys, "KEYS_SECONDS", 0)
    google.may_answer.clear()
    google.is_asked.clear()

    with ThreadPoolExecutor(2) as threads:
        stranger = threads.submit(refused_token, google, token(header={"kid": "unknown"}))
        assert google.is_asked.wait(PATIENCE)
        friend = threads.submit(refused_token, google, token())
        try:
            assert friend.result(PATIENCE) is False
            assert not stranger.done()
        finally:
            google.may_answer.set()

    assert stranger.result() is True


def test_nobody_is_asked_for_keys_unless_tokens_are_expected(google: Google) -> None:
    settings = Settings(database_url=DATABASE_URL, bearer_secret=SECRET, oidc_keys_url=google.url)

    assert refused(settings, Authorization=f"Bearer {token()}")
    assert google.hits == 0


def test_a_secret_works_beside_tokens(google: Google) -> None:
    settings = replace(by_token(google), bearer_secret=SECRET, hmac_secret=NEW)

    assert not refused(settings, Authorization=f"Bearer {SECRET}")
    assert not refused(settings, Authorization=f"Bearer {token()}")
    assert not refused(settings, **signature(NEW))
    assert refused(settings, Authorization=f"Bearer {NEW}")
    assert refused(settings, **signature(SECRET))


def test_the_secret_is_accepted() -> None:
    assert not refused(by_secret(SECRET), Authorization=f"Bearer {SECRET}")


@pytest.mark.parametrize(
    "credential",
    [
        "",
        "x",
        SECRET[:-1],
        f"{SECRET}s",
        f"{SECRET} ",
        f" {SECRET}",
        f"{SECRET}\n",
        f"{SECRET}\0",
        f"{SECRET},{SECRET}",
        f"{SECRET}, Bearer {SECRET}",
        SECRET.upper(),
        f'"{SECRET}"',
        f"{SECRET[:-1]}ſ",
        "ä" * 32,
        "\udcff" * 32,
        "x" * 1_000_000,
        "None",
        "a.b.c",
    ],
)
def test_a_wrong_secret_is_refused(credential: str) -> None:
    assert refused(by_secret(SECRET), Authorization=f"Bearer {credential}")


def test_two_secrets_are_accepted_while_one_replaces_the_other() -> None:
    settings = by_secret(f"{OLD},{NEW}")

    assert not refused(settings, Authorization=f"Bearer {OLD}")
    assert not refused(settings, Authorization=f"Bearer {NEW}")
    assert refused(settings, Authorization=f"Bearer {OLD},{NEW}")
    assert refused(settings, Authorization=f"Bearer {SECRET}")
    assert refused(by_secret(NEW), Authorization=f"Bearer {OLD}")


@pytest.mark.parametrize("age", [0, 240, -240])
def test_a_fresh_signature_is_accepted(age: int) -> None:
    assert not refused(by_signature(SECRET), **signature(SECRET, later(-age)))


def test_a_signature_is_what_the_documents_say() -> None:
    expected = hmac.new(SECRET.encode(), b"1700000000.extract", hashlib.sha256).hexdigest()

    assert sign("extract", 1_700_000_000, SECRET) == f"sha256={expected}"


def test_two_secrets_sign_while_one_replaces_the_other() -> None:
    settings = by_signature(f"{OLD},{NEW}")

    assert not refused(settings, **signature(OLD))
    assert not refused(settings, **signature(NEW))
    assert refused(settings, **signature(f"{OLD},{NEW}"))
    assert refused(settings, **signature(SECRET))
    assert refused(by_signature(NEW), **signature(OLD))


def test_a_signature_is_accepted_once() -> None:
    first, second = signature(SECRET), signature(SECRET, nonce="n1")

    assert not refused(by_signature(SECRET), **first)
    assert refused(by_signature(SECRET), **first)
    assert not refused(by_signature(SECRET), **second)
    assert refused(by_signature(SECRET), **second)
    assert not refused(by_signature(SECRET), **signature(SECRET, nonce="n2"))


def test_of_many_at_once_with_one_signature_one_is_accepted() -> None:
    again = signature(SECRET)

    with ThreadPoolExecutor(8) as threads:
        answers = list(threads.map(lambda _: refused(by_signature(SECRET), **again), range(50)))

    assert answers.count(False) == 1


def test_a_refused_signature_is_not_remembered() -> None:
    good = signature(SECRET, nonce="n")

    assert refused(by_signature(NEW), **good)
    assert refused(by_signature(SECRET), **{**good, "X_Tickwork_Nonce": "m"})
    assert not refused(by_signature(SECRET), **good)


def test_what_is_remembered_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(callers, "MAX_SIGNATURES", 10)
    many = [signature(SECRET, nonce=str(number)) for number in range(50)]

    for each in many:
        assert not refused(by_signature(SECRET), **each)

    assert len(callers._seen._until) == 10
    assert refused(by_signature(SECRET), **many[-1])


def test_what_is_too_old_to_be_accepted_is_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    assert not refused(by_signature(SECRET), **signature(SECRET, nonce="old"))
    now = time.monotonic()
    monkeypatch.setattr(time, "monotonic", lambda: now + 2 * callers.SIGNATURE_SECONDS + 1)

    assert not refused(by_signature(SECRET), **signature(SECRET, nonce="new"))

    assert len(callers._seen._until) == 1


@pytest.mark.parametrize("nonce", ["a.b", "a b", "ä", "x" * 101, "a\n"])
def test_a_strange_nonce_is_refused(nonce: str) -> None:
    assert refused(by_signature(SECRET), **signature(SECRET, nonce=nonce))


def test_a_signature_holds_for_its_nonce_only() -> None:
    good = signature(SECRET, nonce="abc")

    assert refused(by_signature(SECRET), **{**good, "X_Tickwork_Nonce": ""})
    assert refused(by_signature(SECRET), **{**good, "X_Tickwork_Nonce": "abd"})


@pytest.mark.parametrize("age", [600, -600, 10**9])
def test_an_old_or_future_signature_is_refused(age: int) -> None:
    assert refused(by_signature(SECRET), **signature(SECRET, later(-age)))


TIMESTAMPS: dict[str, Callable[[int], str]] = {
    "empty": lambda now: "",
    "a word": lambda now: "now",
    "a fraction": lambda now: f"{now}.0",
    "a plus": lambda now: f"+{now}",
    "a minus": lambda now: f"-{now}",
    "a space before": lambda now: f" {now}",
    "a newline after": lambda now: f"{now}\n",
    "underscores": lambda now: f"{now:_}",
    "hexadecimal": lambda now: hex(now),
    "an exponent": lambda now: f"{now}e0",
    "not a number": lambda now: "nan",
    "infinite": lambda now: "inf",
    "two of them": lambda now: f"{now},{now}",
    "Arabic digits": lambda now: str(now).translate({ord("0") + digit: ord("٠") + digit for digit in range(10)}),
    "wide digits": lambda now: str(now).translate({ord("0") + digit: ord("０") + digit for digit in range(10)}),
    "a power": lambda now: f"{now}²",
    "not Unicode": lambda now: f"{now}\udcff",
    "zeros before": lambda now: f"0000{now}",
    "5,000 digits": lambda now: "9" * 5000,
}


@pytest.mark.parametrize("name", TIMESTAMPS)
def test_a_timestamp_that_is_no_number_is_refused(name: str) -> None:
    now = later(0)
    credential = {"X_Tickwork_Signature": sign("extract", now, SECRET), "X_Tickwork_Timestamp": TIMESTAMPS[name](now)}

    assert refused(by_signature(SECRET), **credential)


def test_a_signature_without_a_timestamp_is_refused() -> None:
    assert refused(by_signature(SECRET), X_Tickwork_Signature=sign("extract", later(0), SECRET))


def test_a_signature_for_another_moment_is_refused() -> None:
    now = later(0)

    assert refused(
        by_signature(SECRET), X_Tickwork_Signature=sign("extract", now - 1, SECRET), X_Tickwork_Timestamp=str(now)
    )


@pytest.mark.parametrize("family", ["import", "extract2", "Extract", ""])
def test_a_signature_for_another_family_is_refused(family: str) -> None:
    assert refused(by_signature(SECRET), **signature(SECRET, family=family))


CHANGES: dict[str, Callable[[str], str]] = {
    "without its kind": lambda good: good.removeprefix("sha256="),
    "in upper case": lambda good: good.upper(),
    "shorter": lambda good: good[:-1],
    "longer": lambda good: f"{good}0",
    "with a space": lambda good: f"{good} ",
    "twice": lambda good: f"{good},{good}",
    "of another kind": lambda good: good.replace("sha256", "sha1"),
    "empty": lambda good: "sha256=",
    "of zeros": lambda good: "sha256=" + "0" * 64,
    "with more than ASCII": lambda good: f"{good}ä",
    "without any ASCII": lambda good: "ä" * 71,
    "not Unicode": lambda good: f"{good}\udcff",
    "1 MB": lambda good: "x" * 1_000_000,
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_changed_signature_is_refused(name: str) -> None:
    now = later(0)
    changed = CHANGES[name](sign("extract", now, SECRET))

    assert refused(by_signature(SECRET), X_Tickwork_Signature=changed, X_Tickwork_Timestamp=str(now))


def test_a_wrong_signature_is_not_healed_by_a_secret() -> None:
    settings = by_secret(SECRET)

    assert refused(settings, Authorization=f"Bearer {SECRET}", X_Tickwork_Signature="sha256=0")


def test_a_secret_is_no_signature_and_a_signature_no_secret() -> None:
    assert refused(by_signature(SECRET), Authorization=f"Bearer {SECRET}")
    assert refused(by_secret(SECRET), **signature(SECRET))


NOBODY = Settings(database_url=DATABASE_URL)


@pytest.mark.parametrize("remote", ["127.0.0.1", "::1", "169.254.1.1", "", None])
@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Authorization": ""},
        {"Authorization": "Bearer"},
        {"Authorization": "Bearer "},
        {"Authorization": "Bearer  "},
        {"Authorization": "Bearer None"},
        {"Authorization": f"Bearer {SECRET}"},
        {"Authorization": "Bearer .."},
        {"Authorization": "Basic Og=="},
        {"X_Tickwork_Signature": "", "X_Tickwork_Timestamp": ""},
        {"X_Tickwork_Signature": "sha256=", "X_Tickwork_Timestamp": "0"},
        {"X_CloudScheduler": "true", "X_CloudScheduler_JobName": "tick", "User_Agent": "Google-Cloud-Scheduler"},
        {"X_Forwarded_For": "127.0.0.1", "Host": "localhost"},
    ],
)
def test_with_no_setting_nobody_is_let_in(remote: str | None, headers: dict[str, str]) -> None:
    assert refused(NOBODY, remote, **headers)


@pytest.mark.parametrize("secret", ["", "None", SECRET])
def test_with_no_setting_no_signature_is_good(secret: str) -> None:
    assert refused(NOBODY, **signature(secret))


def test_with_no_setting_no_token_is_good(google: Google) -> None:
    settings = Settings(database_url=DATABASE_URL, oidc_keys_url=google.url)

    assert refused(settings, Authorization=f"Bearer {token()}")
    assert refused(replace(settings, oidc_email=EMAIL), Authorization=f"Bearer {token()}")


def test_an_audience_alone_lets_nobody_in(google: Google) -> None:
    settings = replace(by_token(google), oidc_email=None)

    assert refused(settings, Authorization=f"Bearer {token()}")
    assert refused(settings, Authorization=f"Bearer {token(email=None)}")


@pytest.mark.parametrize("remote", ["127.0.0.1", "::1"])
def test_who_is_on_the_machine_is_let_in_if_that_is_set(remote: str) -> None:
    settings = Settings(database_url=DATABASE_URL, open_on_loopback=True)

    assert not refused(settings, remote)
    assert not refused(settings, remote, Authorization="Bearer x")


@pytest.mark.parametrize(
    "remote",
    ["10.0.0.1", "169.254.1.1", "0.0.0.0", "::", "::ffff:10.0.0.1", "127.0.0.1.example.com", "localhost", "", None],
)
def test_who_is_elsewhere_is_not_let_in_as_if_on_the_machine(remote: str | None) -> None:
    settings = Settings(database_url=DATABASE_URL, open_on_loopback=True, bearer_secret=SECRET)
    posing = {"X_Forwarded_For": "127.0.0.1", "Forwarded": "for=127.0.0.1", "X_Real_IP": "::1", "Host": "localhost"}

    assert refused(settings, remote)
    assert refused(settings, remote, **posing)
    assert not refused(settings, remote, Authorization=f"Bearer {SECRET}")


def by_secret(secret: str) -> Settings:
    return Settings(database_url=DATABASE_URL, bearer_secret=secret)


def by_signature(secret: str) -> Settings:
    return Settings(database_url=DATABASE_URL, hmac_secret=secret)


def signature(secret: str, timestamp: int | None = None, family: str = "extract", nonce: str = "") -> dict[str, str]:
    timestamp = later(0) if timestamp is None else timestamp
    headers = {"X_Tickwork_Signature": sign(family, timestamp, secret, nonce), "X_Tickwork_Timestamp": str(timestamp)}
    return {**headers, "X_Tickwork_Nonce": nonce} if nonce else headers
