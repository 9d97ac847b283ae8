"""Documents, and the vault that has their files."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from uuid import UUID

from psycopg.rows import DictRow

from tickwork.client import documents
from tickwork.client.direct import Direct
from tickwork.errors import InvalidRequest
from tickwork.tools.uploads import upload_document
from tickwork.tools.vault import Vault, open_vault

BLOCK = 1 << 20


class Documents(documents.Documents, Direct):
    def add(self, vault: Vault, tenant_id: UUID, file: Path) -> DictRow:
        """Put a file into the vault and register it. Its name is stored but never becomes part of a path."""

        def add_document(document: Mapping[str, Any], is_kept: bool) -> DictRow:
            # The operator may; and a file that cannot be read is never registered.
            return self.add_document(**document) if is_kept else {}

        try:
            return upload_document(vault, tenant_id, file.name, blocks(file), add_document)
        except OSError as error:
            raise InvalidRequest(f"FILE: {file} cannot be read ({error.strerror})") from None

    def overview(
        self, tenant_id: UUID | None = None, doc_type: str | None = None, ids: list[UUID] | None = None, limit: int = 50
    ) -> list[DictRow]:
        """Documents with their latest extraction, the newest first."""
        if not self._has_database:
            if ids is not None:
                return [self.get_document(id) for id in ids]
            return self.list_documents(tenant_id, doc_type, max_rows=limit)
        return self._database.rows(
            """
            select *
            from public.document_overview
            where (%(tenant_id)s::uuid is null or tenant_id = %(tenant_id)s)
              and (%(doc_type)s::text is null or doc_type = %(doc_type)s)
              and (%(ids)s::uuid[] is null or id = any (%(ids)s))
            order by created_at desc, id
            limit %(limit)s
            """,
            {"tenant_id": tenant_id, "doc_type": doc_type, "ids": ids, "limit": limit},
        )

    def engines(self) -> list[DictRow]:
        """The extraction engines, and whether they need consent."""
        return self._database.rows("select * from public.extraction_engines order by key", {})

    def sign_document(self, vault: tuple[str, str | None], document_id: UUID | str, seconds: int = 300) -> str:
        """A URL with which anybody can read the file, for that long. `vault` is its URL and, for supabase:, its key."""
        (found,) = self._way.rows("sign_document", {"document_id": document_id, "seconds": seconds})
        return open_vault(vault[0], found["tenant_id"], vault[1]).sign(found["vault_path"], seconds)


def blocks(file: Path) -> Iterator[bytes]:
    with file.open("rb") as stream:
        while block := stream.read(BLOCK):
            yield block
