"""A real RabbitMQ, reached through a wire that can be cut: what it says helps, and nothing depends on it."""

import asyncio
import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit
from uuid import uuid4

import psycopg
import pytest
from pydantic import BaseModel

from tests.servers.wire import Wire
from tests.test_worker import worker
from tests.world import World
from tests.world.api import api_of, member_of
from tests.world.command_line import environment_for
from tests.world.waiting import PATIENCE, until
from tickwork.cli import diagnosis
from tickwork.client import AsyncTickwork, Tickwork
from tickwork.database.connection import Database
from tickwork.jobs.handler import Handler
from tickwork.queue import Queue
from tickwork.settings import load_settings
from tickwork.waking import announcer as announcing
from tickwork.waking import rabbitmq
from tickwork.waking.announcer import Announcer
from tickwork.waking.rabbitmq import Broker, BrokerCheck, required_check
from tickwork.waking.relay import relay
from tickwork.waking.subscriber import Subscriber
from tickwork.web import health
from tickwork.worker import Worker

URL = os.environ.get("TICKWORK_TEST_AMQP_URL", "amqp://guest:guest@127.0.0.1:5672/%2F")


def reached() -> bool:
    try:
        Broker(URL, "none", "none").connect().close()
    except Exception:
        return False
    return True


pytestmark = [
    pytest.mark.skipif(not reached(), reason=f"no RabbitMQ at {URL.rpartition('@')[2]}"),
    # pika leaves the sockets by which it wakes itself to the garbage collector when a connection fails.
    pytest.mark.filterwarnings("ignore:Exception ignored in. <socket:pytest.PytestUnraisableExceptionWarning"),
]


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rabbitmq, "FIRST_PAUSE_SECONDS", 0.01)
    monkeypatch.setattr(rabbitmq, "LAST_PAUSE_SECONDS", 0.1)
    # But not with a broker that takes long to let us in: what was to be announced meanwhile would be forgotten.
    monkeypatch.setattr(rabbitmq, "CONNECT_SECONDS", PATIENCE)


@pytest.fixture
def wire() -> Iterator[Wire]:
    place = urlsplit(URL)
    with Wire(str(place.hostname), place.port or 5672) as wire:
        yield wire


@pytest.fixture
def broker(wire: Wire) -> Iterator[Broker]:
    """With an exchange of its own, which is gone afterwards."""
    exchange = f"tickwork-test-{uuid4()}"
    place = urlsplit(URL)
    through = urlunsplit(place._replace(netloc=f"{place.username}:{place.password}@127.0.0.1:{wire.port}"))
    yield Broker(through, exchange, "jobs.trigger")
    with direct() as channel:
        channel.exchange_delete(exchange)


@contextmanager
def direct() -> Iterator[Any]:
    """A channel past the wire."""
    connection = Broker(URL, "none", "none").connect()
    try:
        yield connection.channel()
    finally:
        connection.close()


@contextmanager
def listening(broker: Broker) -> Iterator[list[dict[str, Any]]]:
    """What arrives in a queue of somebody else's."""
    heard: list[dict[str, Any]] = []
    is_ready, is_over = threading.Event(), threading.Event()

    def listen() -> None:
        with direct() as channel:
            channel.exchange_declare(broker.exchange, "direct", durable=True)
            queue = channel.queue_declare("", exclusive=True).method.queue
            channel.queue_bind(queue, broker.exchange, broker.routing_key)
            is_ready.set()
            for method, _, body in channel.consume(queue, auto_ack=True, inactivity_timeout=0.05):
                if is_over.is_set():
                    return
                if method:
                    heard.append(json.loads(body))

    thread = threading.Thread(target=listen, daemon=True)
    thread.start()
    assert is_ready.wait(PATIENCE)
    try:
        yield heard
    finally:
        is_over.set()
        thread.join(PATIENCE)


@contextmanager
def subscribed(broker: Broker) -> Iterator[tuple[Subscriber, list[bool]]]:
    woken: list[bool] = []
    subscriber = Subscriber(broker, lambda: woken.append(True))
    subscriber.start()
    try:
        yield subscriber, woken
    finally:
        subscriber.stop()


