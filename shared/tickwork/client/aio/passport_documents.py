"""Documents that facts for passports come from. One method per SQL function, with the same name."""

from uuid import UUID

from tickwork.client.aio.way import Row, Way


class PassportDocuments:
    def __init__(self, way: Way) -> None:
        self._way = way

    async def create_passport_document(self, tenant_id: UUID | str | None, name: str, kind: str) -> Row:
        """`kind` is bom, pcf or dd."""
        given = {"tenant_id": tenant_id, "name": name, "kind": kind}
        (row,) = await self._way.rows("create_passport_document", given, repeatable=False)
        return row

    async def list_passport_documents(
        self,
        tenant_id: UUID | str | None = None,
        kind: str | None = None,
        name: str | None = None,
        after_document_id: UUID | str | None = None,
        max_rows: int = 50,
    ) -> list[Row]:
        """The newest first; for the next page, pass the last id as after_document_id."""
        given = {key: value for key, value in locals().items() if key != "self"}
        return await self._way.rows("list_passport_documents", given)

    async def add_document_version(
        self, passport_document_id: UUID | str, document_id: UUID | str, schema_version: str = "1"
    ) -> Row:
        """Its facts are taken by a job, which makes it validated or rejected."""
        given = {name: value for name, value in locals().items() if name != "self"}
        (row,) = await self._way.rows("add_document_version", given, repeatable=False)
        return row

    async def list_document_versions(
        self,
        tenant_id: UUID | str | None = None,
        passport_document_id: UUID | str | None = None,
        after_document_version_id: UUID | str | None = None,
        max_rows: int = 50,
    ) -> list[Row]:
        """The newest first; for the next page, pass the last id as after_document_version_id."""
        given = {name: value for name, value in locals().items() if name != "self"}
        return await self._way.rows("list_document_versions", given)
