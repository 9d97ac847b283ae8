"""sign_passport: signs the receipt of a passport version and its public view, and verifies both before it writes."""

from functools import partial
from hashlib import sha256
from typing import Any
from uuid import UUID

from psycopg.types.json import Jsonb
from pydantic import BaseModel, ConfigDict

from tickwork.errors import Permanent, Retryable
from tickwork.families.sign.keys import active_key, own_keys
from tickwork.jobs.connection import Connection
from tickwork.jobs.handler import Handler, Tools
from tickwork.jobs.outcomes import Done
from tickwork.jobs.rows import FollowUp
from tickwork.passports.canonical import read_canonical
from tickwork.passports.data_integrity import add_proof, multikey, proof_verifies
from tickwork.passports.exports.json_ld import credential
from tickwork.passports.receipt import Receipt, ReceiptRefused
from tickwork.passports.signatures import SigningKey, verifies
from tickwork.passports.status_list import ENTRIES, proof_options
from tickwork.tools.events import emit_held_event

Row = dict[str, Any]


class Payload(BaseModel):
    model_config = ConfigDict(extra="forbid")

    passport_version_id: UUID


class Result(BaseModel):
    """The signature in hex."""

    passport_version_id: UUID
    signing_key_id: str
    signature: str


def sign_passport(payload: Payload, tools: Tools) -> Done:
    keys = own_keys()
    version = tools.under_lease(partial(read_version, payload.passport_version_id))
    if version["signature"] is not None:
        return signed_before(version)
    receipt = checked_receipt(version)
    key = tools.under_lease(partial(active_key, keys))
    signature = key.sign(version["receipt_hash"])
    proof = credential_proof(version, receipt, key)
    if not verifies(key.public, version["receipt_hash"], signature):
        raise Permanent("The key makes signatures that do not verify", code="INVALID_SIGNING_KEY")
    signed = {"signature": signature, "signing_key_id": key.id, "signing_key_public": key.public}
    return Done(
        result_of({**version, **signed}),
        writes=[partial(store, {**version, **signed, "credential_proof": Jsonb(proof)}), partial(tell, version, key)],
        follow_ups=[generate_qr(version["id"])],
    )


def read_version(passport_version_id: UUID, connection: Connection) -> Row:
    found = connection.execute("select * from public.passport_versions where id = %s", [passport_version_id]).fetchone()
    if found is None:
        raise Permanent("There is no such passport version", code="PASSPORT_NOT_FOUND")
    if found["status"] not in ("compiling", "signed"):
        raise Permanent(
            f"The passport version is {found['status']}, and only a compiled one is signed",
            code="INVALID_PASSPORT_STATUS",
        )
    return found


def signed_before(version: Row) -> Done:
    """Not signed again: another key may have replaced the one that did."""
    return Done(result_of(version), follow_ups=[generate_qr(version["id"])] if version["qr_payload"] is None else [])


def checked_receipt(version: Row) -> Receipt:
    """The receipt, if it is that of this very version and has not been changed since."""
    try:
        receipt = Receipt.read(read_canonical(version["receipt_canonical"]))
    except (ReceiptRefused, ValueError) as error:
        raise Permanent(f"The receipt cannot be read: {error}", code="RECEIPT_TAMPERED") from None
    stored = (str(version["id"]), str(version["passport_id"]), version["payload_hash"], version["proof_root_hash"])
    stated = (
        receipt.passport_version_id,
        receipt.passport_id,
        bytes.fromhex(receipt.payload_hash),
        bytes.fromhex(receipt.proof_root_hash),
    )
    hashes = tuple(sha256(version[f"{part}_canonical"]).digest() for part in ("payload", "receipt"))
    if stored != stated or hashes != (version["payload_hash"], version["receipt_hash"]):
        raise Permanent("The receipt is not that of the passport version", code="RECEIPT_TAMPERED")
    return receipt


def credential_proof(version: Row, receipt: Receipt, key: SigningKey) -> dict[str, Any]:
    """Over the public view as JSON-LD, so that exports need no key. Its time is that of the passport."""
    document = credential(version["payload_canonical"], version["receipt_canonical"], f"did:key:{multikey(key.public)}")
    proof = add_proof(document, proof_options(key, receipt.issued_at), key)
    if not proof_verifies({**document, "proof": proof}, key.public):
        raise Permanent("The key makes proofs that do not verify", code="INVALID_SIGNING_KEY")
    return proof


def store(version: Row, connection: Connection) -> None:
    connection.execute(
        "select pg_advisory_xact_lock(hashtextextended(%s, 0))", [f"status index of {version['tenant_id']}"]
    )
    stored = connection.execute(STORE, {**version, "entries": ENTRIES})
    if not stored.rowcount:
        # The next attempt finds it.
        raise Retryable("Another job has just signed the passport version", code="SIGNED_MEANWHILE")


STORE = """
    update public.passport_versions
    set
      status = 'signed',
      signature = %(signature)s,
      signing_key_id = %(signing_key_id)s,
      signing_key_public = %(signing_key_public)s,
      credential_proof = %(credential_proof)s,
      status_index = (
        select case when count(*) = 0 then 0 when max(status_index) + 1 < %(entries)s then max(status_index) + 1 end
        from public.passport_versions
        where tenant_id = %(tenant_id)s
          and status_index is not null
      )
    where id = %(id)s
      and status = 'compiling'
      and receipt_hash = %(receipt_hash)s
"""


def tell(version: Row, key: SigningKey, connection: Connection) -> None:
    """Under the name of the source documents as well."""
    told = {
        "passport_id": str(version["passport_id"]),
        "passport_version_id": str(version["id"]),
        "receipt_hash": version["receipt_hash"].hex(),
        "signing_key_id": key.id,
    }
    for type in ("passport.signed", "PASSPORT_SIGNED"):
        emit_held_event(connection, type, f"passport:{version['passport_id']}", told)


def generate_qr(passport_version_id: UUID) -> FollowUp:
    return FollowUp(
        type="generate_qr",
        payload={"passport_version_id": str(passport_version_id)},
        dedupe_key=f"generate_qr {passport_version_id}",
    )


def result_of(version: Row) -> Result:
    return Result(
        passport_version_id=version["id"],
        signing_key_id=version["signing_key_id"],
        signature=version["signature"].hex(),
    )


SIGN_PASSPORT: Handler[Payload] = Handler(Payload, sign_passport, Result)
