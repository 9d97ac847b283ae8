# Written by `make client` from aio/documents.py: change that one.
"""Documents: have them extracted, find them again. One method per SQL function, with the same name."""

from uuid import UUID

from tickwork.client.target import over_http
from tickwork.client.way import Row, Way


class Documents:
    def __init__(self, way: Way) -> None:
        self._way = way

    def list_documents(
        self,
        tenant_id: UUID | str | None = None,
        doc_type: str | None = None,
        after_document_id: UUID | str | None = None,
        max_rows: int = 50,
    ) -> list[Row]:
        """The newest first, with their latest extraction; for the next page, pass the last id as after_document_id."""
        given = {name: value for name, value in locals().items() if name != "self"}
        return self._way.rows("list_documents", given)

    def get_document(self, document_id: UUID | str) -> Row:
        (row,) = self._way.rows("get_document", {"document_id": document_id})
        return row

    def upload_document(self, tenant_id: UUID | str | None, name: str, content: bytes) -> Row:
        """Put a file of up to 32 MB into the vault and register it: over HTTP, where the API has the vault."""
        row: Row = over_http(self._way).upload({"tenant_id": tenant_id, "name": name}, content)
        return row

    def add_document(
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
        (row,) = self._way.rows("add_document", given, repeatable=False)
        return row

    def estimate_extraction(self, document_id: UUID | str, engine: str = "local") -> Row:
        (row,) = self._way.rows("estimate_extraction", {"document_id": document_id, "engine": engine})
        return row

    def request_extraction(
        self, document_id: UUID | str, engine: str = "local", consent: bool = False, priority: int = 0
    ) -> Row:
        given = {"document_id": document_id, "engine": engine, "consent": consent, "priority": priority}
        (row,) = self._way.rows("request_extraction", given)
        return row

    def search_chunks(
        self,
        tenant_id: UUID | str | None,
        query: str,
        max_hits: int = 20,
        skip: int = 0,
        document_id: UUID | str | None = None,
        doc_type: str | None = None,
    ) -> list[Row]:
        given = {name: value for name, value in locals().items() if name != "self"}
        return self._way.rows("search_chunks", given)

    def correct_document_type(self, document_id: UUID | str, doc_type: str) -> Row:
        (row,) = self._way.rows("correct_document_type", {"document_id": document_id, "doc_type": doc_type})
        return row
