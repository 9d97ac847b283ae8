"""The salt key of a passport: 32 random bytes among the secrets of its tenant, which no member ever sees."""

import os
from uuid import UUID

from tickwork.errors import Permanent
from tickwork.jobs.connection import Connection
from tickwork.passports.compiler import SALT_KEY_SIZE, commitment_to
from tickwork.tools.secrets import SecretStore

NAME = "salt_key"


def salt_key_of(
    connection: Connection, store: SecretStore, tenant_id: UUID, passport_id: UUID, commitment: bytes | None
) -> bytes:
    """Made by the first compilation; the caller holds the row of the passport, so that there is one first."""
    owner = f"passport:{passport_id}"
    if commitment is None:
        key = os.urandom(SALT_KEY_SIZE)
        store.keep(connection, tenant_id, owner, NAME, key.hex())
        connection.execute(
            "update public.passports set salt_commitment = %s where id = %s", [commitment_to(key), passport_id]
        )
        return key
    stored = store.read(connection, tenant_id, owner).get(NAME)
    key = bytes.fromhex(stored) if stored else b""
    if len(key) != SALT_KEY_SIZE or commitment_to(key) != commitment:
        raise Permanent(
            "The salt key of the passport is lost or another one. Restore the secret from a backup",
            code="SALT_KEY_LOST",
        )
    return key
