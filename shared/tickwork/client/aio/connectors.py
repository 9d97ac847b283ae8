"""Connectors and imports: one method per SQL function, with the same name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any
from uuid import UUID

from tickwork.client.aio.way import Row, Way
from tickwork.client.json_values import as_json, ids

if TYPE_CHECKING:
    from tickwork.jobs.rows import EnqueuedJob


class Connectors:
    def __init__(self, way: Way) -> None:
        self._way = way

    async def request_import(
        self,
        connector_id: UUID | str,
        remote_path: str | None = "",
        files: Sequence[str] | None = None,
        priority: int = 0,
    ) -> EnqueuedJob:
        from tickwork.jobs.rows import EnqueuedJob

        given = {
            "connector_id": connector_id,
            "remote_path": remote_path,
            "files": None if files is None else as_json(list(files)),
            "priority": priority,
        }
        # Repeating it after a broken connection returns the existing job.
        return await self._way.one(EnqueuedJob, "request_import", given)

    async def create_connector(
        self,
        tenant_id: UUID | str | None,
        provider: str,
        name: str,
        engine: str | None = None,
        consent: bool = False,
    ) -> Row:
        """Without a token; set_connector_token stores one."""
        given = {name: value for name, value in locals().items() if name != "self"}
        (row,) = await self._way.rows("create_connector", given, repeatable=False)
        return row

    async def set_connector_token(self, connector_id: UUID | str, refresh_token: str) -> None:
        """Store its refresh token, replacing any earlier one."""
        given = {"connector_id": connector_id, "refresh_token": refresh_token}
        await self._way.rows("set_connector_token", given)

    async def change_connector(self, connector_id: UUID | str, changes: Mapping[str, Any]) -> Row:
        """Its name, status (active or disabled), engine or consent."""
        given = {"connector_id": connector_id, "changes": as_json(dict(changes))}
        (row,) = await self._way.rows("change_connector", given)
        return row

    async def delete_connector(self, connector_id: UUID | str) -> None:
        """With its tokens; imported documents stay."""
        await self._way.rows("delete_connector", {"connector_id": connector_id}, repeatable=False)

    async def list_connectors(self, tenant_id: UUID | str | None = None) -> list[Row]:
        return await self._way.rows("list_connectors", {"tenant_id": tenant_id})

    async def note_changes(
        self, provider: str, account_ids: Sequence[str] = (), connector_ids: Sequence[UUID | str] = ()
    ) -> None:
        """Enqueue imports for the connectors that a verified notification is about."""
        given = {"provider": provider, "account_ids": list(account_ids), "connector_ids": ids(connector_ids)}
        await self._way.rows("note_changes", given)
