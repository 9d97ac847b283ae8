"""What a job costs the server while a transaction stays open, so that nothing that is dead can be removed."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from statistics import median

import psycopg

from tickwork_bench.contenders import bare, tickwork
from tickwork_bench.contenders.tickwork_sql import Calls
from tickwork_bench.measure import Bench, Figure, Measurement, Result, Target
from tickwork_bench.place import Place, place_without_disk
from tickwork_bench.server_time import Metered

# Name, tenants (none: the bare loop) and jobs at a time.
LOOPS = (
    ("tickwork, one at a time, 20 tenants", 20, 1),
    ("tickwork, 100 at a time, 20 tenants", 20, 100),
    ("bare loop, one at a time", 0, 1),
    ("bare loop, 100 at a time", 0, 100),
)
# Looked at four times, with so many slices each.
STEPS, SLICES = 4, 5
MAX_RATIO = 1.5


def run(bench: Bench) -> Result:
    jobs = bench.size(48_000, 12_000)
    figures: list[Figure] = []
    targets: list[Target] = []
    with place_without_disk(bench.folder) as place:
        for name, tenants, max_jobs in LOOPS:
            bench.say(name)
            before = f"{name}, before"
            for label, cost in costs(place, tenants, max_jobs, jobs):
                figures.append(Figure(f"{name}, {label}", cost, "µs", before))
            if tenants:
                targets.append(Target(f"{name}, after {jobs:,}", [before], at_most=MAX_RATIO))
    return Result(figures, targets)


def costs(place: Place, tenants: int, max_jobs: int, jobs: int) -> Iterator[tuple[str, float]]:
    """Before the transaction opens, and when so many jobs have been processed since."""
    slice_jobs = 10 * max_jobs if max_jobs > 1 else 100
    step_jobs = jobs // STEPS
    with place.database() as url:
        loop = filled(url, tenants, max_jobs, jobs + 4 * SLICES * slice_jobs, slice_jobs)
        # The first ones warm up.
        yield "before", median([loop.microseconds() for _ in range(2 * SLICES)][SLICES:])
        with open_snapshot(url):
            for step in range(1, STEPS + 1):
                for _ in range(step_jobs // slice_jobs - SLICES):
                    loop.microseconds()
                yield f"after {step * step_jobs:,}", median(loop.microseconds() for _ in range(SLICES))


def filled(url: str, tenants: int, max_jobs: int, jobs: int, slice_jobs: int) -> Metered:
    if tenants:
        tickwork.fill(url, jobs, tenants)
        calls = Calls(url)
        return Metered(calls.worker, partial(calls.settle_and_claim, max_jobs), slice_jobs)
    bare.fill(url, jobs)
    connection = bare.connected(url)
    return Metered(connection, bare.completer(connection, max_jobs), slice_jobs)


@contextmanager
def open_snapshot(url: str) -> Iterator[None]:
    with psycopg.connect(url) as connection:
        connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        connection.execute("select count(*) from pg_class")
        yield


HELD_SNAPSHOT = Measurement("held_snapshot", "a job's server CPU time while a transaction stays open", run)
