# Written by `make client` from aio/signing_keys.py: change that one.
"""The keys that sign passports: one method per SQL function, with the same name."""

from datetime import datetime

from tickwork.client.way import Row, Way


class SigningKeys:
    def __init__(self, way: Way) -> None:
        self._way = way

    def list_signing_keys(self) -> list[Row]:
        """The public keys, the newest first."""
        return self._way.rows("list_signing_keys", {})

    def register_signing_key(self, public_key: str, name: str = "") -> Row:
        """Let sign_passport sign with the private half of this key, which is in base64."""
        (row,) = self._way.rows("register_signing_key", {"public_key": public_key, "name": name})
        return row

    def retire_signing_key(self, signing_key_id: str) -> Row:
        (row,) = self._way.rows("retire_signing_key", {"signing_key_id": signing_key_id})
        return row

    def revoke_signing_key(self, signing_key_id: str, revoked_at: datetime | str | None = None) -> Row:
        """Revoke the key from a time on, by default from now on."""
        given = {"signing_key_id": signing_key_id, "revoked_at": revoked_at}
        (row,) = self._way.rows("revoke_signing_key", given)
        return row