@pytest.fixture
def announcer(broker: Broker) -> Iterator[Announcer]:
    announcer = Announcer(broker)
    yield announcer
    announcer.close()


@pytest.fixture
def environment(broker: Broker, monkeypatch: pytest.MonkeyPatch) -> Iterator[Broker]:
    """Of a program that enqueues."""
    monkeypatch.setenv("TICKWORK_AMQP_URL", broker.url)
    monkeypatch.setenv("TICKWORK_AMQP_EXCHANGE", broker.exchange)
    announcing.announcer_of.cache_clear()
    yield broker
    if own := announcing.announcer_of(os.getpid()):
        own.close()
    announcing.announcer_of.cache_clear()


class Nothing(BaseModel):
    pass


@contextmanager
def working(world: World, broker: Broker, poll_seconds: float) -> Iterator[None]:
    """A worker that hears of jobs from the broker or by polling, but not from the database."""
    database = Database(world.worker_url, connections=2)
    handlers = {"greet_person": Handler(Nothing, lambda payload, tools: None)}
    queue = Queue(database, "worker-1")
    nowhere = "postgresql://nobody@127.0.0.1:1/nowhere"
    worker = Worker(queue, {"test": handlers}, nowhere, 60, poll_seconds=poll_seconds, broker=broker)
    thread = threading.Thread(target=worker.run, daemon=True)
    thread.start()
    try:
        yield
    finally:
        worker.stop()
        thread.join(PATIENCE)
        database.close()


def is_done(world: World, job: Any) -> Callable[[], bool]:
    return lambda: world.reload(job).status == "done"


def test_a_message_names_the_job_and_wakes_a_subscriber(broker: Broker, announcer: Announcer) -> None:
    job_id = uuid4()
    with listening(broker) as heard, subscribed(broker) as (subscriber, woken):
        until(subscriber.is_connected.is_set)
        woken.clear()
        announcer.announce(job_id)
        until(lambda: woken and heard)

    assert heard == [{"job_id": str(job_id)}]


@pytest.mark.parametrize("body", [b"", b"{", b"\xff\xfe", b'{"job_id": "; drop table jobs"}', b"[" * 100_000])
def test_what_is_in_a_message_does_not_matter(broker: Broker, body: bytes) -> None:
    with subscribed(broker) as (subscriber, woken):
        until(subscriber.is_connected.is_set)
        woken.clear()
        with direct() as channel:
            channel.basic_publish(broker.exchange, broker.routing_key, body)
        until(lambda: woken)
        assert subscriber.is_connected.is_set()


def test_a_worker_starts_a_job_without_waiting_for_its_poll(world: World, environment: Broker) -> None:
    with working(world, environment, poll_seconds=3600):
        # The first poll, and the first connection, are over when a job was done.
        first = world.job()
        until(is_done(world, first))
        second = world.job()
        until(is_done(world, second))


def test_every_client_with_a_database_announces_after_the_commit(world: World, environment: Broker) -> None:
    world.type()
    tenant = world.tenant()
    with listening(environment) as heard:
        one = world.service.jobs.enqueue_job(tenant, "greet_person")
        until(lambda: len(heard) == 1)
        many = world.service.jobs.enqueue_jobs([{"tenant_id": str(tenant), "type": "greet_person"}] * 3)
        until(lambda: len(heard) == 2)
        with psycopg.connect(world.url) as connection:
            Tickwork(connection).jobs.enqueue_job(tenant, "greet_person")
        last = world.service.jobs.enqueue_job(tenant, "greet_person")
        until(lambda: len(heard) == 3)

    # Nothing of the transaction of the application: when it commits, only the application knows.
    assert [each["job_id"] for each in heard] == [str(one.id), str(many[0].id), str(last.id)]


def test_the_client_with_an_event_loop_announces_too(world: World, environment: Broker) -> None:
    world.type()
    tenant = world.tenant()

    async def enqueue() -> Any:
        async with AsyncTickwork(world.url) as client:
            return await client.jobs.enqueue_job(tenant, "greet_person")

    with listening(environment) as heard:
        job = asyncio.run(enqueue())
        until(lambda: heard)

    assert heard == [{"job_id": str(job.id)}]


