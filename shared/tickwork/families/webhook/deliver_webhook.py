"""deliver_webhook: posts a signed event to an endpoint, and stores the response."""

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any
from uuid import UUID

from pydantic import BaseModel

from tickwork.errors import JobError, Permanent, RateLimited, Retryable
from tickwork.jobs.connection import Connection
from tickwork.jobs.handler import Handler, Tools
from tickwork.jobs.outcomes import Done
from tickwork.settings import Settings, load_settings
from tickwork.tools.events import Verdict, note_delivery
from tickwork.tools.outbound.http import Limits, Unreachable, stream
from tickwork.tools.outbound.policy import policy_of
from tickwork.tools.outbound.retry_after import PASSING, pause_of
from tickwork.tools.redaction import redacted, redacted_headers
from tickwork.tools.secrets import SecretStore
from tickwork.tools.signing import PREFIX, signed_headers

CONNECT_SECONDS = 5.0
# How much of a response is read; it is only for people to look at, and its status is what counts.
MAX_READ = 16_384
MAX_KEPT = 4_096
NO_LIMIT = 1 << 50


class Payload(BaseModel):
    webhook_delivery_id: UUID


class Result(BaseModel):
    http_status: int
    latency_ms: int


@dataclass(frozen=True)
class Delivery:
    """Everything that is to be sent, and where."""

    id: UUID
    event_id: UUID
    event_type: str
    url: str = field(repr=False)
    header_prefix: str
    timeout_seconds: float
    body: bytes = field(repr=False)
    # The current one and, while it is new, the previous one.
    secrets: Sequence[str] = field(repr=False)


@dataclass(frozen=True)
class Reply:
    """The response; `note` says what was wrong with it."""

    http_status: int | None = None
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    body: str = field(default="", repr=False)
    note: JobError | None = None


def deliver_webhook(payload: Payload, tools: Tools) -> Done:
    settings = load_settings()
    delivery = tools.under_lease(partial(read_delivery, payload.webhook_delivery_id, settings, tools))
    began = time.monotonic()
    reply = send(delivery, settings)
    latency = round((time.monotonic() - began) * 1000)
    verdict, error = judged(reply)
    noted = partial(note, delivery, reply, verdict, error, latency)
    if error is None:
        assert reply.http_status is not None
        return Done(Result(http_status=reply.http_status, latency_ms=latency), writes=[noted])
    tools.under_lease(noted)
    raise error


def read_delivery(delivery_id: UUID, settings: Settings, tools: Tools, connection: Connection) -> Delivery:
    # Only the job that was enqueued for a delivery may make it: any member of the tenant can enqueue another one.
    row = connection.execute(DELIVERY, {"id": delivery_id, "job_id": tools.job_id}).fetchone()
    if row is None:
        raise Permanent("The delivery of this job no longer exists: its endpoint was deleted", code="DELIVERY_MISSING")
    if row["status"] != "active":
        raise Permanent("The endpoint is disabled", code="ENDPOINT_DISABLED")
    known = SecretStore(settings.secret_key).read(connection, tools.tenant_id, f"endpoint:{row['endpoint_id']}")
    secrets = [known[name] for name in ("current", "previous") if name in known]
    if not secrets:
        raise Permanent("The endpoint has no secret. Rotate it to create one", code="SECRET_MISSING")
    return Delivery(
        id=delivery_id,
        event_id=row["event_id"],
        event_type=row["type"],
        url=row["url"],
        header_prefix=row["header_prefix"],
        timeout_seconds=row["timeout_seconds"],
        body=body_of(row),
        secrets=secrets,
    )


def body_of(row: Mapping[str, Any]) -> bytes:
    aggregate = {"aggregate_type": row["aggregate_type"], "aggregate_id": row["aggregate_id"]}
    if row["format"] == "bpc":
        event = {"event_id": str(row["event_id"]), "event_type": row["type"]}
        head, name = {**event, **aggregate, "occurred_at": row["occurred_at"]}, "payload"
    else:
        head, name = {"type": row["type"], "timestamp": row["occurred_at"], **aggregate}, "data"
    # The text of the payload as the database has it, so that each attempt sends the same bytes.
    return f'{json.dumps(head, ensure_ascii=False)[:-1]}, "{name}": {row["payload"]}}}'.encode()


