"""Connectors and imports: one method per SQL function, with the same name, and some for the table of connectors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal
from uuid import UUID

from psycopg.rows import DictRow
from psycopg.types.json import Jsonb

from tickwork.database.call import call
from tickwork.database.connection import Database
from tickwork.errors import NoSuchConnector

if TYPE_CHECKING:
    from tickwork.client.secrets import Secrets
    from tickwork.jobs.rows import EnqueuedJob, Job

Provider = Literal["dropbox", "onedrive", "gdrive"]


class Connectors:
    def __init__(self, database: Database, secrets: Secrets) -> None:
        self._database = database
        self._secrets = secrets

    def add_connector(
        self, tenant_id: UUID, provider: str, name: str, extract: str | None = None, consent: bool = False
    ) -> UUID:
        """Adds a connector without a token; `keep_token` stores one."""
        (row,) = self._database.rows(
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

    def keep_token(self, tenant_id: UUID, connector_id: UUID, refresh_token: str) -> None:
        """Store its refresh token, replacing any earlier one."""
        owner = f"connector:{connector_id}"
        self._secrets.store(tenant_id, owner, "refresh_token", refresh_token)
        # An access token obtained with the old one may belong to another account.
        self._secrets.drop(tenant_id, owner, "access_token")

    def remove_connector(self, connector_id: UUID) -> None:
        """Deletes its tokens too; imported documents stay."""
        self._database.rows("delete from public.connectors where id = %(id)s returning id", {"id": connector_id})

    def watch_connector(self, connector_id: UUID, url: str) -> None:
        """Set where its provider is to send notifications; the job watch_connector subscribes to them."""
        self._database.rows(
            "update public.connectors set watch_url = %(url)s where id = %(id)s returning id",
            {"id": connector_id, "url": url},
        )

    def find(self, name_or_id: str) -> DictRow:
        """The only connector with this id or name."""
        rows = self._database.rows(
            "select * from public.connectors where id::text = lower(%(given)s) or name = %(given)s",
            {"given": name_or_id},
        )
        if len(rows) != 1:
            what = f"{len(rows)} connectors are named" if rows else "there is no connector"
            hint = "`tickwork connectors` shows them with their ids."
            raise NoSuchConnector(f"CONNECTOR: {what} {name_or_id!r}", hint=hint)
        return rows[0]

    def is_named(self, tenant_id: UUID, name: str) -> bool:
        """Whether the tenant has a connector with this name."""
        known = "select from public.connectors where tenant_id = %(tenant_id)s and name = %(name)s"
        return bool(self._database.rows(known, {"tenant_id": tenant_id, "name": name}))

    def overview(self, tenant_id: UUID | None = None) -> list[DictRow]:
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

    def request_import(
        self,
        connector_id: UUID | str,
        remote_path: str | None = "",
        files: Sequence[str] | None = None,
        priority: int = 0,
    ) -> EnqueuedJob:
        from tickwork.jobs.rows import EnqueuedJob

        # Repeating it after a broken connection returns the existing job.
        (row,) = call(
            self._database,
            "request_import",
            connector_id=connector_id,
            remote_path=remote_path,
            files=None if files is None else Jsonb(list(files)),
            priority=priority,
        )
        return EnqueuedJob(**row)

    def next_import(self, job: Job) -> UUID | None:
        """The job that continues an import where this one stopped."""
        rows = self._database.rows(
            "select id from public.jobs where source_ref = %(id)s and type = %(type)s",
            {"id": str(job.id), "type": job.type},
        )
        return rows[0]["id"] if rows else None

    def note_changes(
        self, provider: str, account_ids: Sequence[str] = (), connector_ids: Sequence[UUID | str] = ()
    ) -> None:
        """Enqueue imports for the connectors that a verified notification is about."""
        call(
            self._database,
            "note_changes",
            provider=provider,
            account_ids=list(account_ids),
            connector_ids=[UUID(str(each)) for each in connector_ids],
        )