def test_the_api_announces_what_it_has_enqueued_and_nothing_else(world: World, environment: Broker) -> None:
    world.type()
    tenant = world.tenant()
    with listening(environment) as heard, api_of(world) as api:
        caller = api.as_user(member_of(world, tenant))
        assert caller.post("jobs?dry_run=true", type="greet_person").body["dry_run"] is True
        one = caller.post("jobs", type="greet_person")
        until(lambda: len(heard) == 1)
        caller.get("jobs")
        two = caller.post("jobs", type="greet_person")
        until(lambda: len(heard) == 2)

    assert [each["job_id"] for each in heard] == [one.body["id"], two.body["id"]]


def test_the_relay_announces_what_is_enqueued_by_sql(world: World, broker: Broker, announcer: Announcer) -> None:
    world.type()
    tenant = world.tenant()
    stopped = threading.Event()
    thread = threading.Thread(target=relay, args=(world.worker_url, announcer, stopped.is_set), daemon=True)
    thread.start()
    listens = (
        "select count(*) from pg_stat_activity "
        "where datname = current_database() and application_name = 'tickwork relay' and query like 'listen%%'"
    )

    with listening(broker) as heard:
        until(lambda: world.value(listens) == 1)
        world.run("select enqueue_job(%s, 'greet_person')", tenant)
        until(lambda: heard)
        stopped.set()
        thread.join(PATIENCE)

    assert heard[0] == {"job_id": str(announcing.UNKNOWN_JOB)}


