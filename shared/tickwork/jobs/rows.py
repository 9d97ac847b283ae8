"""Jobs as the database returns and accepts them."""

from datetime import datetime
from typing import Any, Literal, NamedTuple
from uuid import UUID

from pydantic import BaseModel, ConfigDict, TypeAdapter

Status = Literal["queued", "running", "done", "failed", "dead", "cancelled"]
# When a job that waits for others can start: all of them are done, all have ended, or one has ended.
AfterWhen = Literal["all_done", "all_ended", "any_ended"]


class JobFields(BaseModel):
    """What everybody who may see a job knows about it."""

    model_config = ConfigDict(frozen=True)

    id: UUID
    tenant_id: UUID
    type: str
    family: str
    lane: str | None
    payload: dict[str, Any]
    attempts: int
    max_attempts: int
    lease_seconds: int | None
    timeout_seconds: int | None
    worker_id: str | None
    correlation_id: str | None


class ClaimedJob(JobFields):
    """A job and the token that its worker must show in every later call. Only the worker is told the token."""

    lease_token: UUID
    # The traceparent, or the trace_link after the word `link`.
    trace: str | None = None
    wait_ms: int | None = None


class Job(JobFields):
    """One row of `jobs`."""

    status: Status
    priority: int
    result: Any
    run_at: datetime
    lease_expires_at: datetime | None
    progress: float | None
    progress_message: str | None
    cancel_requested_at: datetime | None
    idempotency_key: str | None
    dedupe_key: str | None
    traceparent: str | None
    trace_link: str | None
    source: Literal["manual", "event", "schedule", "system"]
    source_ref: str | None
    notify: bool
    is_redacted: bool
    after: list[UUID] | None
    after_when: AfterWhen | None
    ready_at: datetime | None
    error_code: str | None
    error_message: str | None
    created_by: UUID | None
    created_at: datetime
    updated_at: datetime
    started_at: datetime | None
    finished_at: datetime | None


class EnqueuedJob(Job):
    deduplicated: bool


class Receipt(NamedTuple):
    """Says that a job was enqueued, or already existed."""

    id: UUID
    deduplicated: bool


class Changed(NamedTuple):
    """How many jobs a filter changed, and whether there are more that match it."""

    changed: int
    has_more: bool


class FollowUp(BaseModel):
    """A job to enqueue, for the same tenant, when this one completes."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    type: str
    payload: dict[str, Any] = {}
    priority: int | None = None
    run_at: datetime | None = None
    idempotency_key: str | None = None
    dedupe_key: str | None = None
    lane: str | None = None
    max_attempts: int | None = None
    correlation_id: str | None = None
    after: list[UUID] | None = None
    after_when: AfterWhen | None = None


JOBS = TypeAdapter(list[ClaimedJob])
