"""generate_qr: makes the QR code of a signed passport version, and that of the link where its tenant has a resolver."""

from functools import partial
from typing import Any
from uuid import UUID

from pydantic import BaseModel, ConfigDict

from tickwork.errors import Permanent
from tickwork.jobs.connection import Connection
from tickwork.jobs.handler import Handler, Tools
from tickwork.jobs.outcomes import Done
from tickwork.passports.qr import PassportQr, QrRefused, link, png


class Payload(BaseModel):
    model_config = ConfigDict(extra="forbid")

    passport_version_id: UUID


class Result(BaseModel):
    passport_version_id: UUID
    qr_payload: str


def generate_qr(payload: Payload, tools: Tools) -> Done:
    version = tools.under_lease(partial(read_version, payload.passport_version_id))
    draw_link = partial(store_link, version["passport_id"])
    if version["qr_payload"] is not None:
        result = Result(passport_version_id=version["id"], qr_payload=version["qr_payload"])
        return Done(result, writes=[draw_link])
    code = PassportQr(version["id"], version["payload_hash"], version["proof_root_hash"], version["receipt_hash"])
    try:
        text, picture = code.text, code.png()
    except QrRefused as error:
        raise Permanent(str(error), code="QR_ENCODE_FAILED") from None
    return Done(
        Result(passport_version_id=version["id"], qr_payload=text),
        # The link first: it holds the passport, as all who change a version do.
        writes=[draw_link, partial(store, version["id"], text, picture)],
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
    select id, passport_id, status, payload_hash, proof_root_hash, receipt_hash, qr_payload
    from public.passport_versions
    where id = %s
"""


def store(passport_version_id: UUID, text: str, picture: bytes, connection: Connection) -> None:
    """If another job was faster, it has stored the same text."""
    connection.execute(
        "update public.passport_versions set qr_payload = %s, qr_png = %s where id = %s and qr_payload is null",
        [text, picture, passport_version_id],
    )


def store_link(passport_id: UUID, connection: Connection) -> None:
    """Draws while it holds what the link is made of: a change waits, and then deletes what is stored here."""
    (host,) = connection.execute("select tickwork.held_resolver() as resolver").fetchall()
    (battery,) = connection.execute(
        "select gtin, serial from public.passports where id = %s for no key update", [passport_id]
    ).fetchall()
    if host["resolver"] and battery["gtin"] and battery["serial"]:
        text = link(host["resolver"], battery["gtin"], battery["serial"])
        connection.execute(
            "update public.passports set link_qr_payload = %s, link_qr_png = %s where id = %s",
            [text, png(text), passport_id],
        )


GENERATE_QR: Handler[Payload] = Handler(Payload, generate_qr, Result)
