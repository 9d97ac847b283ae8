"""The vault: where the files of the tenants are stored. Each handler sees the part of one tenant, and no other."""

import re
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager
from typing import Protocol, assert_never
from uuid import UUID, uuid4

from tickwork.errors import Permanent, Retryable
from tickwork.settings import Settings
from tickwork.tools.vault.address import parse

# The rule of documents.vault_path. It leaves no room for `..`, for what a path, a URL or a shell reads in its own way,
# nor for names that begin with a dot: those are files that are still being written.
KEY = re.compile("tenant/([0-9a-f-]{36})(/[A-Za-z0-9_-][A-Za-z0-9_.-]{0,199})+")
MAX_KEY_LENGTH = 900
MIME_TYPE = re.compile("[a-z0-9.+-]+/[a-z0-9.+-]+")
# The maximum for S3.
MAX_SIGNATURE_SECONDS = 7 * 24 * 60 * 60


class Store(Protocol):
    """One kind of vault. It only gets keys that have been checked."""

    def read(self, key: str) -> AbstractContextManager[Iterator[bytes]]: ...
    def write(self, key: str, chunks: Iterable[bytes], mime_type: str) -> None: ...
    def sign(self, key: str, seconds: int) -> str: ...
    def delete(self, key: str) -> None: ...


class Vault:
    """One tenant's part of the vault. Errors are raised as errors of a job, with messages for the tenant."""

    def __init__(self, store: Store, tenant_id: UUID) -> None:
        self._store = store
        self._tenant_id = str(tenant_id)

    def read(self, key: str) -> AbstractContextManager[Iterator[bytes]]:
        """The file, piece by piece. Raises if it breaks off: a file that ends without an error is complete."""
        return self._store.read(self._own(key))

    def write(self, key: str, chunks: Iterable[bytes], mime_type: str) -> None:
        """Store a file, replacing an earlier one. Nobody sees any of it until it is complete."""
        if not MIME_TYPE.fullmatch(mime_type):
            raise Permanent("The type of the file is not a MIME type", code="INVALID_MIME_TYPE")
        self._store.write(self._own(key), chunks, mime_type)

    def sign(self, key: str, seconds: int) -> str:
        """A URL with which anybody can read the file, for that long."""
        if not 1 <= seconds <= MAX_SIGNATURE_SECONDS:
            raise ValueError(f"a URL is signed for 1 to {MAX_SIGNATURE_SECONDS} seconds, not for {seconds}")
        return self._store.sign(self._own(key), seconds)

    def delete(self, key: str) -> None:
        """Deletes the file, if there is one."""
        self._store.delete(self._own(key))

    def _own(self, key: str) -> str:
        found = KEY.fullmatch(key)
        if not found or found[1] != self._tenant_id or len(key) > MAX_KEY_LENGTH:
            raise Permanent("The file is outside the tenant's part of the vault", code="FORBIDDEN_PATH")
        return key


def open_vault(url: str, tenant_id: UUID, key: str | None = None) -> Vault:
    """The tenant's part of the vault at this URL; `key` is for a supabase: vault. Raises BadSetting."""
    address = parse(url, key)
    store: Store
    match address.kind:
        case "file":
            from tickwork.tools.vault.files import open_files

            store = open_files(address)
        case "s3":
            from tickwork.tools.vault.s3 import open_s3

            store = open_s3(address)
        case "supabase":
            from tickwork.tools.vault.supabase import open_supabase

            store = open_supabase(address)
        case _:
            assert_never(address.kind)
    return Vault(store, tenant_id)


def vault_of(settings: Settings, tenant_id: UUID) -> Vault:
    if settings.vault_url is None:
        raise Retryable("The operator has not set TICKWORK_VAULT_URL", code="VAULT_MISSING")
    return open_vault(settings.vault_url, tenant_id, settings.vault_key)


def document_key(tenant_id: UUID, name: str, id: UUID | None = None) -> str:
    """A new key for an uploaded file, or always the same for an id. Only a plain extension of its name is kept."""
    extension = re.search(r"[^/\\]\.([A-Za-z0-9]{1,10})\Z", name)
    suffix = f".{extension[1].lower()}" if extension else ""
    return f"tenant/{tenant_id}/documents/{id or uuid4()}{suffix}"


def derived_key(tenant_id: UUID, document_id: UUID) -> str:
    """Where the extracted elements of a document are stored."""
    return f"tenant/{tenant_id}/derived/{document_id}/unstructured.json"
