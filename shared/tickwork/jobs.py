"""A job as the database hands it out, and the ways in which an attempt at it can end."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, NamedTuple
from uuid import UUID

from pydantic import BaseModel, ConfigDict

Status = Literal["queued", "running", "done", "failed", "dead", "cancelled"]
Json = Mapping[str, Any]


class Job(BaseModel):
    """One row of `jobs`; one that was just claimed comes without the columns that are empty then."""

    model_config = ConfigDict(frozen=True)

    id: UUID
    tenant_id: UUID
    type: str
    family: str
    lane: str | None = None
    status: Status
    priority: int
    payload: dict[str, Any]
    result: Any = None
    run_at: datetime
    attempts: int
    max_attempts: int
    lease_token: UUID | None = None
    lease_expires_at: datetime | None = None
    lease_seconds: int | None = None
    timeout_seconds: int | None = None
    worker_id: str | None = None
    progress: float | None = None
    progress_message: str | None = None
    cancel_requested_at: datetime | None = None
    idempotency_key: str | None = None
    dedupe_key: str | None = None
    correlation_id: str | None = None
    source: Literal["manual", "event", "schedule", "system"]
    source_ref: str | None = None
    error_code: str | None = None
    error_message: str | None = None
    created_by: UUID | None = None
    created_at: datetime
    updated_at: datetime
    started_at: datetime | None = None
    finished_at: datetime | None = None


class EnqueuedJob(Job):
    deduplicated: bool


class Receipt(NamedTuple):
    """That a job was enqueued, or was there already."""

    id: UUID
    deduplicated: bool


class FollowUp(BaseModel):
    """A job to enqueue, for the same tenant, when this one completes."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    type: str
    payload: dict[str, Any] = {}
    priority: int = 0
    run_at: datetime | None = None
    idempotency_key: str | None = None
    dedupe_key: str | None = None
    lane: str | None = None
    max_attempts: int | None = None
    correlation_id: str | None = None


# What a handler wants written is a function of a connection: it runs in the transaction that completes the job.
Write = Callable[[Any], None]


@dataclass(frozen=True)
class Done:
    """The handler finished: a result, and what is to be committed together with it."""

    result: BaseModel | None = None
    writes: Sequence[Write] = ()
    follow_ups: Sequence[FollowUp] = ()


@dataclass(frozen=True)
class Failed:
    code: str
    message: str
    retryable: bool = True
    delay: float | None = None


@dataclass(frozen=True)
class Released:
    delay: float = 0.0


@dataclass(frozen=True)
class Lost:
    """Another worker has the job by now, or soon will."""


Outcome = Done | Failed | Released | Lost


@dataclass
class Report:
    """What one invocation did."""

    family: str
    claimed: int = 0
    ended: dict[str, int] = field(default_factory=dict)

    def add(self, ending: str, count: int = 1) -> None:
        self.claimed += count
        self.ended[ending] = self.ended.get(ending, 0) + count

    def include(self, other: "Report") -> None:
        for ending, count in other.ended.items():
            self.add(ending, count)

    def as_json(self) -> dict[str, Any]:
        return {"family": self.family, "claimed": self.claimed, **self.ended}
