"""Secrets of tenants at rest: sealed with a key that the database never sees, or stored in Supabase Vault."""

import hashlib
import os
from base64 import urlsafe_b64decode, urlsafe_b64encode
from datetime import datetime
from typing import Any
from uuid import UUID

from tickwork.errors import BadSetting, Retryable
from tickwork.jobs.connection import Connection
from tickwork.settings import keys_of

VERSION = "v1"
NONCE = 12


class SecretStore:
    """Seals secrets if there is a key; otherwise leaves them to Supabase Vault, if there is one."""

    def __init__(self, secret_key: str | None) -> None:
        try:
            self._keys = {name_of(key): key for key in keys_of(secret_key)} if secret_key else {}
        except ValueError as error:
            raise BadSetting(f"TICKWORK_SECRET_KEY: {error}") from None

    @property
    def can_seal(self) -> bool:
        return bool(self._keys)

    def row(
        self, tenant_id: UUID, owner: str, name: str, value: str, expires_at: datetime | None = None
    ) -> dict[str, object]:
        """As the database stores it: sealed if there is a key."""
        is_sealed = self.can_seal
        return {
            "tenant_id": tenant_id,
            "owner": owner,
            "name": name,
            "value": self.sealed(tenant_id, owner, value) if is_sealed else value,
            "is_sealed": is_sealed,
            "expires_at": expires_at,
        }

    def keep(
        self,
        connection: Connection,
        tenant_id: UUID,
        owner: str,
        name: str,
        value: str,
        expires_at: datetime | None = None,
    ) -> None:
        """Store a secret, in a transaction that holds a job of the tenant."""
        connection.execute(
            "select tickwork.keep_secret(%(owner)s, %(name)s, %(value)s, %(is_sealed)s, %(expires_at)s)",
            self.row(tenant_id, owner, name, value, expires_at),
        )

    def read(self, connection: Connection, tenant_id: UUID, owner: str) -> dict[str, str]:
        """Names and values, in a transaction that holds a job of the tenant, without expired ones."""
        rows = connection.execute("select * from tickwork.read_secrets(%s)", [owner]).fetchall()
        return {
            row["name"]: self._unsealed(tenant_id, owner, row["value"]) if row["is_sealed"] else row["value"]
            for row in rows
        }

    def sealed(self, tenant_id: UUID, owner: str, value: str) -> str:
        """Only with a key."""
        key_name, key = next(iter(self._keys.items()))
        nonce = os.urandom(NONCE)
        secret = nonce + cipher(key).encrypt(nonce, value.encode(), bound_to(tenant_id, owner))
        return ".".join((VERSION, key_name, urlsafe_b64encode(secret).decode()))

    def _unsealed(self, tenant_id: UUID, owner: str, sealed: str) -> str:
        from cryptography.exceptions import InvalidTag

        try:
            _, key_name, text = sealed.split(".")
            secret = urlsafe_b64decode(text)
            opened: bytes = cipher(self._keys[key_name]).decrypt(
                secret[:NONCE], secret[NONCE:], bound_to(tenant_id, owner)
            )
            return opened.decode()
        except (KeyError, ValueError, InvalidTag):
            # Neither the secret nor the key is named: the tenant reads this.
            raise Retryable(
                "A secret cannot be unsealed. The operator has to set the key that it was sealed with",
                code="SECRET_LOCKED",
            ) from None


def cipher(key: bytes) -> Any:
    try:
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM
    except ImportError:
        raise BadSetting("TICKWORK_SECRET_KEY needs cryptography: install tickwork[safe]") from None
    return AESGCM(key)


def bound_to(tenant_id: UUID, owner: str) -> bytes:
    """What a sealed secret belongs to: moved elsewhere, it cannot be unsealed."""
    return f"{tenant_id}/{owner}".encode()


def name_of(key: bytes) -> str:
    """Distinguishes keys without revealing them."""
    return hashlib.sha256(b"tickwork key name" + key).hexdigest()[:8]
