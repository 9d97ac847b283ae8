"""The key to sign with: the first of the settings that is registered and active."""

from tickwork.errors import Permanent
from tickwork.jobs.connection import Connection
from tickwork.passports.signatures import SigningKey, is_sound_key, read_signing_keys
from tickwork.settings import load_settings


def own_keys() -> tuple[SigningKey, ...]:
    return read_signing_keys(load_settings().signing_key)


def active_key(keys: tuple[SigningKey, ...], connection: Connection) -> SigningKey:
    """While one key replaces another, the new one signs as soon as it is registered."""
    rows = connection.execute(
        "select id from public.signing_keys where status = 'active' and id = any (%s)", [[key.id for key in keys]]
    ).fetchall()
    active = {row["id"] for row in rows}
    for key in keys:
        if key.id in active and is_sound_key(key.public):
            return key
    raise Permanent(
        f"The key {keys[0].id} of TICKWORK_SIGNING_KEY is not registered, or was retired or revoked: "
        "`tickwork passport register-key` registers it",
        code="INVALID_SIGNING_KEY",
    )
