"""What a job is enqueued with, and filters: which jobs are listed or changed."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, TypedDict
from uuid import UUID

if TYPE_CHECKING:
    from tickwork.jobs.rows import AfterWhen


class JobOptions(TypedDict, total=False):
    priority: int | None
    run_at: datetime | str | None
    idempotency_key: str | None
    dedupe_key: str | None
    lane: str | None
    max_attempts: int | None
    correlation_id: str | None
    notify: bool
    after: Sequence[UUID | str] | None
    after_when: AfterWhen | None
    traceparent: str | None


class JobFilter(TypedDict, total=False):
    """A job matches if all conditions that are given hold."""

    tenant_id: UUID | str | None
    family: str | None
    type: str | None
    status: str | None
    lane: str | None
    error_code: str | None
    created_after: datetime | str | None
    created_before: datetime | str | None
    correlation_id: str | None


class ListFilter(JobFilter, total=False):
    """What can be asked for where jobs are only read."""

    source: str | None
    key_starts_with: str | None
    finished_after: datetime | str | None
    finished_before: datetime | str | None
    oldest_first: bool
