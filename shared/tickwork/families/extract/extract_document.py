"""extract_document: a file of the vault becomes text that can be searched."""

import hashlib
import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from math import ceil
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal
from uuid import UUID

from psycopg.types.json import Jsonb
from pydantic import BaseModel

from tickwork.errors import Interrupted, JobError, LeaseLost, Permanent, Retryable
from tickwork.families.extract.elements import Element, Extracted, Metadata
from tickwork.jobs.connection import Connection
from tickwork.jobs.handler import Handler, Tools
from tickwork.jobs.outcomes import Done
from tickwork.jobs.rows import FollowUp
from tickwork.settings import Settings, load_settings
from tickwork.tools.events import emit_held_event
from tickwork.tools.vault import Vault, derived_key, vault_of

Engine = Literal["local", "unstructured_fast", "unstructured_hires"]

LARGEST_FILE = 50_000_000
# Longer ones are cut: a search vector takes no more, and nobody reads a hit of ten pages.
LONGEST_CHUNK = 8_000
# What is left of a handler's time after the engine, to store what it found: a fifth, or so many seconds.
STORING_SECONDS = 15.0
# A file that takes the engine here longer is a bomb, or as good as one.
LOCAL_SECONDS = 120.0
# How many are stored by one statement: a few round trips, none of which takes too long.
CHUNKS_AT_ONCE = 2_000


class Payload(BaseModel):
    document_id: UUID
    engine: Engine | None = None


class Result(BaseModel):
    page_count: int
    chunk_count: int
    doc_type: str | None


@dataclass(frozen=True)
class Task:
    """A document, and what was agreed on about its extraction."""

    document: dict[str, Any]
    extraction_id: UUID
    engine: Engine
    has_consent: bool
    cents_per_page: float
    follow_ups: Sequence[str]


@dataclass(frozen=True)
class Chunk:
    element: Element
    text: str


def extract_document(payload: Payload, tools: Tools) -> Done:
    settings = load_settings()
    default: Engine = "unstructured_fast" if settings.unstructured_api_key else "local"
    task = tools.under_lease(partial(begin, payload.document_id, payload.engine, default, tools.job_id))
    with noted_failure(task, tools):
        if not task.has_consent:
            raise Permanent("Nobody has agreed that the document is sent to a third party", code="CONSENT_MISSING")
        vault = vault_of(settings, tools.tenant_id)
        with TemporaryDirectory(prefix="tickwork-") as folder:
            file = Path(folder, "document")
            tools.progress(0.02, "fetching the file")
            sha256 = fetch(vault, task.document, file, tools)
            extracted = run_engine(task, file, settings, tools)
        chunks = list(chunks_of(extracted.elements))
        if not chunks:
            raise Permanent("There is no text in the file; a scan needs an engine that reads images", code="NO_TEXT")
        tools.progress(0.92, "storing the text")
        save_elements(vault, tools.tenant_id, payload.document_id, extracted.elements)
    result = Result(page_count=extracted.page_count, chunk_count=len(chunks), doc_type=task.document["doc_type"])
    return Done(
        result,
        writes=[partial(store, task, result, sha256, chunks), partial(tell, task, result)],
        follow_ups=[follow_up(type, payload.document_id) for type in task.follow_ups],
    )


def follow_up(type: str, document_id: UUID) -> FollowUp:
    return FollowUp(type=type, payload={"document_id": str(document_id)}, dedupe_key=f"{type} {document_id}")


def begin(document_id: UUID, named: Engine | None, default: Engine, job_id: UUID, connection: Connection) -> Task:
    document = connection.execute("select * from public.documents where id = %s", [document_id]).fetchone()
    if document is None:
        raise Permanent("There is no such document", code="DOCUMENT_MISSING")
    # An attempt before this one has chosen already, perhaps when the settings were others.
    begun = connection.execute("select engine from public.extractions where job_id = %s", [job_id]).fetchone()
    engine: Engine = named or (begun["engine"] if begun else default)
    extraction = connection.execute(ADOPT, {"document_id": document_id, "engine": engine, "job_id": job_id}).fetchone()
    if extraction is None:
        (extraction,) = connection.execute(CREATE, {**document, "engine": engine, "job_id": job_id}).fetchall()
    (terms,) = connection.execute(TERMS, [engine]).fetchall()
    return Task(
        document,
        extraction["id"],
        engine,
        not terms["needs_consent"] or extraction["consent_given_at"] is not None,
        float(terms["cents_per_page"]),
        terms["follow_ups"],
    )


# The one that was made for this job, or that somebody who knows no jobs has made, with or without consent.
ADOPT = """
    update public.extractions
    set status = 'running', job_id = %(job_id)s, started_at = clock_timestamp(), finished_at = null,
      error_code = null, error_message = null
    where id = (
      select id
      from public.extractions
      where document_id = %(document_id)s
        and engine = %(engine)s
        and (job_id = %(job_id)s or (job_id is null and status in ('queued', 'running')))
      order by consent_given_at is not null desc, job_id = %(job_id)s desc nulls last, created_at desc
      limit 1
    )
    returning id, consent_given_at
"""
CREATE = """
    insert into public.extractions (tenant_id, document_id, job_id, engine, status, started_at)
    values (%(tenant_id)s, %(id)s, %(job_id)s, %(engine)s, 'running', clock_timestamp())
    returning id, consent_given_at
"""
TERMS = """
    select
      extraction_engines.needs_consent,
      extraction_engines.cents_per_page,
      array(
        select follow_up.key
        from public.job_types
        join public.job_types as follow_up on follow_up.key = any (job_types.follow_ups)
        where job_types.key = 'extract_document'
          and follow_up.is_active
      ) as follow_ups
    from public.extraction_engines
    where extraction_engines.key = %s
"""


