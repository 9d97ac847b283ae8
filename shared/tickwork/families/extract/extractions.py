"""The rows of extractions: which engine extracts a document, who consented, and how it ended."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal
from uuid import UUID

from tickwork.errors import Interrupted, JobError, LeaseLost, Permanent
from tickwork.jobs.connection import Connection
from tickwork.jobs.handler import Tools

Engine = Literal["local", "unstructured_fast", "unstructured_hires"]


@dataclass(frozen=True)
class Task:
    """A document, with the engine and the consent of its extraction."""

    document: dict[str, Any]
    extraction_id: UUID
    engine: Engine
    has_consent: bool
    cents_per_page: float
    follow_ups: Sequence[str]


def begin(document_id: UUID, named: Engine | None, default: Engine, job_id: UUID, connection: Connection) -> Task:
    document = connection.execute("select * from public.documents where id = %s", [document_id]).fetchone()
    if document is None:
        raise Permanent("There is no such document", code="DOCUMENT_MISSING")
    # An earlier attempt may have chosen an engine already, perhaps with other settings.
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


# The extraction of this job, or one that was inserted without a job, with or without consent.
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
    """Records in the extraction's own row that it failed."""
    try:
        yield
    except (Interrupted, LeaseLost):
        raise
    except JobError as error:
        is_final = isinstance(error, Permanent)
        # The job's own error matters more than a failure to record it here.
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
