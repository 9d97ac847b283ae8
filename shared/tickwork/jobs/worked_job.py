"""A job as the runtime gets it from the queue."""

from typing import NamedTuple


class WorkedJob(NamedTuple):
    """Its ids are text and its payload is JSON: most jobs never need more. Parsing is the business of each job, so that
    one that cannot be read does not keep the others waiting."""

    id: str
    tenant_id: str
    type: str
    lane: str | None
    payload: str
    attempts: int
    max_attempts: int
    lease_token: str
    lease_seconds: int | None
    timeout_seconds: int | None
    correlation_id: str | None
    # The traceparent, or the trace_link after the word `link`.
    trace: str | None
    wait_ms: int | None
    family: str
