"""Artifacts, and the vault that has their files."""

import hashlib
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any
from uuid import UUID

from tickwork.client import artifacts
from tickwork.client.direct import Direct
from tickwork.client.way import Row
from tickwork.tools.artifacts import MAX_PAYLOAD, ArtifactRef, Stored, is_ref, read_json, ref_in, verified
from tickwork.tools.vault import open_vault

# The URL of the vault and, for supabase:, its key.
VaultAddress = tuple[str, str | None]


class Artifacts(artifacts.Artifacts, Direct):
    def stored(
        self, vault: VaultAddress, tenant_id: UUID | str | None, payload: Mapping[str, Any]
    ) -> Mapping[str, Any]:
        """The payload to enqueue: itself, or a reference to it in the vault if it is over 64 kB."""
        content = json.dumps(payload, ensure_ascii=False).encode()
        if len(content) <= MAX_PAYLOAD:
            return payload
        row = self.add_artifact(tenant_id, len(content), hashlib.sha256(content).hexdigest())
        open_vault(vault[0], UUID(str(row["tenant_id"])), vault[1]).write(
            row["vault_path"], [content], row["mime_type"]
        )
        ref = ArtifactRef(id=row["id"], sha256=row["sha256"], size=row["size"])
        return Stored(artifact_ref=ref).model_dump(mode="json")

    def resolved(self, vault: VaultAddress, value: Any) -> Any:
        """A payload or a result as it was before it was stored; any other value as it is."""
        if not is_ref(value):
            return value
        ref = ref_in(value)
        found = self._found(ref.id)
        return read_json(open_vault(vault[0], UUID(str(found["tenant_id"])), vault[1]), found["vault_path"], ref)

    @contextmanager
    def read_artifact(self, vault: VaultAddress, artifact_id: UUID | str) -> Iterator[Iterator[bytes]]:
        """The file, piece by piece, checked against its hash: it is complete if no error is raised at its end."""
        found = self._found(artifact_id)
        ref = ArtifactRef(id=UUID(str(artifact_id)), sha256=found["sha256"], size=found["size"])
        with open_vault(vault[0], UUID(str(found["tenant_id"])), vault[1]).read(found["vault_path"]) as chunks:
            yield verified(chunks, ref)

    def sign_artifact(self, vault: VaultAddress, artifact_id: UUID | str, seconds: int = 300) -> str:
        """A URL with which anybody can read the file, for that long."""
        found = self._found(artifact_id, seconds)
        return open_vault(vault[0], UUID(str(found["tenant_id"])), vault[1]).sign(found["vault_path"], seconds)

    def _found(self, artifact_id: UUID | str, seconds: int = 300) -> Row:
        (found,) = self._way.rows("sign_artifact", {"artifact_id": artifact_id, "seconds": seconds})
        return found
