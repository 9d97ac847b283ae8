"""extract_document: turns a file of the vault into searchable text."""

import hashlib
from functools import partial
from math import ceil
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from uuid import UUID

from psycopg.types.json import Jsonb
from pydantic import BaseModel, ConfigDict

from tickwork.errors import Permanent, Retryable
from tickwork.families.extract.chunks import chunks_of, replace_chunks
from tickwork.families.extract.elements import Elements, Extracted
from tickwork.families.extract.extractions import Engine, Task, begin, noted_failure
from tickwork.jobs.connection import Connection
from tickwork.jobs.handler import Handler, Tools
from tickwork.jobs.outcomes import Done
from tickwork.jobs.rows import FollowUp
from tickwork.settings import Settings, load_settings
from tickwork.tools.classifier import documents as classifier
from tickwork.tools.events import emit_held_event
from tickwork.tools.vault import Vault, derived_key, vault_of

MAX_FILE_BYTES = 50_000_000
# How much of a handler's time is reserved for storing the result: a fifth, or at most this many seconds.
STORING_SECONDS = 15.0
# A file that takes the local engine longer is a bomb, or as good as one.
LOCAL_SECONDS = 120.0
# Of attachments that were not read.
MAX_NAMES = 50


class Payload(BaseModel):
    document_id: UUID
    engine: Engine | None = None


class NotRead(BaseModel):
    """Pages without text beside pages with text, attached files that were not read to their end, characters cut."""

    model_config = ConfigDict(json_schema_serialization_defaults_required=True)

    pages: list[int] = []
    attachments: list[str] = []
    characters: int = 0


class Result(BaseModel):
    page_count: int
    element_count: int
    chunk_count: int
    doc_type: str
    not_read: NotRead


def extract_document(payload: Payload, tools: Tools) -> Done:
    settings = load_settings()
    default: Engine = "unstructured_fast" if settings.unstructured_api_key else "local"
    task = tools.under_lease(partial(begin, payload.document_id, payload.engine, default, tools.job_id))
    with noted_failure(task, tools):
        if not task.has_consent:
            raise Permanent("Nobody has consented to sending the document to a third party", code="CONSENT_MISSING")
        vault = vault_of(settings, tools.tenant_id)
        with TemporaryDirectory(prefix="tickwork-") as folder:
            file = Path(folder, "document")
            tools.progress(0.02, "fetching the file")
            sha256 = fetch(vault, task.document, file, tools)
            extracted = run_engine(task, file, settings, tools)
        chunk_count = sum(1 for _ in chunks_of(extracted.elements))
        if not chunk_count:
            raise Permanent("The file contains no text. A scan needs an engine that reads images", code="NO_TEXT")
        tools.progress(0.92, "storing the text")
        save_elements(vault, tools.tenant_id, payload.document_id, extracted.elements)
    pieces = ((chunk.element["type"], chunk.text) for chunk in chunks_of(extracted.elements))
    seen = tools.under_lease(partial(classifier.look, task.document, sha256, pieces))
    result = Result(
        page_count=extracted.page_count,
        element_count=len(extracted.elements),
        chunk_count=chunk_count,
        doc_type=doc_type_of(task.document, seen),
        not_read=not_read(extracted),
    )
    return Done(
        result,
        writes=[
            partial(store, task, result, sha256, extracted.elements),
            partial(tell, task, result),
            partial(classifier.store, payload.document_id, tools.tenant_id, seen),
        ],
        follow_ups=[follow_up(type, payload.document_id) for type in task.follow_ups],
    )


def doc_type_of(document: dict[str, Any], seen: classifier.Seen) -> str:
    """A type that a member has set stays."""
    return str(document["doc_type"]) if document["doc_type_source"] == "member" else seen[1].doc_type


def not_read(extracted: Extracted) -> NotRead:
    with_text = {each["metadata"].get("page_number", 1) for each in extracted.elements}
    pages = [number for number in range(1, extracted.page_count + 1) if number not in with_text]
    names = list(extracted.left_out[:MAX_NAMES])
    if more := len(extracted.left_out) - len(names):
        names.append(f"and {more} more")
    return NotRead(pages=pages, attachments=names, characters=extracted.cut)


def follow_up(type: str, document_id: UUID) -> FollowUp:
    return FollowUp(type=type, payload={"document_id": str(document_id)}, dedupe_key=f"{type} {document_id}")


def fetch(vault: Vault, document: dict[str, Any], file: Path, tools: Tools) -> str:
    """Download the file; returns its SHA-256."""
    digest, size = hashlib.sha256(), 0
    with vault.read(document["vault_path"]) as chunks, file.open("wb") as copy:
        for chunk in chunks:
            tools.check()
            size += len(chunk)
            if size > MAX_FILE_BYTES:
                raise Permanent("The file is larger than 50 MB", code="FILE_TOO_LARGE")
            digest.update(chunk)
            copy.write(chunk)
    if document["sha256"] not in (None, digest.hexdigest()):
        raise Permanent("The file in the vault is not the one that was registered", code="FILE_CHANGED")
    return digest.hexdigest()


def run_engine(task: Task, file: Path, settings: Settings, tools: Tools) -> Extracted:
    def report(share: float, message: str) -> None:
        tools.progress(0.05 + 0.85 * share, message)

    seconds = tools.seconds_left() - min(STORING_SECONDS, tools.timeout / 5)
    if seconds < min(60.0, tools.timeout / 2):
        raise Retryable("It took too long to fetch the file", code="VAULT_SLOW")
    mime_type = task.document["mime_type"]
    if task.engine == "local":
        from tickwork.families.extract.engines import local

        return local.extract(file, mime_type, min(seconds, LOCAL_SECONDS), report)
    if settings.unstructured_url is None and settings.unstructured_api_key is None:
        raise Permanent("The operator has not set up this engine. Use local", code="ENGINE_NOT_SET_UP")
    from tickwork.families.extract.engines import unstructured

    return unstructured.extract(
        file,
        task.document["name"],
        mime_type,
        "fast" if task.engine == "unstructured_fast" else "hi_res",
        settings.unstructured_url,
        settings.unstructured_api_key,
        seconds,
        report,
    )


def save_elements(vault: Vault, tenant_id: UUID, document_id: UUID, elements: Elements) -> None:
    vault.write(derived_key(tenant_id, document_id), elements.as_json(), "application/json")


def store(task: Task, result: Result, sha256: str, elements: Elements, connection: Connection) -> None:
    """Replace the text of the document, one extraction at a time."""
    replace_chunks(connection, task, chunks_of(elements))
    cost = ceil(result.page_count * task.cents_per_page)
    connection.execute(
        """
        update public.extractions
        set status = 'done', actual_pages = %s, actual_cost_cents = %s, result_json = %s,
          finished_at = clock_timestamp(), error_code = null, error_message = null
        where id = %s
        """,
        [result.page_count, cost, Jsonb(result.model_dump()), task.extraction_id],
    )
    connection.execute(
        "update public.documents set page_count = %s, sha256 = %s where id = %s",
        [result.page_count, sha256, task.document["id"]],
    )


def tell(task: Task, result: Result, connection: Connection) -> None:
    told = {"document_id": str(task.document["id"]), "name": task.document["name"], "engine": task.engine}
    told |= result.model_dump()
    emit_held_event(connection, "document.extracted", f"document:{task.document['id']}", told)


EXTRACT_DOCUMENT: Handler[Payload] = Handler(Payload, extract_document, Result)
