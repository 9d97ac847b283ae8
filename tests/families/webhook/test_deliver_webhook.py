"""deliver_webhook: what is sent, what each answer means, and what never happens."""

import gzip
import hashlib
import hmac
import json
import threading
import tracemalloc
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path
from typing import Any

import pytest
from standardwebhooks import Webhook

from tests.servers.hostile import (
    NOT_MEANT_TO_HANG,
    Authority,
    Caller,
    HostileServer,
    Reply,
    answer,
    hostile_server,
    raw,
    redirect,
)
from tests.world.crowd import with_workers
from tests.world.receivers import HANDLERS, Sender, deliveries, make_due, state
from tests.world.receivers import sender as sender  # a fixture
from tests.world.waiting import until
from tickwork.queue import Queue
from tickwork.runtime.deadline import Deadline
from tickwork.runtime.work import work

OK = b"HTTP/1.1 200 OK\r\n"
DISABLE = "update webhook_endpoints set status = 'disabled'"


@pytest.fixture
def receiver() -> Iterator[HostileServer]:
    with hostile_server(answer(b"thanks", "X-Received: yes")) as receiver:
        yield receiver


def verify_signature(secret: str, body: bytes, header: str) -> bool:
    """As the source documents tell receivers to."""
    expected = hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()
    return hmac.compare_digest(expected, header.removeprefix("sha256="))


def test_an_event_arrives_signed_and_its_answer_is_kept(sender: Sender, receiver: HostileServer) -> None:
    endpoint, secret = sender.add(receiver.url("/hooks?a=b"))
    event = sender.emit(amount=1.10, name="Grüße 😀", nested={"a": [1, None]})

    sender.work()

    (seen,) = receiver.requests
    assert (seen.method, seen.target) == ("POST", "/hooks?a=b")
    body = json.loads(seen.body)
    assert list(body) == ["type", "timestamp", "aggregate_type", "aggregate_id", "data"]
    assert (body["type"], body["aggregate_type"], body["aggregate_id"]) == ("invoice.paid", "invoice", "1")
    assert body["data"] == {"amount": 1.10, "name": "Grüße 😀", "nested": {"a": [1, None]}}
    occurred_at = sender.world.value("select occurred_at from events")
    assert datetime.fromisoformat(body["timestamp"]) == occurred_at
    assert Webhook(secret).verify(seen.body, dict(seen.headers)) == body
    assert verify_signature(secret, seen.body, seen.headers["x-bpc-signature"])
    delivery = sender.delivery()
    assert seen.headers["webhook-id"] == str(event)
    assert seen.headers["x-bpc-delivery-id"] == str(delivery["id"])
    assert seen.headers["x-bpc-event-type"] == "invoice.paid"
    assert seen.headers["content-type"] == "application/json"
    assert (delivery["status"], delivery["http_status"], delivery["response_body"]) == ("delivered", 200, "thanks")
    assert delivery["response_headers"]["x-received"] == "yes"
    assert (delivery["attempts"], sender.job().status) == (1, "done")
    assert sender.job().result == {"http_status": 200, "latency_ms": delivery["latency_ms"]}
    assert state(sender.world, endpoint)["failures"] == 0


def test_an_endpoint_gets_the_body_of_the_source_documents_if_it_asks_for_it(
    sender: Sender, receiver: HostileServer
) -> None:
    _, secret = sender.add(receiver.url(), format="bpc")
    event = sender.emit(amount=1.10, name="Grüße 😀")

    sender.work()

    (seen,) = receiver.requests
    occurred_at = sender.world.value("select occurred_at from events")
    body = json.loads(seen.body)
    assert list(body) == ["event_id", "event_type", "aggregate_type", "aggregate_id", "occurred_at", "payload"]
    assert body == {
        "event_id": str(event),
        "event_type": "invoice.paid",
        "aggregate_type": "invoice",
        "aggregate_id": "1",
        "occurred_at": body["occurred_at"],
        "payload": {"amount": 1.10, "name": "Grüße 😀"},
    }
    assert datetime.fromisoformat(body["occurred_at"]) == occurred_at
    assert body["occurred_at"].endswith("Z")
    assert Webhook(secret).verify(seen.body, dict(seen.headers)) == body
    assert verify_signature(secret, seen.body, seen.headers["x-bpc-signature"])
    assert seen.headers["x-bpc-event-type"] == "invoice.paid"


