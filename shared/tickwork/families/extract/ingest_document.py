"""ingest_document: makes a file of the vault a version of a passport document, which parse_facts then reads."""

from functools import partial
from typing import Annotated, Any
from uuid import UUID, uuid4

from pydantic import BaseModel, ConfigDict, Field

from tickwork.errors import InvalidPayload, Permanent
from tickwork.families.extract.extract_document import Payload as ExtractPayload
from tickwork.families.extract.extract_document import extract_document
from tickwork.families.extract.extractions import Engine
from tickwork.jobs.connection import Connection
from tickwork.jobs.handler import Handler, Tools
from tickwork.jobs.outcomes import Done
from tickwork.jobs.rows import FollowUp
from tickwork.passports.file_types import NAMES, plain, reading_of
from tickwork.tools.document_versions import add_held_document_version

SchemaVersion = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,49}$")]


class Options(BaseModel):
    """`engine` is for files whose text has not been extracted yet."""

    model_config = ConfigDict(extra="forbid")

    passport_document_id: UUID
    schema_version: SchemaVersion = "1"
    engine: Engine | None = None


class Payload(BaseModel):
    """`file_url` and `mime_type` must be those of the document, if they are given."""

    model_config = ConfigDict(extra="forbid")

    document_id: UUID
    file_url: Annotated[str, Field(max_length=1000)] | None = None
    mime_type: Annotated[str, Field(max_length=200)] | None = None
    options: Options


class Result(BaseModel):
    document_version_id: UUID
    is_extracted: bool


def ingest_document(payload: Payload, tools: Tools) -> Done:
    document = tools.under_lease(partial(find, payload))
    check(payload, document)
    is_extracted = reading_of(document["mime_type"]) == "extracted"
    # In this job rather than in one of its own: the version must not come before the text.
    needs_text = is_extracted and not document["has_text"]
    before = extraction_of(payload, tools) if needs_text else Done()
    id = uuid4()
    return Done(
        Result(document_version_id=id, is_extracted=is_extracted),
        writes=[*before.writes, partial(add_version, id, payload)],
        follow_ups=[*before.follow_ups, parse_facts(id)],
    )


def find(payload: Payload, connection: Connection) -> dict[str, Any]:
    document = connection.execute(FIND_DOCUMENT, [payload.document_id]).fetchone()
    if document is None:
        raise Permanent("There is no such document", code="DOCUMENT_NOT_FOUND")
    wanted = "select from public.passport_documents where id = %s"
    if connection.execute(wanted, [payload.options.passport_document_id]).fetchone() is None:
        raise Permanent("There is no such passport document", code="DOCUMENT_NOT_FOUND")
    return document


FIND_DOCUMENT = """
    select
      vault_path, mime_type,
      exists (
        select
        from public.extractions
        where extractions.document_id = documents.id
          and extractions.status = 'done'
      ) as has_text
    from public.documents
    where id = %s
"""


def check(payload: Payload, document: dict[str, Any]) -> None:
    if payload.file_url not in (None, document["vault_path"]):
        raise InvalidPayload(
            "file_url: must be the vault_path of the document. Files from elsewhere come into the vault first, by an "
            "upload or an import"
        )
    if payload.mime_type is not None and plain(payload.mime_type) != plain(document["mime_type"]):
        raise InvalidPayload(f"mime_type: the document is {document['mime_type']}. Leave it out, or upload it again")
    if reading_of(document["mime_type"]) is None:
        raise Permanent(f"Facts are read from {NAMES}", code="UNSUPPORTED_DOCUMENT_KIND")


def extraction_of(payload: Payload, tools: Tools) -> Done:
    return extract_document(ExtractPayload(document_id=payload.document_id, engine=payload.options.engine), tools)


def add_version(document_version_id: UUID, payload: Payload, connection: Connection) -> None:
    options = payload.options
    add_held_document_version(
        connection, document_version_id, options.passport_document_id, payload.document_id, options.schema_version
    )


def parse_facts(document_version_id: UUID) -> FollowUp:
    return FollowUp(
        type="parse_facts",
        payload={"document_version_id": str(document_version_id)},
        dedupe_key=f"parse_facts {document_version_id}",
    )


INGEST_DOCUMENT: Handler[Payload] = Handler(Payload, ingest_document, Result)
