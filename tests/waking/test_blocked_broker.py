"""A RabbitMQ with a real memory alarm, which blocks everybody who publishes. `make test-broker`: not beside others."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.servers.wire import Wire as Wire
from tests.waking.test_rabbitmq import broker as broker  # a fixture
from tests.waking.test_rabbitmq import environment as environment  # a fixture
from tests.waking.test_rabbitmq import is_done, listening, working
from tests.waking.test_rabbitmq import wire as wire  # a fixture
from tests.world import World
from tests.world.waiting import until
from tickwork.waking import announcer, rabbitmq
from tickwork.waking.rabbitmq import Broker

pytestmark = pytest.mark.skipif(
    "TICKWORK_TEST_BLOCKED_BROKER" not in os.environ, reason="it blocks the broker for everybody: make test-broker"
)
POLL_SECONDS = 0.5


def control(*command: str) -> str:
    done = subprocess.run(["rabbitmqctl", "--quiet", *command], check=True, capture_output=True, text=True)
    return done.stdout.strip()


@contextmanager
def memory_alarm() -> Iterator[None]:
    """As if the broker had used up its memory."""
    usual = control("eval", "vm_memory_monitor:get_vm_memory_high_watermark().")
    control("set_vm_memory_high_watermark", "0.0001")
    try:
        until(lambda: "memory" in control("eval", "rabbit_alarm:get_alarms()."))
        yield
    finally:
        control("set_vm_memory_high_watermark", usual)
        until(lambda: "memory" not in control("eval", "rabbit_alarm:get_alarms()."))


def test_a_broker_that_is_out_of_memory_fails_and_delays_no_enqueue(
    world: World, environment: Broker, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    said: list[tuple[str, str]] = []
    note = lambda verb, *_, **fields: said.append((verb, str(fields.get("reason"))))  # noqa: E731
    monkeypatch.setattr(rabbitmq, "log", note)
    monkeypatch.setattr(rabbitmq, "FIRST_PAUSE_SECONDS", 0.01)

    with working(world, environment, poll_seconds=POLL_SECONDS), listening(environment) as heard:
        first = world.job()
        until(lambda: heard)
        until(is_done(world, first))
        heard.clear()
        with memory_alarm():
            jobs = [world.job() for _ in range(announcer.MAX_WAITING * 3)]
            until(lambda: all(is_done(world, job)() for job in jobs))
            until(lambda: any("ConnectionBlockedTimeout" in reason for _, reason in said))
            alone = [done_alone(world) for _ in range(10)]
        # Whoever announces tries again with the next job.
        until(lambda: world.job() and heard, pause=0.2)

    with capsys.disabled():
        print(f"\nblocked: {max(alone):.2f} s at most until a job started, with a poll every {POLL_SECONDS} s")


def done_alone(world: World) -> float:
    """How many seconds a job waited while nothing else was due."""
    job = world.job()
    until(is_done(world, job))
    waited: float = world.value(
        "select extract(epoch from started_at - created_at)::float from jobs where id = %s", job.id
    )
    return waited