@pytest.mark.parametrize(
    ("aggregate", "type", "id"),
    [
        (None, None, None),
        ("settings", "settings", None),
        ("document:a:b", "document", "a:b"),
        ('inv"oice:\\n', 'inv"oice', "\\n"),
    ],
)
@pytest.mark.parametrize("format", ["standard", "bpc"])
def test_an_aggregate_is_split_at_its_first_colon(
    sender: Sender, receiver: HostileServer, format: str, aggregate: str | None, type: str | None, id: str | None
) -> None:
    sender.add(receiver.url(), format=format)
    sender.client.events.emit_event(sender.tenant, "invoice.paid", aggregate)

    sender.work()

    body = json.loads(receiver.requests[0].body)
    assert (body["aggregate_type"], body["aggregate_id"]) == (type, id)


def test_the_prefix_of_the_headers_is_the_endpoints_to_choose(sender: Sender, receiver: HostileServer) -> None:
    _, secret = sender.add(receiver.url(), header_prefix="X-Acme-Hook-")
    sender.emit()

    sender.work()

    (seen,) = receiver.requests
    assert verify_signature(secret, seen.body, seen.headers["x-acme-hook-signature"])
    assert {"x-acme-hook-event-type", "x-acme-hook-delivery-id"} <= seen.headers.keys()
    assert not any(name.startswith("x-bpc-") for name in seen.headers)


DOWN, REFUSED = ("queued", "pending"), ("failed", "failed")


@pytest.mark.parametrize(
    ("reply", "statuses", "code"),
    [
        (answer(status="204 No Content"), ("done", "delivered"), None),
        (answer(status="299 Odd"), ("done", "delivered"), None),
        (redirect("/elsewhere"), DOWN, "HTTP_302"),
        (answer(status="304 Not Modified"), DOWN, "HTTP_304"),
        (answer(status="400 Bad Request"), REFUSED, "HTTP_400"),
        (answer(status="401 Unauthorized"), REFUSED, "HTTP_401"),
        (answer(status="404 Not Found"), REFUSED, "HTTP_404"),
        (answer(status="408 Request Timeout"), DOWN, "HTTP_408"),
        (answer(status="429 Too Many Requests"), DOWN, "RATE_LIMITED"),
        (answer(status="500 Internal Server Error"), DOWN, "HTTP_500"),
        (answer(status="503 Service Unavailable"), DOWN, "HTTP_503"),
        (raw(b""), DOWN, "CONNECTION_LOST"),
        (raw(b"hello\r\n"), DOWN, "BAD_ANSWER"),
        (raw(OK + b"X-Large: " + b"x" * 100_000 + b"\r\n\r\n"), DOWN, "ANSWER_TOO_LARGE"),
    ],
)
def test_each_answer_ends_the_attempt_as_it_should(
    sender: Sender, receiver: HostileServer, reply: Reply, statuses: tuple[str, str], code: str | None
) -> None:
    sender.add(receiver.url())
    sender.emit()
    receiver.reply = reply

    sender.work()

    job, delivery = sender.job(), sender.delivery()
    assert ((job.status, delivery["status"]), delivery["error_code"]) == (statuses, code)
    assert (job.error_code, delivery["attempts"]) == (code, 1)
    assert len(receiver.requests) == 1


def test_the_schedule_is_that_of_standard_webhooks(sender: Sender, receiver: HostileServer) -> None:
    sender.add(receiver.url())
    sender.emit()
    receiver.reply = answer(status="500 No")
    waits: list[float] = []
    while not waits or sender.job().status == "queued":
        sender.world.run("update webhook_endpoints set failures = 0")
        sender.work()
        waits.append(sender.world.value("select extract(epoch from run_at - updated_at)::float from jobs"))
        make_due(sender.world)

    assert (sender.job().status, sender.delivery()["status"], len(receiver.requests)) == ("dead", "failed", 10)
    expected = [5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400]
    assert all(0.79 * want <= got <= 1.21 * want for want, got in zip(expected, waits, strict=False))
    assert len({seen.headers["webhook-id"] for seen in receiver.requests}) == 1
    assert len({seen.body for seen in receiver.requests}) == 1


