"""Imports, as an application asks for them: one method per SQL function, of the same name."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from psycopg.types.json import Jsonb

from tickwork.database import Database
from tickwork.jobs import EnqueuedJob


class Imports:
    def __init__(self, database: Database) -> None:
        self.database = database

    def request_import(
        self,
        connector_id: UUID | str,
        remote_path: str | None = "",
        files: Sequence[str] | None = None,
        priority: int = 0,
    ) -> EnqueuedJob:
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
