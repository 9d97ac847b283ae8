"""Endpoints, events and deliveries, for tests."""

from base64 import b64encode
from typing import Any
from uuid import UUID

import pytest

from tests.world import World
from tickwork.client import Tickwork
from tickwork.families.webhook.deliver_webhook import DELIVER_WEBHOOK
from tickwork.families.webhook.http_request import HTTP_REQUEST
from tickwork.jobs.handler import Handlers
from tickwork.jobs.rows import ClaimedJob, Job
from tickwork.runtime.deadline import Deadline
from tickwork.runtime.work import work
from tickwork.tools import events

URL = "https://hooks.example/in"
KEY = b64encode(bytes(range(32))).decode()
HANDLERS: Handlers = {"deliver_webhook": DELIVER_WEBHOOK, "http_request": HTTP_REQUEST}


def endpoint(world: World, tenant: UUID, *event_types: str, url: str = URL, **columns: Any) -> UUID:
    values = {"tenant_id": tenant, "url": url, "event_types": list(event_types), **columns}
    marks = ", ".join(f"%({name})s" for name in values)
    query = f"insert into webhook_endpoints ({', '.join(values)}) values ({marks}) returning id"
    row = world.admin.execute(query, values).fetchone()
    assert row is not None
    found: UUID = row["id"]
    return found


def emit(world: World, tenant: UUID, type: str = "invoice.paid", **payload: Any) -> UUID:
    return world.service.events.emit_event(tenant, type, "invoice:1", payload)


def deliveries(world: World, endpoint: UUID | None = None) -> list[dict[str, Any]]:
    return world.rows(
        "select * from webhook_deliveries where webhook_endpoint_id = coalesce(%s, webhook_endpoint_id) "
        "order by created_at, id",
        endpoint,
    )


def note(world: World, job: ClaimedJob, verdict: events.Verdict, **fields: Any) -> None:
    """What a handler notes of its job's delivery."""

    def work(connection: Any) -> None:
        world.queue.hold_job(job, connection)
        events.note_delivery(connection, UUID(job.payload["webhook_delivery_id"]), verdict, **fields)

    world.queue.database.transaction(work)


def attempt(world: World, verdict: events.Verdict, **fields: Any) -> Job:
    """Claim the next delivery and end it as its handler would."""
    job = world.claim("webhook")
    note(world, job, verdict, **fields)
    if verdict == "delivered":
        return world.queue.complete_job(job)
    retryable = verdict in ("down", "throttled")
    return world.queue.fail_job(job, {"code": verdict.upper(), "message": verdict}, retryable=retryable)


def state(world: World, endpoint: UUID) -> dict[str, Any]:
    return world.row("select * from webhook_endpoints where id = %s", endpoint)


def make_due(world: World) -> None:
    """Let the backoff of every job pass."""
    world.run("update jobs set run_at = clock_timestamp() where status = 'queued' and run_at > clock_timestamp()")


class Sender:
    """A tenant with an endpoint and its secret, and a function that delivers."""

    def __init__(self, world: World, tenant: UUID | None = None) -> None:
        self.world = world
        self.client = Tickwork(world.service.database, secret_key=KEY)
        self.tenant = tenant or world.tenant()

    def add(self, url: str, *event_types: str, **columns: Any) -> tuple[UUID, str]:
        row = self.client.webhooks.create_webhook_endpoint(self.tenant, url, event_types, **columns)
        return row["webhook_endpoint_id"], row["secret"]

    def rotate(self, endpoint: UUID, overlap_hours: float = 1) -> str:
        secret: str = self.client.webhooks.rotate_webhook_secret(endpoint, overlap_hours)["secret"]
        return secret

    def emit(self, type: str = "invoice.paid", **payload: Any) -> UUID:
        return emit(self.world, self.tenant, type, **payload)

    def work(self) -> None:
        """Deliver all that is due."""
        work(self.world.queue, "webhook", HANDLERS, Deadline(120, 100))

    def delivery(self) -> dict[str, Any]:
        (found,) = deliveries(self.world)
        return found

    def job(self) -> Job:
        return Job(**self.world.row("select * from jobs where id = %s", self.delivery()["job_id"]))


@pytest.fixture
def sender(world: World, monkeypatch: pytest.MonkeyPatch) -> Sender:
    settings = {"DATABASE_URL": world.worker_url, "SECRET_KEY": KEY, "OUTBOUND_ALLOW": "loopback", "OUTBOUND_HTTP": "1"}
    for name, value in settings.items():
        monkeypatch.setenv(f"TICKWORK_{name}", value)
    return Sender(world)
