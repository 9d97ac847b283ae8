"""PgQueuer, with asyncpg, uvloop and the autovacuum settings, as its own command line would run it."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Any

import asyncpg
import uvloop
from pgqueuer import AsyncpgDriver, PgQueuer, Queries
from pgqueuer.types import QueueExecutionMode

from tickwork_bench.contenders import Sender, send_all
from tickwork_bench.processes import Watch

ENTRYPOINT = "do_nothing"


def prepare(url: str) -> None:
    async def install() -> None:
        connection = await asyncpg.connect(url)
        queries = Queries(AsyncpgDriver(connection))
        await queries.install()
        await queries.optimize_autovacuum()
        await connection.close()

    uvloop.run(install())


def fill(url: str, jobs: int) -> None:
    prepare(url)
    with sender(url) as to_queue:
        send_all(to_queue, url, jobs)


def drain(url: str, watch: Watch, batch_size: int) -> None:
    uvloop.run(work(url, watch, batch_size, QueueExecutionMode.drain))


def listen(url: str, watch: Watch) -> None:
    uvloop.run(work(url, watch, 10, QueueExecutionMode.continuous))


async def work(url: str, watch: Watch, batch_size: int, mode: QueueExecutionMode) -> None:
    async def do_nothing(job: Any) -> None:
        watch.tick()

    connection = await asyncpg.connect(url)
    queue = PgQueuer(AsyncpgDriver(connection))
    queue.entrypoint(ENTRYPOINT)(do_nothing)
    await queue.run(batch_size=batch_size, mode=mode)
    await connection.close()


@contextmanager
def sender(url: str) -> Iterator[Sender]:
    with closing(uvloop.new_event_loop()) as loop:
        connection = loop.run_until_complete(asyncpg.connect(url))
        queries = Queries(AsyncpgDriver(connection))

        async def one_by_one(jobs: int) -> None:
            for number in range(jobs):
                await queries.enqueue(ENTRYPOINT, payload_of(number))

        async def in_bulk(jobs: int) -> None:
            await queries.enqueue([ENTRYPOINT] * jobs, [payload_of(number) for number in range(jobs)], [0] * jobs)

        yield Sender(
            lambda jobs: loop.run_until_complete(one_by_one(jobs)), lambda jobs: loop.run_until_complete(in_bulk(jobs))
        )
        loop.run_until_complete(connection.close())


def payload_of(number: int) -> bytes:
    return b'{"number": %d}' % number
