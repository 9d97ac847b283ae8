"""Documents: put them into the vault, have them extracted, find them again."""

import hashlib
from collections.abc import Iterator
from pathlib import Path
from uuid import UUID

from psycopg.rows import DictRow

from tickwork.database.call import call
from tickwork.database.connection import Database
from tickwork.errors import InvalidRequest
from tickwork.tools.file_names import as_name, mime_type_of
from tickwork.tools.vault import Vault, document_key, open_vault

BLOCK = 1 << 20


class Documents:
    """One method per SQL function, with the same name, and two that take files and rows."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, vault: Vault, tenant_id: UUID, file: Path) -> DictRow:
        """Put a file into the vault and register it. Its name is stored but never becomes part of a path."""
        size, sha256 = measure(file)
        key = document_key(tenant_id, file.name)
        vault.write(key, blocks(file), mime_type_of(file.name))
        try:
            return self._register(tenant_id, file.name, key, size, sha256)
        except Exception:
            vault.delete(key)
            raise

    def _register(self, tenant_id: UUID, name: str, key: str, size: int, sha256: str) -> DictRow:
        (row,) = self._database.rows(
            """
            insert into public.documents (tenant_id, name, vault_path, mime_type, size, sha256)
            values (%(tenant_id)s, %(name)s, %(vault_path)s, %(mime_type)s, %(size)s, %(sha256)s)
            returning *
            """,
            {
                "tenant_id": tenant_id,
                "name": as_name(name),
                "vault_path": key,
                "mime_type": mime_type_of(name),
                "size": size,
                "sha256": sha256,
            },
            repeatable=False,
        )
        return row

    def overview(
        self, tenant_id: UUID | None = None, doc_type: str | None = None, ids: list[UUID] | None = None, limit: int = 50
    ) -> list[DictRow]:
        """Documents with their latest extraction, the newest first."""
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

    def estimate_extraction(self, document_id: UUID | str, engine: str = "local") -> DictRow:
        return call(self._database, "estimate_extraction", document_id=document_id, engine=engine)[0]

    def request_extraction(
        self, document_id: UUID | str, engine: str = "local", consent: bool = False, priority: int = 0
    ) -> DictRow:
        return call(
            self._database,
            "request_extraction",
            document_id=document_id,
            engine=engine,
            consent=consent,
            priority=priority,
        )[0]

    def search_chunks(
        self,
        tenant_id: UUID | str,
        query: str,
        max_hits: int = 20,
        skip: int = 0,
        document_id: UUID | str | None = None,
        doc_type: str | None = None,
    ) -> list[DictRow]:
        return call(
            self._database,
            "search_chunks",
            tenant_id=tenant_id,
            query=query,
            max_hits=max_hits,
            skip=skip,
            document_id=document_id,
            doc_type=doc_type,
        )

    def sign_document(self, vault: tuple[str, str | None], document_id: UUID | str, seconds: int = 300) -> str:
        """A URL with which anybody can read the file, for that long. `vault` is its URL and, for supabase:, its key."""
        (found,) = call(self._database, "sign_document", document_id=document_id, seconds=seconds)
        return open_vault(vault[0], found["tenant_id"], vault[1]).sign(found["vault_path"], seconds)

    def correct_document_type(self, document_id: UUID | str, doc_type: str) -> DictRow:
        return call(self._database, "correct_document_type", document_id=document_id, doc_type=doc_type)[0]


def measure(file: Path) -> tuple[int, str]:
    digest, size = hashlib.sha256(), 0
    try:
        for block in blocks(file):
            digest.update(block)
            size += len(block)
    except OSError as error:
        raise InvalidRequest(f"FILE: {file} cannot be read ({error.strerror})") from None
    return size, digest.hexdigest()


def blocks(file: Path) -> Iterator[bytes]:
    with file.open("rb") as stream:
        while block := stream.read(BLOCK):
            yield block
