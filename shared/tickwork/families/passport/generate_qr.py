"""generate_qr: makes the QR code of a signed passport version."""

from functools import partial
from typing import Any
from uuid import UUID

from pydantic import BaseModel, ConfigDict

from tickwork.errors import Permanent
from tickwork.jobs.connection import Connection
from tickwork.jobs.handler import Handler, Tools
from tickwork.jobs.outcomes import Done
from tickwork.passports.qr import PassportQr, QrRefused


class Payload(BaseModel):
    model_config = ConfigDict(extra="forbid")

    passport_version_id: UUID


class Result(BaseModel):
    passport_version_id: UUID
    qr_payload: str


def generate_qr(payload: Payload, tools: Tools) -> Done:
    version = tools.under_lease(partial(read_version, payload.passport_version_id))
    if version["qr_payload"] is not None:
        return Done(Result(passport_version_id=version["id"], qr_payload=version["qr_payload"]))
    code = PassportQr(version["id"], version["payload_hash"], version["proof_root_hash"], version["receipt_hash"])
    try:
        text, png = code.text, code.png()
    except QrRefused as error:
        raise Permanent(str(error), code="QR_ENCODE_FAILED") from None
    return Done(
        Result(passport_version_id=version["id"], qr_payload=text), writes=[partial(store, version["id"], text, png)]
    )


def read_version(passport_version_id: UUID, connection: Connection) -> dict[str, Any]:
    found = connection.execute(READ, [passport_version_id]).fetchone()
    if found is None:
        raise Permanent("There is no such passport version", code="PASSPORT_NOT_FOUND")
    if found["status"] not in ("signed", "active", "superseded"):
        raise Permanent(
            f"The passport version is {found['status']}, and only a signed one gets a QR code",
            code="INVALID_PASSPORT_STATUS",
        )
    return found


READ = """
    select id, status, payload_hash, proof_root_hash, receipt_hash, qr_payload
    from public.passport_versions
    where id = %s
"""


def store(passport_version_id: UUID, text: str, png: bytes, connection: Connection) -> None:
    """If another job was faster, it has stored the same text."""
    connection.execute(
        "update public.passport_versions set qr_payload = %s, qr_png = %s where id = %s and qr_payload is null",
        [text, png, passport_version_id],
    )


GENERATE_QR: Handler[Payload] = Handler(Payload, generate_qr, Result)
