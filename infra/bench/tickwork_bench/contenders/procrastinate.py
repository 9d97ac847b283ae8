"""Procrastinate, with psycopg and its own defaults."""

from collections.abc import Iterator
from contextlib import contextmanager

from procrastinate import App, PsycopgConnector, SyncPsycopgConnector

from tickwork_bench.contenders import Sender, send_all
from tickwork_bench.processes import Watch

TASK = "do_nothing"


def prepare(url: str) -> None:
    with App(connector=SyncPsycopgConnector(conninfo=url)).open() as app:
        app.schema_manager.apply_schema()


def fill(url: str, jobs: int) -> None:
    prepare(url)
    with sender(url) as to_queue:
        send_all(to_queue, url, jobs)


def drain(url: str, watch: Watch, concurrency: int) -> None:
    work(url, watch, wait=False, concurrency=concurrency)


def listen(url: str, watch: Watch) -> None:
    work(url, watch, wait=True, concurrency=1)


def work(url: str, watch: Watch, *, wait: bool, concurrency: int) -> None:
    async def do_nothing(number: int) -> None:
        watch.tick()

    app = App(connector=PsycopgConnector(conninfo=url))
    app.task(name=TASK)(do_nothing)
    app.run_worker(wait=wait, concurrency=concurrency)


@contextmanager
def sender(url: str) -> Iterator[Sender]:
    with App(connector=SyncPsycopgConnector(conninfo=url)).open() as app:
        task = app.configure_task(TASK)

        def one_by_one(jobs: int) -> None:
            for number in range(jobs):
                task.defer(number=number)

        def in_bulk(jobs: int) -> None:
            task.batch_defer(*({"number": number} for number in range(jobs)))

        yield Sender(one_by_one, in_bulk)
