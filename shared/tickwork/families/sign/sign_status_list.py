"""sign_status_list: signs the list of the tenant's revoked and superseded passport versions."""

from functools import partial
from uuid import UUID

from psycopg.types.json import Jsonb
from pydantic import AwareDatetime, BaseModel, ConfigDict

from tickwork.families.sign.keys import active_key, own_keys
from tickwork.jobs.connection import Connection
from tickwork.jobs.handler import Handler, Tools
from tickwork.passports.receipt import time_text
from tickwork.passports.signatures import SigningKey
from tickwork.passports.status_list import Listed, signed_list


class Payload(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Result(BaseModel):
    as_of: AwareDatetime
    revoked: int
    superseded: int


def sign_status_list(payload: Payload, tools: Tools) -> Result:
    return tools.under_lease(partial(sign_and_store, tools.tenant_id, own_keys()))


def sign_and_store(tenant_id: UUID, keys: tuple[SigningKey, ...], connection: Connection) -> Result:
    # Whoever revokes takes it first, so that no job reads before a change and writes after it.
    connection.execute("select pg_advisory_xact_lock(hashtextextended(%s, 0))", [f"status list of {tenant_id}"])
    rows = connection.execute(ENDED).fetchall()
    key = active_key(keys, connection)
    now = connection.execute(NOW).fetchone()
    assert now is not None
    revoked = [row for row in rows if row["status"] == "revoked"]
    listed = Listed(
        id=f"urn:tickwork:status-list:{tenant_id}",
        as_of=time_text(now["as_of"]),
        issuers={str(tenant_id)},
        revoked_indexes=[row["status_index"] for row in revoked if row["status_index"] is not None],
        revoked={row["receipt_hash"] for row in revoked},
        superseded={row["receipt_hash"] for row in rows if row["status"] == "superseded"},
    )
    connection.execute(
        STORE,
        {
            "tenant_id": tenant_id,
            "document": Jsonb(signed_list(listed, key)),
            "as_of": now["as_of"],
            "signing_key_id": key.id,
        },
    )
    return Result(as_of=now["as_of"], revoked=len(listed.revoked), superseded=len(listed.superseded))


ENDED = """
    select status, status_index, encode(receipt_hash, 'hex') as receipt_hash
    from public.passport_versions
    where status in ('revoked', 'superseded')
"""
# Never before the list that it replaces, even if the clock went back.
NOW = """
    select greatest(date_trunc('second', clock_timestamp()), max(as_of)) as as_of
    from public.passport_status_lists
"""
STORE = """
    insert into public.passport_status_lists (tenant_id, document, as_of, signing_key_id)
    values (%(tenant_id)s, %(document)s, %(as_of)s, %(signing_key_id)s)
    on conflict (tenant_id, number) do update
    set
      document = excluded.document,
      as_of = excluded.as_of,
      signing_key_id = excluded.signing_key_id
"""


SIGN_STATUS_LIST: Handler[Payload] = Handler(Payload, sign_status_list, Result)
