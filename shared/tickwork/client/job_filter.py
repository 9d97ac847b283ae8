"""Filters for changing many jobs at once."""

from datetime import datetime
from typing import TypedDict
from uuid import UUID


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
