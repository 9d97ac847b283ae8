"""Files that somebody uploads: first the rights, then the vault, then the row in `documents`."""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, TypeVar
from uuid import UUID

from tickwork.tools.file_names import as_name, mime_type_of
from tickwork.tools.vault import Vault, document_key

T = TypeVar("T")
# Calls add_document with these arguments, and keeps what it has done or takes it back.
AddDocument = Callable[[Mapping[str, Any], bool], T]

NOTHING = {"size": 0, "sha256": hashlib.sha256().hexdigest()}


def upload_document(
    vault: Vault, tenant_id: UUID, name: str, chunks: Iterable[bytes], add_document: AddDocument[T]
) -> T:
    """Put a file into the vault and register it. Its name is stored but never becomes part of a path.

    Nothing is read of the file, and nothing written to the vault, for somebody who may not add documents.
    """
    key, mime_type = document_key(tenant_id, name), mime_type_of(name)
    document = {"tenant_id": tenant_id, "name": as_name(name), "vault_path": key, "mime_type": mime_type}
    add_document({**document, **NOTHING}, False)
    measured = Measured(chunks)
    vault.write(key, measured, mime_type)
    try:
        return add_document({**document, "size": measured.size, "sha256": measured.sha256}, True)
    except Exception:
        vault.delete(key)
        raise


class Measured:
    """The same chunks, and afterwards how much they were."""

    def __init__(self, chunks: Iterable[bytes]) -> None:
        self._chunks = chunks
        self._digest = hashlib.sha256()
        self.size = 0

    def __iter__(self) -> Iterator[bytes]:
        for chunk in self._chunks:
            self._digest.update(chunk)
            self.size += len(chunk)
            yield chunk

    @property
    def sha256(self) -> str:
        return self._digest.hexdigest()
