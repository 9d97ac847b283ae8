"""The type verb_object: its payload, its result, and what is done."""

from functools import partial
from uuid import UUID

from pydantic import BaseModel, Field

from tickwork.errors import Permanent
from tickwork.jobs.connection import Connection
from tickwork.jobs.handler import Handler, Tools
from tickwork.jobs.outcomes import Done


class Payload(BaseModel):
    """Checked when a job is enqueued, too, by the payload_schema of the type."""

    text: str = Field(min_length=1)


class Result(BaseModel):
    text: str


def verb_object(payload: Payload, tools: Tools) -> Done:
    if not payload.text.strip():
        raise Permanent("The text is blank", code="BLANK_TEXT")
    tools.progress(0.5, "almost done")
    result = Result(text=payload.text.strip())
    return Done(result, writes=[partial(store, tools.tenant_id, tools.job_id, result)])


def store(tenant_id: UUID, job_id: UUID, result: Result, connection: Connection) -> None:
    """Runs in the transaction that completes the job: there is a row if and only if the job is done."""
    connection.execute(
        "insert into public.my_table (tenant_id, job_id, text) values (%s, %s, %s)",
        [tenant_id, job_id, result.text],
    )


VERB_OBJECT = Handler(Payload, verb_object, Result)
