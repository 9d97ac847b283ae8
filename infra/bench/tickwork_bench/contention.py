"""How concurrent claims of one family slow each other down: half take one job at a time, half take batches."""

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import chain
from typing import Any

import psycopg

from tickwork.errors import QueueError
from tickwork_bench.contenders import bare, tickwork
from tickwork_bench.measure import Bench, Figure, Measurement, Result, Target, Unit, percentile
from tickwork_bench.processes import Line, crowd

BARE = "bare loop"
# So many clients for so many jobs at a time.
CLIENTS = {1: 8, 50: 8}
TENANTS = 20
DEADLOCK = "40P01"
LOCK_WAITS = """
    select locks.pid, locks.waitstart
    from pg_locks as locks
    join pg_stat_activity as activity on activity.pid = locks.pid
    where not locks.granted
      and locks.waitstart < clock_timestamp() - interval '1 second'
      and activity.datname = current_database()
"""
LOOK_SECONDS = 0.2


@dataclass(frozen=True)
class Queue:
    fill: Callable[[str, int], None]
    add: Callable[[str, int], None]
    # Given a URL and a number of jobs: what completes those it holds and claims so many.
    claimer: Callable[[str, int], Callable[[], int]]


QUEUES = {
    "tickwork": Queue(partial(tickwork.fill, tenants=TENANTS), tickwork.add, tickwork.claimer),
    BARE: Queue(bare.fill, bare.add, bare.claimer),
}


@dataclass(frozen=True)
class Taken:
    """What one client saw in one round."""

    max_jobs: int
    milliseconds: list[float]
    jobs: int
    empty: int
    deadlocks: int


@dataclass(frozen=True)
class Round:
    clients: list[Taken]
    lock_waits: int


def run(bench: Bench) -> Result:
    """Short rounds in turn; after each, as many jobs are enqueued as were taken."""
    rounds, seconds = bench.size(10, 3), bench.size(3, 1)
    found: dict[str, list[Round]] = {name: [] for name in QUEUES}
    with ExitStack() as running:
        runs = {name: started(bench, name, seconds, running) for name in QUEUES}
        # The first round warms up.
        for number in range(1 + rounds):
            for name, run_round in runs.items():
                bench.say(f"{name} (round {number} of {rounds})")
                found[name].append(run_round())
    return Result(
        [figure for name, each in found.items() for figure in figures(name, each[1:], rounds * seconds)],
        [
            *(
                Target(f"tickwork, {size} at a time, p99", [f"{BARE}, {size} at a time, p99"], at_most=3)
                for size in CLIENTS
            ),
            Target("tickwork, deadlocks", at_most=0),
            Target("tickwork, lock waits over 1 s", at_most=0),
        ],
    )


def started(bench: Bench, name: str, seconds: int, running: ExitStack) -> Callable[[], Round]:
    bench.say(f"filling the queue: {name}")
    queue = QUEUES[name]
    url = running.enter_context(bench.place.database())
    queue.fill(url, bench.size(250_000, 75_000))
    clients = [
        partial(claim_when_told, queue.claimer, url, size, seconds)
        for size, count in CLIENTS.items()
        for _ in range(count)
    ]
    go = running.enter_context(crowd(clients))

    def run_round() -> Round:
        with watched(url) as lock_waits:
            taken: list[Taken] = go()
        queue.add(url, sum(each.jobs for each in taken))
        return Round(taken, len(lock_waits))

    return run_round


def claim_when_told(
    claimer: Callable[[str, int], Callable[[], int]], url: str, max_jobs: int, seconds: int, line: Line
) -> None:
    complete_and_claim = claimer(url, max_jobs)
    line.send("ready")
    while line.recv():
        line.send(claim_for(seconds, complete_and_claim, max_jobs))


def claim_for(seconds: int, complete_and_claim: Callable[[], int], max_jobs: int) -> Taken:
    milliseconds: list[float] = []
    counts: list[int] = []
    deadlocks = 0
    until = time.perf_counter() + seconds
    while (began := time.perf_counter()) < until:
        try:
            counts.append(complete_and_claim())
        except (psycopg.Error, QueueError) as error:
            if error.sqlstate != DEADLOCK:
                raise
            deadlocks += 1
        milliseconds.append((time.perf_counter() - began) * 1_000)
    return Taken(max_jobs, milliseconds, sum(counts), counts.count(0), deadlocks)


@contextmanager
def watched(url: str) -> Iterator[set[tuple[Any, ...]]]:
    """What waits for a lock for more than a second meanwhile: the process and the time it began to wait."""
    found: set[tuple[Any, ...]] = set()
    is_over = threading.Event()

    def look() -> None:
        with psycopg.connect(url, autocommit=True) as connection:
            while not is_over.wait(LOOK_SECONDS):
                found.update(connection.execute(LOCK_WAITS).fetchall())

    thread = threading.Thread(target=look)
    thread.start()
    try:
        yield found
    finally:
        is_over.set()
        thread.join()


def figures(name: str, rounds: Sequence[Round], seconds: int) -> Iterator[Figure]:
    clients = list(chain.from_iterable(each.clients for each in rounds))

    def figure(what: str, value: float, unit: Unit) -> Figure:
        return Figure(f"{name}, {what}", value, unit, f"{BARE}, {what}")

    for size in CLIENTS:
        took = list(chain.from_iterable(each.milliseconds for each in clients if each.max_jobs == size))
        yield figure(f"{size} at a time, p50", percentile(took, 50), "ms")
        yield figure(f"{size} at a time, p99", percentile(took, 99), "ms")
        yield figure(f"{size} at a time, longest", max(took), "ms")
    yield figure("jobs", sum(each.jobs for each in clients) / seconds, "jobs/s")
    yield Figure(f"{name}, empty claims", sum(each.empty for each in clients), "times")
    yield Figure(f"{name}, deadlocks", sum(each.deadlocks for each in clients), "times")
    yield Figure(f"{name}, lock waits over 1 s", sum(each.lock_waits for each in rounds), "times")


CONTENTION = Measurement("contention", "16 claimers of one family at once, half of them in batches", run)