DELIVERY = """
    select
      webhook_deliveries.event_id,
      webhook_endpoints.id as endpoint_id,
      webhook_endpoints.url,
      webhook_endpoints.header_prefix,
      webhook_endpoints.format,
      webhook_endpoints.timeout_seconds,
      webhook_endpoints.status,
      events.type,
      split_part(events.aggregate, ':', 1) as aggregate_type,
      substring(events.aggregate from ':(.*)') as aggregate_id,
      to_char(events.occurred_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as occurred_at,
      events.payload::text as payload
    from public.webhook_deliveries
    join public.webhook_endpoints on webhook_endpoints.id = webhook_deliveries.webhook_endpoint_id
    join public.events on events.id = webhook_deliveries.event_id
    where webhook_deliveries.id = %(id)s
      and webhook_deliveries.job_id = %(job_id)s
"""


def send(delivery: Delivery, settings: Settings) -> Reply:
    limits = Limits(
        connect_seconds=min(CONNECT_SECONDS, delivery.timeout_seconds),
        seconds=delivery.timeout_seconds,
        max_body_bytes=NO_LIMIT,
    )
    try:
        with stream(
            "POST",
            delivery.url,
            policy=policy_of(settings),
            headers=headers_of(delivery),
            body=delivery.body,
            limits=limits,
        ) as answer:
            body, note = beginning(answer.body)
            return Reply(answer.status, answer.headers, body.decode("utf-8", "replace").replace("\x00", ""), note)
    except JobError as error:
        return Reply(note=error)


def headers_of(delivery: Delivery) -> dict[str, str]:
    # The event keeps its id however often it is sent, so a receiver can recognize repeats.
    now = int(time.time())
    signed = signed_headers(delivery.secrets, str(delivery.event_id), now, delivery.body, delivery.header_prefix)
    return {
        "Content-Type": "application/json",
        "User-Agent": "tickwork-webhooks/1",
        **signed,
        f"{delivery.header_prefix}Event-Type": delivery.event_type,
        f"{delivery.header_prefix}Delivery-Id": str(delivery.id),
    }


def beginning(blocks: Iterator[bytes]) -> tuple[bytes, JobError | None]:
    """As much as is worth reading, and why there is no more."""
    read = b""
    try:
        for block in blocks:
            read += block[: MAX_READ - len(read)]
            if len(read) == MAX_READ:
                return read, Retryable("The response was longer than 16 kB and was cut", code="ANSWER_CUT")
    except Unreachable as error:
        return read, error
    return read, None


def judged(reply: Reply) -> tuple[Verdict, JobError | None]:
    """What the response means for the endpoint, and how the attempt ends; None is a success."""
    status = reply.http_status
    if status is None:
        assert reply.note is not None
        # Also for an address that is not allowed: the DNS entry may be wrong only for now.
        error = Retryable(str(reply.note), code=reply.note.code)
        error.for_operator = reply.note.for_operator
        return "down", error
    code, said = f"HTTP_{status}", f"The endpoint responded with {status}"
    if 200 <= status < 300:
        return "delivered", None
    if 300 <= status < 400:
        return "down", Retryable(f"{said}: redirects are not followed. Use the address that it redirects to", code=code)
    pause = pause_of(reply.headers.get("retry-after"))
    if status == 429:
        return "throttled", RateLimited(f"{said}: it asked to wait", delay=pause)
    if status == 410:
        return "gone", Permanent(f"{said}: it is gone, and has been disabled", code=code)
    if status < 500 and status not in PASSING:
        return "refused", Permanent(said, code=code)
    return "down", Retryable(said, code=code, delay=pause)


def note(
    delivery: Delivery, reply: Reply, verdict: Verdict, error: JobError | None, latency: int, connection: Connection
) -> None:
    found = "select from public.webhook_deliveries where id = %s"
    if connection.execute(found, [delivery.id]).fetchone() is None:
        raise Permanent("The endpoint was deleted during the call", code="DELIVERY_MISSING")
    # A receiver knows its secret and may send it back, in full or in part.
    named = dict(zip(("current", "previous"), delivery.secrets, strict=False))
    keys = {f"key of {name}": secret.removeprefix(PREFIX) for name, secret in named.items()}
    secrets = {**named, **keys}
    told = error or reply.note
    note_delivery(
        connection,
        delivery.id,
        verdict,
        http_status=reply.http_status,
        response_headers=redacted_headers(reply.headers, secrets, MAX_KEPT) if reply.http_status else None,
        response_body=redacted(reply.body, secrets)[:MAX_KEPT] if reply.http_status else None,
        latency_ms=latency,
        error_code=told.code if told else None,
        error_message=str(told) if told else None,
        retry_after_seconds=getattr(error, "delay", None),
    )


DELIVER_WEBHOOK: Handler[Payload] = Handler(Payload, deliver_webhook, Result)