@pytest.mark.parametrize("status", ["429 Too Many Requests", "503 Service Unavailable"])
@pytest.mark.parametrize("is_date", [False, True], ids=["seconds", "date"])
def test_a_retry_after_is_honoured(sender: Sender, receiver: HostileServer, status: str, is_date: bool) -> None:
    sender.add(receiver.url())
    sender.emit()
    at = format_datetime(datetime.now(UTC) + timedelta(seconds=500), usegmt=True) if is_date else "500"
    receiver.reply = answer(b"", f"Retry-After: {at}", status=status)

    sender.work()

    wait = sender.world.value("select extract(epoch from run_at - updated_at)::float from jobs")
    assert 480 < wait <= 500


def test_an_endpoint_that_is_gone_gets_nothing_more(sender: Sender, receiver: HostileServer) -> None:
    endpoint, _ = sender.add(receiver.url())
    receiver.reply = answer(status="410 Gone")
    for _ in range(3):
        sender.emit()

    sender.work()

    assert len(receiver.requests) == 1
    assert state(sender.world, endpoint)["status"] == "disabled"
    assert {each["status"] for each in deliveries(sender.world)} == {"failed"}


def test_an_answer_without_end_is_cut_and_its_status_counts(sender: Sender, receiver: HostileServer) -> None:
    def endless(caller: Caller) -> None:
        caller.send(OK + b"\r\n")
        while not caller.closing.is_set():
            caller.send(b"<b>\x00ha</b>" * 1000)

    sender.add(receiver.url())
    sender.emit()
    receiver.reply = endless

    sender.work()

    delivery = sender.delivery()
    assert (delivery["status"], delivery["error_code"]) == ("delivered", "ANSWER_CUT")
    assert 0 < len(delivery["response_body"]) <= 4096


def test_a_bomb_is_not_unpacked_further_than_it_is_read(sender: Sender, receiver: HostileServer) -> None:
    sender.add(receiver.url())
    sender.emit()
    receiver.reply = answer(gzip.compress(bytes(50_000_000)), "Content-Encoding: gzip")
    tracemalloc.start()

    sender.work()

    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert (sender.delivery()["status"], sender.delivery()["error_code"]) == ("delivered", "ANSWER_CUT")
    assert peak < 10_000_000


@pytest.mark.parametrize(
    ("at_once", "slowly", "status"),
    [
        (b"", OK + b"X-Slow: " + b"x" * 1000 + b"\r\n\r\n", "pending"),
        (OK + b"Content-Length: 1000\r\n\r\n", b"x" * 1000, "delivered"),
    ],
    ids=["head", "body"],
)
def test_a_receiver_that_dribbles_is_left_at_the_deadline(
    sender: Sender,
    receiver: HostileServer,
    at_once: bytes,
    slowly: bytes,
    status: str,
) -> None:
    def reply(caller: Caller) -> None:
        caller.send(at_once)
        caller.dribble(slowly)

    sender.add(receiver.url(), timeout_seconds=0.7)
    sender.emit()
    receiver.reply = reply

    sender.work()

    assert (sender.delivery()["status"], sender.delivery()["error_code"]) == (status, "TIMEOUT")


@pytest.mark.parametrize(
    ("host", "days", "is_trusted", "code"),
    [
        ("127.0.0.1", 30, True, None),
        ("127.0.0.1", -1, True, "CERTIFICATE_INVALID"),
        ("other.example", 30, True, "CERTIFICATE_INVALID"),
        ("127.0.0.1", 30, False, "CERTIFICATE_INVALID"),
    ],
    ids=["good", "expired", "of another host", "signed by a stranger"],
)
def test_a_bad_certificate_ends_the_attempt_before_anything_is_sent(
    sender: Sender,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    host: str,
    days: int,
    is_trusted: bool,
    code: str | None,
) -> None:
    authority = Authority(tmp_path)
    if is_trusted:
        monkeypatch.setenv("TICKWORK_OUTBOUND_AUTHORITIES", str(authority.file))
    with hostile_server(answer(), tls=authority.context(host, days=days)) as receiver:
        sender.add(receiver.url(scheme="https"))
        sender.emit()

        sender.work()

        assert sender.delivery()["error_code"] == code
        assert len(receiver.requests) == (code is None)
    assert sender.delivery()["status"] == ("pending" if code else "delivered")


def test_a_rotated_secret_and_the_one_before_are_both_good_until_the_overlap_is_over(
    sender: Sender, receiver: HostileServer
) -> None:
    endpoint, old = sender.add(receiver.url())
    new = sender.rotate(endpoint, 24)
    sender.emit()
    sender.work()
    sender.world.run("update tickwork.secrets set expires_at = now() where name = 'previous'")
    sender.emit()
    sender.work()

    first, second = receiver.requests
    for secret in (old, new):
        Webhook(secret).verify(first.body, dict(first.headers))
    Webhook(new).verify(second.body, dict(second.headers))
    with pytest.raises(Exception, match="matching signature"):
        Webhook(old).verify(second.body, dict(second.headers))
    assert len(first.headers["webhook-signature"].split()) == 2
    assert verify_signature(new, first.body, first.headers["x-bpc-signature"])


