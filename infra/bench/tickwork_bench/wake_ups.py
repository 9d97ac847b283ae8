"""How long it takes from enqueuing a job to its start, by how the worker hears of it."""

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from uuid import uuid4

from tickwork.waking import announcer
from tickwork.waking.rabbitmq import Broker, text_of
from tickwork_bench.contenders import tickwork
from tickwork_bench.latency import measured, started
from tickwork_bench.measure import Bench, Measurement, Result, latency_figures

URL = os.environ.get("TICKWORK_BENCH_AMQP_URL", "amqp://guest:guest@127.0.0.1:5672/%2F")
NOTIFY, RABBITMQ, POLLING = "NOTIFY", "RabbitMQ", "polling every second"


def run(bench: Bench) -> Result:
    """Each worker has a database of its own; all of them get a job in turn."""
    notes = []
    with ExitStack() as running:
        trials = {
            NOTIFY: started(bench, tickwork, running),
            POLLING: started(bench, tickwork, running, tickwork.poll),
        }
        try:
            broker = running.enter_context(own_exchange())
        except Exception as error:
            notes.append(f"RabbitMQ was left out: {text_of(error)}. TICKWORK_BENCH_AMQP_URL names another one")
        else:
            trials[RABBITMQ] = started(bench, tickwork, running, partial(tickwork.poll, broker=broker))
        samples = measured(bench, trials)
    return Result(latency_figures(samples, NOTIFY), notes=notes)


@contextmanager
def own_exchange() -> Iterator[Broker]:
    """Everybody who enqueues in this process announces it there."""
    broker = Broker(URL, f"tickwork-bench-{uuid4()}", "jobs.trigger")
    broker.connect().close()
    os.environ |= {"TICKWORK_AMQP_URL": broker.url, "TICKWORK_AMQP_EXCHANGE": broker.exchange}
    try:
        yield broker
    finally:
        if own := announcer.announcer_of(os.getpid()):
            own.close()
        del os.environ["TICKWORK_AMQP_URL"], os.environ["TICKWORK_AMQP_EXCHANGE"]
        connection = broker.connect()
        connection.channel().exchange_delete(broker.exchange)
        connection.close()


WAKE_UPS = Measurement("wake_ups", "from enqueuing a job to its start: NOTIFY, RabbitMQ or polling", run)
