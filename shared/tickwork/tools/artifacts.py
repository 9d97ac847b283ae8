"""Artifacts: payloads and results that are too large for a row, and files that jobs make. They are in the vault."""

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Annotated, Any
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from tickwork.errors import InvalidPayload, Permanent
from tickwork.jobs.connection import Connection
from tickwork.jobs.handler import Tools
from tickwork.settings import load_settings
from tickwork.tools.vault import Vault, vault_of

# The limits of the columns `payload` and `result` of a job, in bytes.
MAX_PAYLOAD, MAX_RESULT = 65_536, 262_144
# What is read as a payload is in memory at once.
MAX_JSON_BYTES = 64 << 20


class ArtifactRef(BaseModel):
    """Says which artifact is meant, and what must be in it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: UUID
    sha256: Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
    size: Annotated[int, Field(ge=0, le=10**12, strict=True)]


class Stored(BaseModel):
    """What a payload or a result is replaced by."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    artifact_ref: ArtifactRef


class Measured:
    """The same pieces; size and hash are known once all of them have passed."""

    def __init__(self, chunks: Iterable[bytes]) -> None:
        self.size = 0
        self._chunks = chunks
        self._digest = hashlib.sha256()

    def __iter__(self) -> Iterator[bytes]:
        for chunk in self._chunks:
            self.size += len(chunk)
            self._digest.update(chunk)
            yield chunk

    @property
    def sha256(self) -> str:
        return self._digest.hexdigest()


def store(tools: Tools, name: str, mime_type: str, chunks: Iterable[bytes]) -> ArtifactRef:
    """Write a file that belongs to the job, and is removed with it, also if the attempt fails."""
    return _stored(tools, name, mime_type, lambda write: write(chunks))


def store_rows(tools: Tools, name: str, mime_type: str, chunks: Callable[[Connection], Iterable[bytes]]) -> ArtifactRef:
    """The same for what is read from the database while it is written, in one transaction that holds the job."""
    return _stored(
        tools, name, mime_type, lambda write: tools.under_lease(lambda connection: write(chunks(connection)))
    )


def _stored(
    tools: Tools,
    name: str,
    mime_type: str,
    write_with: Callable[[Callable[[Iterable[bytes]], Measured]], Measured],
) -> ArtifactRef:
    vault = vault_of(load_settings(), tools.tenant_id)
    # The row is there before the file, so that no file is left without one.
    row = tools.under_lease(lambda connection: _add(connection, tools, name, mime_type))

    def write(chunks: Iterable[bytes]) -> Measured:
        measured = Measured(chunks)
        vault.write(row["vault_path"], measured, mime_type)
        return measured

    written = write_with(write)
    ref = ArtifactRef(id=row["id"], sha256=written.sha256, size=written.size)
    tools.under_lease(lambda connection: _complete(connection, ref))
    return ref


def is_ref(value: object) -> bool:
    return isinstance(value, Mapping) and "artifact_ref" in value


def resolved(payload: Mapping[str, Any], tools: Tools) -> Mapping[str, Any]:
    """The payload that was stored as an artifact of this very job. Raises InvalidPayload for any other reference."""
    ref = ref_in(payload)
    row = tools.under_lease(lambda connection: _find(connection, tools.job_id, ref))
    if row is None:
        raise InvalidPayload("artifact_ref: the job has no such artifact")
    content = read_json(vault_of(load_settings(), tools.tenant_id), row["vault_path"], ref)
    if not isinstance(content, dict):
        raise InvalidPayload("artifact_ref: the artifact must contain an object")
    return content


def ref_in(value: Mapping[str, Any]) -> ArtifactRef:
    try:
        return Stored.model_validate(value).artifact_ref
    except ValidationError:
        raise InvalidPayload("artifact_ref: must be the id, sha256 and size of an artifact, and nothing else") from None


def read_json(vault: Vault, vault_path: str, ref: ArtifactRef) -> Any:
    if ref.size > MAX_JSON_BYTES:
        raise Permanent(f"The artifact is larger than {MAX_JSON_BYTES >> 20} MB", code="FILE_TOO_LARGE")
    with vault.read(vault_path) as chunks:
        content = b"".join(verified(chunks, ref))
    try:
        return json.loads(content)
    except (ValueError, RecursionError):
        raise InvalidPayload("artifact_ref: the artifact is not JSON") from None


def verified(chunks: Iterable[bytes], ref: ArtifactRef) -> Iterator[bytes]:
    """The same pieces; raises if they are not what the reference says, and never passes on more bytes than that."""
    measured = Measured(chunks)
    for chunk in measured:
        if measured.size > ref.size:
            break
        yield chunk
    if (measured.size, measured.sha256) != (ref.size, ref.sha256):
        raise Permanent("The file in the vault is not the one that was stored", code="FILE_CHANGED")


def _add(connection: Connection, tools: Tools, name: str, mime_type: str) -> dict[str, Any]:
    query = """
        insert into public.artifacts (tenant_id, job_id, name, mime_type, remove_at)
        values (%s, %s, %s, %s, null)
        returning id, vault_path
    """
    (row,) = connection.execute(query, [tools.tenant_id, tools.job_id, name, mime_type]).fetchall()
    return row


def _complete(connection: Connection, ref: ArtifactRef) -> None:
    query = "update public.artifacts set size = %s, sha256 = %s where id = %s"
    connection.execute(query, [ref.size, ref.sha256, ref.id])


def _find(connection: Connection, job_id: UUID, ref: ArtifactRef) -> dict[str, Any] | None:
    query = "select vault_path from public.artifacts where (id, job_id, sha256, size) = (%s, %s, %s, %s)"
    return connection.execute(query, [ref.id, job_id, ref.sha256, ref.size]).fetchone()
