"""Connectors, and the table of them, with their tokens."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal
from uuid import UUID

from psycopg.rows import DictRow

from tickwork.client import connectors
from tickwork.client.direct import Direct
from tickwork.client.way import Way
from tickwork.errors import NoSuchConnector
from tickwork.tools.sealed_verbs import set_connector_token
from tickwork.tools.secrets import SecretStore

if TYPE_CHECKING:
    from tickwork.jobs.rows import Job

Provider = Literal["dropbox", "onedrive", "gdrive"]


class Connectors(connectors.Connectors, Direct):
    def __init__(self, way: Way, secret_key: str | None) -> None:
        super().__init__(way)
        self._secret_key = secret_key

    def set_connector_token(self, connector_id: UUID | str, refresh_token: str) -> None:
        """Store its refresh token, replacing any earlier one: sealed, if there is a key; over HTTP the API does it."""
        if not (self._has_database and self._secret_key):
            super().set_connector_token(connector_id, refresh_token)
            return
        store, given = SecretStore(self._secret_key), {"connector_id": connector_id, "refresh_token": refresh_token}
        self._database.transaction(lambda connection: set_connector_token(connection, store, given))

    def watch_connector(self, connector_id: UUID, url: str) -> None:
        """Set where its provider is to send notifications; the job watch_connector subscribes to them."""
        self._database.rows(
            "update public.connectors set watch_url = %(url)s where id = %(id)s returning id",
            {"id": connector_id, "url": url},
        )

    def find(self, name_or_id: str) -> DictRow:
        """The only connector with this id or name."""
        rows = [row for row in self.list_connectors() if name_or_id in (row["name"], str(row["id"]))]
        if len(rows) != 1:
            what = f"{len(rows)} connectors are named" if rows else "there is no connector"
            hint = "`tickwork connectors` shows them with their ids."
            raise NoSuchConnector(f"CONNECTOR: {what} {name_or_id!r}", hint=hint)
        return rows[0]

    def is_named(self, tenant_id: UUID, name: str) -> bool:
        """Whether the tenant has a connector with this name."""
        return any(row["name"] == name for row in self.list_connectors(tenant_id))

    def overview(self, tenant_id: UUID | None = None) -> list[DictRow]:
        """With what has been imported; over HTTP, what `list_connectors` says."""
        if not self._has_database:
            return self.list_connectors(tenant_id)
        return self._database.rows(
            """
            select
              connectors.id, connectors.name, connectors.provider, connectors.status, organizations.name as tenant,
              connectors.extract, connectors.account_id, connectors.watched_until, connectors.created_at,
              (select count(*) from public.connector_folders where connector_id = connectors.id) as folders,
              (select count(*) from public.imported_items where connector_id = connectors.id) as files
            from public.connectors
            join tickwork.organizations on organizations.id = connectors.tenant_id
            where %(tenant_id)s::uuid is null or connectors.tenant_id = %(tenant_id)s
            order by connectors.created_at, connectors.id
            """,
            {"tenant_id": tenant_id},
        )

    def next_import(self, job: Job) -> UUID | None:
        """The job that continues an import where this one stopped."""
        rows = self._database.rows(
            "select id from public.jobs where source_ref = %(id)s and type = %(type)s",
            {"id": str(job.id), "type": job.type},
        )
        return rows[0]["id"] if rows else None
