"""export_passport: writes a signed passport version into the vault, as PDF, JSON-LD or XML for an audience."""

import hashlib
from collections.abc import Mapping
from functools import partial
from typing import Annotated, Any
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field

from tickwork.errors import InvalidPayload, Permanent
from tickwork.jobs.connection import Connection
from tickwork.jobs.handler import Handler, Tools
from tickwork.jobs.outcomes import Done
from tickwork.passports.exports.evidence import Signed
from tickwork.passports.exports.export import (
    EXTENSIONS,
    MIME_TYPES,
    STANDARD,
    Format,
    NoCredential,
    Wanted,
    export,
)
from tickwork.passports.exports.typesetting import TemplateMissing, TooDemanding
from tickwork.passports.exports.view import Audience
from tickwork.settings import load_settings
from tickwork.tools.events import emit_held_event
from tickwork.tools.vault import vault_of

MAX_SIZE = 20_000_000
EXPORTED = ("signed", "active", "superseded")


class Payload(BaseModel):
    """JSON-LD is for the public only, because that view is what is signed as a credential."""

    model_config = ConfigDict(extra="forbid")

    passport_version_id: UUID
    format: Format
    template: Annotated[str, Field(max_length=100)] = STANDARD
    audience: Audience = "public"


class Result(BaseModel):
    vault_path: str
    sha256: str
    size: int


def export_passport(payload: Payload, tools: Tools) -> Done:
    if payload.format == "json_ld" and payload.audience != "public":
        raise InvalidPayload("audience: JSON-LD is signed for the public only")
    version: Mapping[str, Any] = tools.under_lease(partial(read_version, payload.passport_version_id))
    tools.progress(0.2, "writing the file")
    content = written(version, payload)
    hash = hashlib.sha256(content).hexdigest()
    name = f"{hash}.{EXTENSIONS[payload.format]}"
    path = f"tenant/{tools.tenant_id}/derived/passports/{payload.passport_version_id}/{name}"
    vault_of(load_settings(), tools.tenant_id).write(path, [content], MIME_TYPES[payload.format])
    result = Result(vault_path=path, sha256=hash, size=len(content))
    return Done(result, writes=[partial(store_export, payload, result, tools), partial(tell, payload, result, version)])


def read_version(passport_version_id: UUID, connection: Connection) -> dict[str, Any]:
    found = connection.execute(FIND_VERSION, [passport_version_id]).fetchone()
    if found is None:
        raise Permanent("There is no such passport version", code="PASSPORT_VERSION_NOT_FOUND")
    if found["status"] not in EXPORTED:
        raise not_exported(found["status"])
    return found


FIND_VERSION = """
    select
      passport_id, status, payload_canonical, proof_canonical, receipt_canonical, signature, signing_key_id,
      signing_key_public, credential_proof, link_qr_payload
    from public.passport_versions
    join public.passports on passports.id = passport_versions.passport_id
    where passport_versions.id = %s
"""


def not_exported(status: str) -> Permanent:
    return Permanent(
        f"The version is {status}, and only signed ones are exported. explain_passport says what it waits for",
        code="INVALID_PASSPORT_STATUS",
    )


def written(version: Mapping[str, Any], payload: Payload) -> bytes:
    signed = Signed(
        payload=version["payload_canonical"],
        proof=version["proof_canonical"],
        receipt=version["receipt_canonical"],
        signature=version["signature"],
        signing_key_id=version["signing_key_id"],
        signing_key_public=version["signing_key_public"],
    )
    try:
        content = export(
            signed,
            version["credential_proof"],
            Wanted(payload.format, payload.template, payload.audience),
            version["link_qr_payload"],
        )
    except TemplateMissing as missing:
        raise Permanent(f"There is no such template. {missing}", code="TEMPLATE_MISSING") from None
    except NoCredential as missing:
        raise Permanent(f"The version cannot be exported: {missing}", code="INVALID_PASSPORT_STATUS") from None
    except TooDemanding as refusal:
        raise Permanent(f"The passport is too large for a PDF. {refusal}", code="EXPORT_TOO_LARGE") from None
    if len(content) > MAX_SIZE:
        raise Permanent(f"The file would have {len(content)} bytes, and may have {MAX_SIZE}", code="EXPORT_TOO_LARGE")
    return content


def store_export(payload: Payload, result: Result, tools: Tools, connection: Connection) -> None:
    given = {**payload.model_dump(), **result.model_dump(), "job_id": tools.job_id, "exported": list(EXPORTED)}
    stored = connection.execute(STORE_EXPORT, given)
    if not stored.rowcount:
        # Revoked while the file was written.
        raise not_exported("not signed any more")


STORE_EXPORT = """
    insert into public.passport_exports (
      tenant_id, passport_version_id, format, template, audience, vault_path, sha256, size, job_id
    )
    select
      tenant_id, id, %(format)s, %(template)s, %(audience)s, %(vault_path)s, %(sha256)s, %(size)s, %(job_id)s
    from public.passport_versions
    where id = %(passport_version_id)s
      and status = any (%(exported)s)
    on conflict (tenant_id, passport_version_id, format, template, audience) do update
    set
      vault_path = excluded.vault_path,
      sha256 = excluded.sha256,
      size = excluded.size,
      job_id = excluded.job_id
"""


def tell(payload: Payload, result: Result, version: Mapping[str, Any], connection: Connection) -> None:
    emit_held_event(
        connection,
        "passport.exported",
        f"passport:{version['passport_id']}",
        {
            "passport_id": str(version["passport_id"]),
            "passport_version_id": str(payload.passport_version_id),
            "format": payload.format,
            "audience": payload.audience,
            "sha256": result.sha256,
        },
    )


EXPORT_PASSPORT: Handler[Payload] = Handler(Payload, export_passport, Result)
