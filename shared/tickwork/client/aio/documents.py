"""Documents: have them extracted, find them again. One method per SQL function, with the same name."""

from uuid import UUID

from tickwork.client.aio.way import Row, Way
from tickwork.client.target import over_http


class Documents:
    def __init__(self, way: Way) -> None:
        self._way = way

    async def list_documents(
        self,
        tenant_id: UUID | str | None = None,
        doc_type: str | None = None,
        after_document_id: UUID | str | None = None,
        max_rows: int = 50,
    ) -> list[Row]:
        """The newest first, with their latest extraction; for the next page, pass the last id as after_document_id."""
        given = {name: value for name, value in locals().items() if name != "self"}
        return await self._way.rows("list_documents", given)

    async def get_document(self, document_id: UUID | str) -> Row:
        (row,) = await self._way.rows("get_document", {"document_id": document_id})
        return row

    async def upload_document(self, tenant_id: UUID | str | None, name: str, content: bytes) -> Row:
        """Put a file of up to 32 MB into the vault and register it: over HTTP, where the API has the vault."""
        row: Row = await over_http(self._way).upload({"tenant_id": tenant_id, "name": name}, content)
        return row

    async def add_document(
        self,
        tenant_id: UUID | str | None,
        name: str,
        vault_path: str,
        mime_type: str,
        size: int,
        sha256: str | None = None,
    ) -> Row:
        """Register a file that is in the vault already."""
        given = {name: value for name, value in locals().items() if name != "self"}
        (row,) = await self._way.rows("add_document", given, repeatable=False)
        return row

    async def estimate_extraction(self, document_id: UUID | str, engine: str = "local") -> Row:
        (row,) = await self._way.rows("estimate_extraction", {"document_id": document_id, "engine": engine})
        return row

    async def request_extraction(
        self, document_id: UUID | str, engine: str = "local", consent: bool = False, priority: int = 0
    ) -> Row:
        given = {"document_id": document_id, "engine": engine, "consent": consent, "priority": priority}
        (row,) = await self._way.rows("request_extraction", given)
        return row

    async def search_chunks(
        self,
        tenant_id: UUID | str | None,
        query: str,
        max_hits: int = 20,
        skip: int = 0,
        document_id: UUID | str | None = None,
        doc_type: str | None = None,
    ) -> list[Row]:
        given = {name: value for name, value in locals().items() if name != "self"}
        return await self._way.rows("search_chunks", given)

    async def correct_document_type(self, document_id: UUID | str, doc_type: str) -> Row:
        (row,) = await self._way.rows("correct_document_type", {"document_id": document_id, "doc_type": doc_type})
        return row
