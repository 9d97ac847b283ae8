"""Tokens of users, as Supabase Auth signs them."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

import jwt

from tickwork.errors import CallerRefused
from tickwork.settings import Settings
from tickwork.web.keys import Key, Keys

# Claims that only this function makes.
OURS = "tickwork_"
# By how much the clocks may differ.
LEEWAY_SECONDS = 10
# The longest that Supabase lets a project choose.
TOKEN_SECONDS = 7 * 24 * 60 * 60

_keys = Keys()


def claims_of_user(token: str, settings: Settings) -> Mapping[str, Any]:
    """The claims of a token that is signed, for us, and a user's. Raises CallerRefused."""
    if not settings.jwt_issuer:
        raise CallerRefused("TICKWORK_JWT_ISSUER is not set, so no user can sign in")
    try:
        header = jwt.get_unverified_header(token)
        if "crit" in header or header.get("typ", "JWT") not in ("JWT", "jwt"):
            raise CallerRefused("the token has a header that is not understood")
        key, algorithm = key_for(header.get("kid"), settings)
        claims = jwt.decode(
            token,
            key=key,
            # Never the algorithm that the token names.
            algorithms=[algorithm],
            audience=settings.jwt_audience,
            issuer=settings.jwt_issuer,
            options={"require": ["exp", "iat", "aud", "iss", "sub", "role"], "strict_aud": True},
            leeway=LEEWAY_SECONDS,
        )
    except (jwt.PyJWTError, ValueError) as error:
        raise CallerRefused(f"the token was refused: {type(error).__name__}") from None
    check_claims(claims)
    return {name: value for name, value in claims.items() if not name.startswith(OURS)}


def key_for(key_id: object, settings: Settings) -> Key:
    # One or the other: where a public key is accepted, it must not be taken for a secret.
    if settings.jwks_url:
        return _keys.get(key_id, settings.jwks_url, settings)
    if settings.jwt_secret:
        return settings.jwt_secret, "HS256"
    raise CallerRefused("neither TICKWORK_JWKS_URL nor TICKWORK_JWT_SECRET is set, so no user can sign in")


def check_claims(claims: Mapping[str, Any]) -> None:
    # PyJWT accepts a string as a number, and any number as a time.
    if not all(type(claims[name]) is int for name in ("exp", "iat")):
        raise CallerRefused("the times in the token are not whole numbers")
    if claims["exp"] - claims["iat"] > TOKEN_SECONDS:
        raise CallerRefused("the token is valid for too long")
    # The anon and service keys of a project are valid tokens too.
    if claims["role"] != "authenticated":
        raise CallerRefused("the token is not a user's")
    try:
        is_id = str(UUID(claims["sub"])) == claims["sub"]
    except (ValueError, AttributeError, TypeError):
        is_id = False
    if not is_id:
        raise CallerRefused("the user of the token is not an id")