def test_a_broker_that_dies_before_or_after_the_commit_fails_no_enqueue(
    world: World, environment: Broker, wire: Wire, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[str] = []
    monkeypatch.setattr(rabbitmq, "log", lambda verb, *_, **__: said.append(verb))
    with working(world, environment, poll_seconds=0.05):
        before = world.job()
        until(is_done(world, before))
        wire.cut()
        while_away = [world.job() for _ in range(200)]
        until(lambda: all(is_done(world, job)() for job in while_away))
        wire.mend()
        until(lambda: "find_broker" in said)
        until(is_done(world, world.job()))


def test_that_it_is_away_is_said_once(broker: Broker, wire: Wire, capsys: pytest.CaptureFixture[str]) -> None:
    with subscribed(broker) as (subscriber, _):
        until(subscriber.is_connected.is_set)
        wire.cut()
        tries = wire.accepted
        until(lambda: wire.accepted > tries + 5)
        wire.mend()
        until(subscriber.is_connected.is_set)

    said = [json.loads(line)["message"] for line in capsys.readouterr().out.splitlines()]
    assert said == ["lose_broker", "find_broker"]


def test_a_broker_that_reads_nothing_delays_no_enqueue(world: World, environment: Broker, wire: Wire) -> None:
    with working(world, environment, poll_seconds=0.05):
        until(is_done(world, world.job()))
        wire.stall()
        jobs = [world.job() for _ in range(announcing.MAX_WAITING * 3)]
        until(lambda: all(is_done(world, job)() for job in jobs))
        own = announcing.announcer_of(os.getpid())
        assert own is not None
        assert len(own._waiting) <= announcing.MAX_WAITING
        wire.cut()


def test_a_wrong_password_is_said_without_it_and_jobs_are_polled_for(
    world: World, broker: Broker, capsys: pytest.CaptureFixture[str]
) -> None:
    wrong = Broker(broker.url.replace("guest:guest@", "guest:hunter2@"), broker.exchange, broker.routing_key)
    announcer = Announcer(wrong)

    with working(world, wrong, poll_seconds=0.05):
        job = world.job()
        announcer.announce(job.id)
        until(is_done(world, job))
        assert announcer.flush(PATIENCE)
    announcer.close()

    said = capsys.readouterr().out
    assert "ACCESS_REFUSED" in said
    assert "hunter2" not in said


def test_an_exchange_that_somebody_has_declared_otherwise_is_used_as_it_is(
    broker: Broker, capsys: pytest.CaptureFixture[str]
) -> None:
    with direct() as channel:
        channel.exchange_declare(broker.exchange, "topic", durable=False)
    announcer = Announcer(broker)

    with subscribed(broker) as (subscriber, woken):
        until(subscriber.is_connected.is_set)
        woken.clear()
        announcer.announce(uuid4())
        until(lambda: woken)
    announcer.close()

    assert "inequivalent arg 'type'" in capsys.readouterr().out


def test_readiness_may_require_the_broker(broker: Broker, wire: Wire, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rabbitmq, "KEPT_SECONDS", 0.0)
    settings = {"TICKWORK_DATABASE_URL": "postgresql://somebody@db.example/app", "TICKWORK_AMQP_URL": broker.url}
    assert required_check(load_settings(settings)) == {}
    is_there = required_check(load_settings({**settings, "BPC_HEALTH_REQUIRE_QUEUE": "true"}))["broker"]

    assert is_there()
    wire.cut()
    assert not is_there()


def test_the_api_is_not_ready_without_a_broker_that_is_required(
    world: World, broker: Broker, wire: Wire, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rabbitmq, "KEPT_SECONDS", 0.0)
    monkeypatch.setattr(health, "KEPT_SECONDS", 0.0)
    monkeypatch.setattr(health, "ANSWER_SECONDS", PATIENCE)

    with api_of(world, TICKWORK_AMQP_URL=broker.url, TICKWORK_HEALTH_REQUIRE_AMQP="true") as api:
        assert api.get("/health/ready").status == 200
        wire.cut()
        answer = api.get("/health/ready")

    assert (answer.status, answer.body) == (503, {"status": "not ready", "failed": ["broker"]})


def test_a_worker_whose_broker_is_away_says_so_once_and_polls(world: World, wire: Wire, tmp_path: Path) -> None:
    wire.cut()
    world.type("quick")
    settings = {"TICKWORK_AMQP_URL": f"amqp://guest:guest@127.0.0.1:{wire.port}/", "BPC_QUEUE_ENABLED": "true"}

    with worker(world, tmp_path, **settings) as process:
        until(lambda: wire.accepted > 2)
        until(is_done(world, world.job("quick")))
        assert process.stop() == 0

    # Every line is ours: pika adds none.
    assert [line["message"] for line in process.lines()].count("lose_broker") == 1


def test_the_command_relays_until_it_is_stopped(world: World, broker: Broker, tmp_path: Path) -> None:
    settings = {"TICKWORK_AMQP_URL": broker.url, "TICKWORK_AMQP_EXCHANGE": broker.exchange}
    environment = environment_for(tmp_path, {**settings, "TICKWORK_DATABASE_URL": world.worker_url})
    command = [str(Path(sys.executable).with_name("tickwork")), "relay"]
    world.type()
    tenant = world.tenant()

    def enqueue() -> bool:
        # Again and again: nobody says when it listens.
        world.run("select enqueue_job(%s, 'greet_person')", tenant)
        return bool(heard)

    with listening(broker) as heard, subprocess.Popen(command, env=environment) as process:
        try:
            until(enqueue, pause=0.2)
        finally:
            process.terminate()
        assert process.wait(PATIENCE) == 0


def test_the_doctor_asks_for_it(broker: Broker, wire: Wire) -> None:
    settings = load_settings({"TICKWORK_DATABASE_URL": "postgresql://", "TICKWORK_AMQP_URL": broker.url})

    assert [each.verdict for each in diagnosis.broker(settings)] == ["good"]
    wire.cut()
    assert [each.verdict for each in diagnosis.broker(settings)] == ["bad"]
    assert list(diagnosis.broker(load_settings({"TICKWORK_DATABASE_URL": "postgresql://"}))) == []


def test_strangers_make_no_connections_to_it(broker: Broker, wire: Wire, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rabbitmq, "KEPT_SECONDS", 3600.0)
    check = BrokerCheck(broker)

    assert [check.is_there() for _ in range(20)] == [True] * 20
    assert wire.accepted == 1
