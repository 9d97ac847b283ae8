"""Secrets of tenants, as the service manages them. Their owner is what they belong to: tenant or connector:<id>."""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from psycopg.rows import DictRow

from tickwork.database.sql import Sql
from tickwork.tools.secrets import SecretStore

STORE = """
    select tickwork.store_secret(
      %(tenant_id)s, %(owner)s, %(name)s, %(value)s, %(is_sealed)s, %(expires_at)s, %(hosts)s
    )
"""


class Secrets:
    def __init__(self, database: Sql, store: SecretStore) -> None:
        self._database = database
        self._store = store

    def store(
        self,
        tenant_id: UUID,
        owner: str,
        name: str,
        value: str,
        expires_at: datetime | None = None,
        hosts: Sequence[str] = (),
    ) -> None:
        """Store a secret, replacing one with the same name. The hosts are shown where it is listed."""
        row = self._store.row(tenant_id, owner, name, value, expires_at)
        self._database.rows(STORE, {**row, "hosts": list(hosts)})

    def overview(self, tenant_id: UUID, owner: str) -> list[DictRow]:
        """Names, hosts and times; the values cannot be read."""
        query = "select * from tickwork.list_secrets(%(tenant_id)s, %(owner)s)"
        return self._database.rows(query, {"tenant_id": tenant_id, "owner": owner})

    def drop(self, tenant_id: UUID, owner: str, name: str) -> bool:
        """Returns whether there was one with this name."""
        (row,) = self._database.rows(
            "select tickwork.drop_secrets(%(tenant_id)s, %(owner)s, %(name)s) as dropped",
            {"tenant_id": tenant_id, "owner": owner, "name": name},
            repeatable=False,
        )
        return bool(row["dropped"])


def secrets_of(database: Sql, secret_key: str | None) -> Secrets:
    """Sealed with this key; without one they are stored in Supabase Vault, if there is one."""
    return Secrets(database, SecretStore(secret_key))
