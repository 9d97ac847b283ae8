"""Tokens that Google signs for service accounts: those of Cloud Scheduler, and of machines that call the API."""

from tickwork.errors import CallerRefused
from tickwork.settings import Settings
from tickwork.web.keys import Keys

ISSUERS = ("https://accounts.google.com", "accounts.google.com")
# How long a token may be valid; Google's are for an hour.
TOKEN_SECONDS = 24 * 60 * 60

_keys = Keys()


def google_account(token: str, settings: Settings) -> str:
    """The verified e-mail of the account that the token was made for. Raises CallerRefused.

    Anybody's service account can ask Google for a token with our audience: the e-mail has to be checked.
    """
    import jwt  # takes 0.2 s, and only tokens need it

    try:
        key, algorithm = _keys.get(jwt.get_unverified_header(token).get("kid"), settings.oidc_keys_url, settings)
        if algorithm != "RS256":
            raise CallerRefused("the token is signed with a key of another kind than Google's")
        claims = jwt.decode(
            token,
            key=key,
            # Never the algorithm that the token names.
            algorithms=["RS256"],
            audience=settings.oidc_audience,
            issuer=ISSUERS,
            options={"require": ["exp", "iat", "aud", "iss", "email"], "strict_aud": True},
            leeway=10,
        )
    except (jwt.PyJWTError, ValueError) as error:
        raise CallerRefused(f"the token was refused: {type(error).__name__}") from None
    # PyJWT accepts a string as a number, and any number as a time.
    if not all(isinstance(claims[name], int) for name in ("exp", "iat")):
        raise CallerRefused("the times in the token are not whole numbers")
    if claims["exp"] - claims["iat"] > TOKEN_SECONDS:
        raise CallerRefused("the token is valid for too long")
    if not isinstance(claims["email"], str) or claims.get("email_verified") is not True:
        raise CallerRefused("the token has no verified account")
    return claims["email"]
