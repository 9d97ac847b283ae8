"""The key that signs the passports of a local stack: for development, where nobody else trusts it."""

import os
from base64 import b64decode, b64encode
from contextlib import suppress
from pathlib import Path

import psycopg

NAME = "dev-key-1"
SETTING, ALIAS = "TICKWORK_SIGNING_KEY", "BPC_SIGNING_ED25519_PRIVATE_KEY_BASE64"
REGISTER = "select public.register_signing_key(%s, %s)"


def own_signing_key(home: Path, url: str) -> dict[str, str]:
    """Created once, with its database, and registered there. Whoever has set another one registers it himself."""
    if os.environ.get(SETTING) or os.environ.get(ALIAS):
        return {}
    # Loaded late: a stack without passports may have no library for it.
    from tickwork.passports.signatures import SigningKey

    file = home / "signing-key"
    if not file.exists():
        file.touch(mode=0o600)
        file.write_text(b64encode(os.urandom(32)).decode())
    public = SigningKey(b64decode(file.read_text())).public
    # The database may have no passports, or be somebody else's who does not allow it.
    with suppress(psycopg.Error), psycopg.connect(url) as connection:
        connection.execute(REGISTER, [b64encode(public).decode(), NAME])
    return {SETTING: file.read_text(), f"{SETTING}_NAME": NAME}
