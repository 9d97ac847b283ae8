"""change_jobs: retries, cancels or reschedules every job that matches a filter, in batches."""

from typing import Any, Literal

from pydantic import BaseModel, JsonValue

from tickwork.jobs.connection import Connection
from tickwork.jobs.handler import Handler, Tools

BATCH = 1000


class Payload(BaseModel):
    action: Literal["retry", "cancel", "reschedule"]
    filter: dict[str, JsonValue]
    reason: str
    # How many there were when it was asked for.
    matching: int
    run_at: str | None = None
    max_attempts: int | None = None


class Result(BaseModel):
    changed: int


def change_jobs(payload: Payload, tools: Tools) -> Result:
    changed, has_more = 0, True
    while has_more:
        row = tools.under_lease(change_some_jobs)
        changed, has_more = changed + row["changed"], row["has_more"]
        tools.progress(changed / max(payload.matching, 1), f"{changed} jobs")
    tools.log("change_jobs", action=payload.action, changed=changed)
    return Result(changed=changed)


def change_some_jobs(connection: Connection, max_jobs: int = BATCH) -> dict[str, Any]:
    row = connection.execute("select * from public.change_some_jobs(%s)", [max_jobs]).fetchone()
    assert row is not None
    return row


CHANGE_JOBS: Handler[Payload] = Handler(Payload, change_jobs, Result)
