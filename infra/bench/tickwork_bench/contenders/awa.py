"""awa, whose worker is Rust around handlers in Python, on uvloop. Left out where there is no wheel of it."""

import asyncio
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import uvloop

from tickwork_bench.contenders import Sender, send_all
from tickwork_bench.processes import Watch

try:
    import awa

    WHY_NOT = None
except ImportError as error:
    WHY_NOT = f"awa is left out: {error}"

QUEUE = "bench"


@dataclass
class DoNothing:
    number: int


def versions() -> dict[str, str]:
    try:
        return {"awa-pg": version("awa-pg")}
    except PackageNotFoundError:
        return {}


def prepare(url: str) -> None:
    with closing(awa.Client(url)) as client:
        client.migrate()
        # Otherwise the first worker would choose it: jobs may be sent before there is one.
        client.install_queue_storage()


def fill(url: str, jobs: int) -> None:
    prepare(url)
    with sender(url) as to_queue:
        send_all(to_queue, url, jobs)


def drain(url: str, watch: Watch, max_workers: int) -> None:
    uvloop.run(work(url, watch, max_workers))


async def work(url: str, watch: Watch, max_workers: int) -> None:
    async def do_nothing(job: Any) -> None:
        watch.tick()

    client = awa.AsyncClient(url)
    client.task(DoNothing, queue=QUEUE)(do_nothing)
    await client.start([(QUEUE, max_workers)])
    await asyncio.Event().wait()


@contextmanager
def sender(url: str) -> Iterator[Sender]:
    with closing(awa.Client(url)) as client:

        def one_by_one(jobs: int) -> None:
            for number in range(jobs):
                client.insert(DoNothing(number), queue=QUEUE)

        def in_bulk(jobs: int) -> None:
            client.enqueue_many_copy([DoNothing(number) for number in range(jobs)], queue=QUEUE)

        yield Sender(one_by_one, in_bulk)