@contextmanager
def noted_failure(task: Task, tools: Tools) -> Iterator[None]:
    """An extraction that fails says so in its own row."""
    try:
        yield
    except (Interrupted, LeaseLost):
        raise
    except JobError as error:
        is_final = isinstance(error, Permanent)
        # The job's own error counts more than that it could not be noted here.
        with suppress(Exception):
            tools.under_lease(partial(note_failure, task.extraction_id, error, is_final))
        raise


def note_failure(extraction_id: UUID, error: JobError, is_final: bool, connection: Connection) -> None:
    connection.execute(
        """
        update public.extractions
        set status = %s, error_code = %s, error_message = %s, finished_at = case when %s then clock_timestamp() end
        where id = %s
        """,
        ["failed" if is_final else "queued", error.code, str(error), is_final, extraction_id],
    )


def fetch(vault: Vault, document: dict[str, Any], file: Path, tools: Tools) -> str:
    """Bring the file here, and answer its SHA-256."""
    digest, size = hashlib.sha256(), 0
    with vault.read(document["vault_path"]) as chunks, file.open("wb") as copy:
        for chunk in chunks:
            tools.check()
            size += len(chunk)
            if size > LARGEST_FILE:
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
        raise Permanent("The operator has set up no such engine: take local", code="ENGINE_NOT_SET_UP")
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


def save_elements(vault: Vault, tenant_id: UUID, document_id: UUID, elements: Sequence[Element]) -> None:
    text = json.dumps(elements, ensure_ascii=False, separators=(",", ":"))
    vault.write(derived_key(tenant_id, document_id), [text.encode()], "application/json")


def chunks_of(elements: Sequence[Element]) -> Iterator[Chunk]:
    """A chunk for each element that has text, and several for one that is too long."""
    for element in elements:
        text = element["text"]
        while text:
            end = len(text) if len(text) <= LONGEST_CHUNK else text.rfind(" ", LONGEST_CHUNK // 2, LONGEST_CHUNK)
            end = LONGEST_CHUNK if end < 0 else end
            yield Chunk(element, text[:end])
            text = text[end:].lstrip()


def store(task: Task, result: Result, sha256: str, chunks: Sequence[Chunk], connection: Connection) -> None:
    """Replace whatever text the document had, one extraction after the other."""
    lock = "select from public.documents where id = %s for no key update"
    if connection.execute(lock, [task.document["id"]]).fetchone() is None:
        raise Permanent("There is no such document any more", code="DOCUMENT_MISSING")
    connection.execute("delete from public.document_chunks where document_id = %s", [task.document["id"]])
    for first in range(0, len(chunks), CHUNKS_AT_ONCE):
        connection.execute(INSERT_CHUNKS, columns_of(task, chunks[first : first + CHUNKS_AT_ONCE], first))
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


# Many at once: COPY refuses tables with row-level security, and this is as quick.
INSERT_CHUNKS = """
    insert into public.document_chunks (
      document_id, tenant_id, extraction_id, chunk_index, page_number, element_type, text, metadata
    )
    select
      %(document_id)s, %(tenant_id)s, %(extraction_id)s,
      %(first)s + chunk.number - 1, chunk.page_number, chunk.element_type, chunk.text, chunk.metadata::jsonb
    from unnest(%(pages)s::integer[], %(types)s::text[], %(texts)s::text[], %(metadata)s::text[])
      with ordinality as chunk(page_number, element_type, text, metadata, number)
"""


def columns_of(task: Task, chunks: Sequence[Chunk], first: int = 0) -> dict[str, Any]:
    return {
        "document_id": task.document["id"],
        "tenant_id": task.document["tenant_id"],
        "extraction_id": task.extraction_id,
        "first": first,
        "pages": [chunk.element["metadata"].get("page_number") for chunk in chunks],
        "types": [chunk.element["type"] for chunk in chunks],
        "texts": [chunk.text for chunk in chunks],
        "metadata": [json.dumps(small(chunk.element["metadata"])) for chunk in chunks],
    }


def tell(task: Task, result: Result, connection: Connection) -> None:
    told = {"document_id": str(task.document["id"]), "name": task.document["name"], "engine": task.engine}
    told |= {"page_count": result.page_count, "chunk_count": result.chunk_count}
    emit_held_event(connection, "document.extracted", f"document:{task.document['id']}", told)


def small(metadata: Metadata) -> dict[str, Any]:
    # The HTML of a table can be larger than all the rest; it is in the vault with the other elements.
    return {name: value for name, value in metadata.items() if name != "text_as_html"}


EXTRACT_DOCUMENT: Handler[Payload] = Handler(Payload, extract_document)
