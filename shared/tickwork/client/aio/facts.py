"""Facts: what documents say about batteries. One method per SQL function, with the same name."""

from collections.abc import Sequence
from uuid import UUID

from tickwork.client.aio.way import Row, Way


class Facts:
    def __init__(self, way: Way) -> None:
        self._way = way

    async def list_facts(
        self,
        tenant_id: UUID | str | None = None,
        document_version_id: UUID | str | None = None,
        snapshot_id: UUID | str | None = None,
        fact_type: str | None = None,
        after_fact_id: UUID | str | None = None,
        max_rows: int = 50,
    ) -> list[Row]:
        """The oldest first; for the next page, pass the last id as after_fact_id."""
        given = {name: value for name, value in locals().items() if name != "self"}
        return await self._way.rows("list_facts", given)

    async def confirm_facts(self, fact_ids: Sequence[UUID | str]) -> list[Row]:
        return await self._way.rows("confirm_facts", {"fact_ids": list(fact_ids)})

    async def map_fact_label(
        self, tenant_id: UUID | str | None, kind: str, label: str, field: str, unit: str | None = None
    ) -> Row:
        """What a column with this head means in tables of documents of this kind."""
        given = {name: value for name, value in locals().items() if name != "self"}
        (row,) = await self._way.rows("map_fact_label", given)
        return row

    async def list_fact_mappings(self, tenant_id: UUID | str | None = None, max_rows: int = 50) -> list[Row]:
        return await self._way.rows("list_fact_mappings", {"tenant_id": tenant_id, "max_rows": max_rows})
