"""Snapshots: the facts that passports are compiled from. One method per SQL function, with the same name."""

from collections.abc import Sequence
from uuid import UUID

from tickwork.client.aio.way import Row, Way


class Snapshots:
    def __init__(self, way: Way) -> None:
        self._way = way

    async def create_snapshot(self, tenant_id: UUID | str | None, name: str) -> Row:
        (row,) = await self._way.rows("create_snapshot", {"tenant_id": tenant_id, "name": name}, repeatable=False)
        return row

    async def list_snapshots(
        self,
        tenant_id: UUID | str | None = None,
        name: str | None = None,
        status: str | None = None,
        after_snapshot_id: UUID | str | None = None,
        max_rows: int = 50,
    ) -> list[Row]:
        """Without their bytes, the newest first; for the next page, pass the last id as after_snapshot_id."""
        given = {key: value for key, value in locals().items() if key != "self"}
        return await self._way.rows("list_snapshots", given)

    async def add_snapshot_items(
        self,
        snapshot_id: UUID | str,
        fact_ids: Sequence[UUID | str] = (),
        document_version_id: UUID | str | None = None,
    ) -> Row:
        """The facts that are named, and all of a validated version of a document."""
        given = {"snapshot_id": snapshot_id, "fact_ids": list(fact_ids), "document_version_id": document_version_id}
        (row,) = await self._way.rows("add_snapshot_items", given)
        return row

    async def remove_snapshot_items(self, snapshot_id: UUID | str, fact_ids: Sequence[UUID | str]) -> Row:
        given = {"snapshot_id": snapshot_id, "fact_ids": list(fact_ids)}
        (row,) = await self._way.rows("remove_snapshot_items", given)
        return row

    async def request_build(self, snapshot_id: UUID | str) -> Row:
        """The job that checks the facts."""
        (row,) = await self._way.rows("request_build", {"snapshot_id": snapshot_id})
        return row

    async def seal_snapshot(self, snapshot_id: UUID | str) -> Row:
        (row,) = await self._way.rows("seal_snapshot", {"snapshot_id": snapshot_id}, repeatable=False)
        return row
