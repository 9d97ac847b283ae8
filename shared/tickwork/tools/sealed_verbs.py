"""
The verbs that store a secret, called so that it is sealed before the database sees it.

The connection is in a transaction of the caller, whose rights the verbs check. Without a key the database stores the
secret in Supabase Vault or refuses it.
"""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from psycopg.rows import DictRow

from tickwork.database.call import call_within
from tickwork.jobs.connection import Connection
from tickwork.tools.secrets import SecretStore
from tickwork.tools.signing import new_secret

Given = Mapping[str, Any]


def create_webhook_endpoint(connection: Connection, store: SecretStore, given: Given) -> DictRow:
    """The id of the new endpoint and its secret, which cannot be read again."""
    if not store.can_seal:
        return only(call_within(connection, "create_webhook_endpoint", **given))
    row = only(call_within(connection, "create_webhook_endpoint", **given, with_secret=False))
    first = {"webhook_endpoint_id": row["webhook_endpoint_id"], "overlap_hours": 0}
    return {**rotate_webhook_secret(connection, store, first), "previous_until": None}


def rotate_webhook_secret(connection: Connection, store: SecretStore, given: Given) -> DictRow:
    """The new secret, which cannot be read again."""
    owner = owner_in(connection, "webhook_endpoints", given["webhook_endpoint_id"]) if store.can_seal else None
    if owner is None:
        return only(call_within(connection, "rotate_webhook_secret", **given))
    secret = new_secret()
    sealed = store.sealed(owner["tenant_id"], f"endpoint:{owner['id']}", secret)
    return {**only(call_within(connection, "rotate_webhook_secret", **given, sealed_secret=sealed)), "secret": secret}


def set_connector_token(connection: Connection, store: SecretStore, given: Given) -> None:
    owner = owner_in(connection, "connectors", given["connector_id"]) if store.can_seal else None
    if owner:
        sealed = store.sealed(owner["tenant_id"], f"connector:{owner['id']}", given["refresh_token"])
        given = {**given, "refresh_token": sealed, "is_sealed": True}
    call_within(connection, "set_connector_token", **given)


def owner_in(connection: Connection, table: str, id: UUID | str) -> DictRow | None:
    """What a sealed secret is bound to; none if the caller sees no such row, which the verb then tells him."""
    return connection.execute(f"select id, tenant_id from public.{table} where id = %s", [id]).fetchone()


def only(rows: list[DictRow]) -> DictRow:
    (row,) = rows
    return row
