"""Imports, as an application asks for them: one method per SQL function, of the same name, and some on the table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal
from uuid import UUID

from psycopg.types.json import Jsonb

from tickwork.database.connection import Database

if TYPE_CHECKING:
    from tickwork.jobs.rows import EnqueuedJob

Provider = Literal["dropbox", "onedrive", "gdrive"]


class Imports:
    def __init__(self, database: Database) -> None:
        self.database = database

    def add_connector(
        self, tenant_id: UUID, provider: str, name: str, extract: str | None = None, consent: bool = False
    ) -> UUID:
        """A connector, still without a token: that goes into the safe, as refresh_token of connector:<id>."""
        (row,) = self.database.rows(
            """
            insert into public.connectors (tenant_id, provider, name, extract, consent_given_at, consent_given_by)
            values (
              %(tenant_id)s, %(provider)s, %(name)s, %(extract)s,
              case when %(consent)s then clock_timestamp() end, case when %(consent)s then tickwork.caller_id() end
            )
            returning id
            """,
            {"tenant_id": tenant_id, "provider": provider, "name": name, "extract": extract, "consent": consent},
            repeatable=False,
        )
        id: UUID = row["id"]
        return id

    def remove_connector(self, connector_id: UUID) -> None:
        """Its tokens go with it, and what it has imported stays."""
        self.database.rows("delete from public.connectors where id = %(id)s returning id", {"id": connector_id})

    def watch_connector(self, connector_id: UUID, url: str) -> None:
        """Where its provider shall send notifications; the job watch_connector tells it so."""
        self.database.rows(
            "update public.connectors set watch_url = %(url)s where id = %(id)s returning id",
            {"id": connector_id, "url": url},
        )

    def overview(self, tenant_id: UUID | None = None) -> list[dict[str, Any]]:
        return self.database.rows(
            """
            select
              connectors.id, connectors.name, connectors.provider, connectors.status, organizations.name as tenant,
              connectors.extract, connectors.account_id, connectors.watched_until, connectors.created_at,
              (select count(*) from public.connector_folders where connector_id = connectors.id) as folders,
              (select count(*) from public.imported_items where connector_id = connectors.id) as files
            from public.connectors
            join public.organizations on organizations.id = connectors.tenant_id
            where %(tenant_id)s::uuid is null or connectors.tenant_id = %(tenant_id)s
            order by connectors.created_at, connectors.id
            """,
            {"tenant_id": tenant_id},
        )

    def request_import(
        self,
        connector_id: UUID | str,
        remote_path: str | None = "",
        files: Sequence[str] | None = None,
        priority: int = 0,
    ) -> EnqueuedJob:
        from tickwork.jobs.rows import EnqueuedJob

        given = None if files is None else Jsonb(list(files))
        return EnqueuedJob(
            **self._call(
                "request_import", connector_id=connector_id, remote_path=remote_path, files=given, priority=priority
            )[0]
        )

    def note_changes(
        self, provider: str, account_ids: Sequence[str] = (), connector_ids: Sequence[UUID | str] = ()
    ) -> None:
        """Let those connectors be imported that a verified notification is about."""
        self._call(
            "note_changes",
            provider=provider,
            account_ids=list(account_ids),
            connector_ids=[UUID(str(each)) for each in connector_ids],
        )

    def _call(self, function: str, **arguments: Any) -> list[dict[str, Any]]:
        listed = ", ".join(f"{name} => %({name})s" for name in arguments)
        # A repeat after a broken connection answers the job that is there.
        return self.database.rows(f"select * from public.{function}({listed})", arguments)
