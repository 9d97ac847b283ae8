"""Artifacts: large payloads and results, and files that jobs make. One method per SQL function, with the same name."""

from uuid import UUID

from tickwork.client.aio.way import Row, Way


class Artifacts:
    def __init__(self, way: Way) -> None:
        self._way = way

    async def add_artifact(
        self,
        tenant_id: UUID | str | None,
        size: int,
        sha256: str,
        name: str = "payload.json",
        mime_type: str = "application/json",
    ) -> Row:
        """Where to write the file in the vault, and the id to pass on as artifact_ref."""
        given = {name: value for name, value in locals().items() if name != "self"}
        (row,) = await self._way.rows("add_artifact", given, repeatable=False)
        return row

    async def list_artifacts(
        self, tenant_id: UUID | str | None = None, job_id: UUID | str | None = None, max_rows: int = 50
    ) -> list[Row]:
        given = {"tenant_id": tenant_id, "job_id": job_id, "max_rows": max_rows}
        return await self._way.rows("list_artifacts", given)
