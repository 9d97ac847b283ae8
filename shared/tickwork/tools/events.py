"""What a handler reports in a transaction that holds its job: one function per SQL function, with the same name."""

from collections.abc import Mapping
from typing import Any, Literal
from uuid import UUID

from psycopg.types.json import Jsonb

from tickwork.jobs.connection import Connection

Verdict = Literal["delivered", "down", "throttled", "refused", "gone"]


def emit_held_event(
    connection: Connection, type: str, aggregate: str | None = None, payload: Mapping[str, Any] | None = None
) -> None:
    """Emit an event for the tenant of the held job."""
    connection.execute(
        "select public.emit_held_event(type => %s, aggregate => %s, payload => %s)",
        [type, aggregate, Jsonb(dict(payload or {}))],
    )


def note_delivery(
    connection: Connection,
    webhook_delivery_id: UUID,
    verdict: Verdict,
    http_status: int | None = None,
    response_headers: Mapping[str, str] | None = None,
    response_body: str | None = None,
    latency_ms: int | None = None,
    error_code: str | None = None,
    error_message: str | None = None,
    retry_after_seconds: float | None = None,
) -> None:
    """Record how an attempt to deliver went; the database decides what follows for the endpoint."""
    connection.execute(
        """
        select public.note_delivery(
          webhook_delivery_id => %s, verdict => %s, http_status => %s, response_headers => %s, response_body => %s,
          latency_ms => %s, error_code => %s, error_message => %s, retry_after_seconds => %s
        )
        """,
        [
            webhook_delivery_id,
            verdict,
            http_status,
            None if response_headers is None else Jsonb(dict(response_headers)),
            response_body,
            latency_ms,
            error_code,
            error_message,
            retry_after_seconds,
        ],
    )
