"""What parse_facts reads from the vault: the file of a version, and what extract_document has made of it."""

import hashlib
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from tickwork.families.passport.stored_facts import Version
from tickwork.passports.reading import MAX_BYTES, Refused
from tickwork.tools.vault import Vault, derived_key


def fetch(vault: Vault, version: Version, file: Path, check: Callable[[], None]) -> str:
    """Download the file; returns its SHA-256."""
    digest = hashlib.sha256()
    with file.open("wb") as copy:
        for chunk in chunks_of(vault, version.vault_path, check):
            digest.update(chunk)
            copy.write(chunk)
    if version.sha256 not in (None, digest.hexdigest()):
        raise Refused("FILE_CHANGED", "the file in the vault is not the one that was registered")
    return digest.hexdigest()


def extracted_elements(version: Version, vault: Vault, check: Callable[[], None]) -> Any:
    if not version.is_extracted:
        raise Refused("NOT_EXTRACTED", "the text of the file has not been extracted; enqueue ingest_document for it")
    return json.loads(b"".join(chunks_of(vault, derived_key(version.tenant_id, version.document_id), check)))


def chunks_of(vault: Vault, path: str, check: Callable[[], None]) -> Iterator[bytes]:
    size = 0
    with vault.read(path) as chunks:
        for chunk in chunks:
            check()
            size += len(chunk)
            if size > MAX_BYTES:
                raise Refused("FILE_TOO_LARGE", "the file is larger than 50 MB")
            yield chunk
