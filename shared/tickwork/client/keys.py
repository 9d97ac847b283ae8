# Written by `make client` from aio/keys.py: change that one.
"""API keys, and who the caller is: one method per SQL function, with the same name."""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from tickwork.client.way import Row, Way


class Keys:
    def __init__(self, way: Way) -> None:
        self._way = way

    def create_api_key(
        self,
        name: str,
        scopes: Sequence[str],
        tenant_id: UUID | str | None,
        expires_at: datetime | str | None = None,
        account: str | None = None,
    ) -> Row:
        """The row, with the key itself in `key`: it is never shown again. Without a tenant it serves all of them."""
        given = {
            "name": name,
            "scopes": list(scopes),
            "tenant_id": tenant_id,
            "expires_at": expires_at,
            "account": account,
        }
        (row,) = self._way.rows("create_api_key", given, repeatable=False)
        return row

    def list_api_keys(
        self,
        tenant_id: UUID | str | None = None,
        with_revoked: bool = False,
        max_keys: int = 100,
        after_id: UUID | str | None = None,
    ) -> list[Row]:
        given = {"tenant_id": tenant_id, "with_revoked": with_revoked, "max_keys": max_keys, "after_id": after_id}
        return self._way.rows("list_api_keys", given)

    def revoke_api_key(self, key_id: UUID | str) -> Row:
        (row,) = self._way.rows("revoke_api_key", {"key_id": key_id})
        return row

    def who_am_i(self) -> Row:
        (row,) = self._way.rows("who_am_i", {})
        return row