def test_a_repeat_carries_the_same_ids_and_a_fresh_timestamp(sender: Sender, receiver: HostileServer) -> None:
    sender.add(receiver.url())
    sender.emit()
    sender.work()
    sender.world.service.webhooks.redeliver_webhook(sender.delivery()["id"])

    sender.work()

    first, second = receiver.requests
    for name in ("webhook-id", "x-bpc-delivery-id", "x-bpc-signature"):
        assert first.headers[name] == second.headers[name]
    assert int(second.headers["webhook-timestamp"]) >= int(first.headers["webhook-timestamp"])


@pytest.mark.parametrize(
    "change", ["delete from webhook_endpoints", "update webhook_endpoints set status = 'disabled'"]
)
def test_nothing_is_sent_to_an_endpoint_that_is_gone(sender: Sender, receiver: HostileServer, change: Any) -> None:
    sender.add(receiver.url())
    sender.emit()
    claimed = sender.world.claim("webhook")
    sender.world.run(change)
    sender.world.queue.release_job(claimed)

    sender.work()

    assert receiver.requests == []
    assert sender.world.reload(claimed).error_code in ("DELIVERY_MISSING", "ENDPOINT_DISABLED")


def test_a_job_that_somebody_made_up_sends_nothing(sender: Sender, receiver: HostileServer) -> None:
    sender.add(receiver.url())
    sender.emit()
    payload = {"webhook_delivery_id": str(sender.delivery()["id"])}
    sender.work()
    sender.world.service.jobs.enqueue_job(sender.tenant, "deliver_webhook", payload, lane="mine")

    sender.work()

    assert len(receiver.requests) == 1
    assert sender.world.value("select error_code from jobs where lane = 'mine'") == "DELIVERY_MISSING"


def test_without_a_secret_nothing_is_sent(sender: Sender, receiver: HostileServer) -> None:
    sender.add(receiver.url())
    sender.emit()
    sender.world.run("delete from tickwork.secrets")

    sender.work()

    assert (receiver.requests, sender.job().error_code) == ([], "SECRET_MISSING")
    assert sender.delivery()["status"] == "failed"


def test_two_tenants_at_one_address_have_secrets_of_their_own(sender: Sender, receiver: HostileServer) -> None:
    other = Sender(sender.world, sender.world.tenant("birch"))
    secrets = [each.add(receiver.url())[1] for each in (sender, other)]
    for each in (sender, other):
        each.emit()

    sender.work()

    good = [[is_good(secret, seen) for secret in secrets] for seen in receiver.requests]
    assert sorted(good) == [[False, True], [True, False]]


def is_good(secret: str, seen: Any) -> bool:
    try:
        Webhook(secret).verify(seen.body, dict(seen.headers))
    except Exception:
        return False
    return True


def test_a_slow_endpoint_of_one_tenant_delays_nobody_else(sender: Sender, receiver: HostileServer) -> None:
    slow_may_answer, is_over = threading.Event(), threading.Event()
    quick = Sender(sender.world, sender.world.tenant("birch"))

    def answer_slowly(caller: Caller) -> None:
        slow_may_answer.wait(NOT_MEANT_TO_HANG)
        caller.send(OK + b"\r\n")

    def keep_working(queue: Queue) -> None:
        while not is_over.wait(0.02):
            work(queue, "webhook", HANDLERS, Deadline(60, 1000))

    with hostile_server(answer_slowly) as slow:
        sender.add(slow.url())
        quick.add(receiver.url())
        for _ in range(20):
            sender.emit()
        working = threading.Thread(target=with_workers, args=(sender.world, 4, keep_working))
        working.start()
        until(lambda: slow.accepted == 3, "the slow one does not get what it may have")
        for _ in range(10):
            quick.emit()

        until(lambda: len(receiver.requests) == 10, "the slow one delays the other")

        assert slow.accepted == 3
        slow_may_answer.set()
        until(lambda: {each["status"] for each in deliveries(sender.world)} == {"delivered"})
        is_over.set()
        working.join()
