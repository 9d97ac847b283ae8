"""What figures cost: throughput while they are kept, a scrape and percentiles among millions of finished jobs."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from threading import Event, Thread

import psycopg

from tickwork_bench.contenders.tickwork import FAMILY, TYPE, as_worker, claimer, fill, prepare
from tickwork_bench.measure import Bench, Figure, Measurement, Result, Target, interleaved, median_figure, seconds_of

BATCH = 100
ROUNDS = 10
KEPT, NOT_KEPT = "drain, 100 at a time, figures kept", "drain, 100 at a time, figures not kept"
METRICS, LATENCY = "metrics", "percentiles of a day"
# Without the triggers of an enqueue. Each tenant has ten jobs at about the same time.
FINISHED = """
    insert into public.jobs (
      tenant_id, type, family, status, priority, run_at, max_attempts, attempts, created_at, started_at, finished_at,
      worker_id
    )
    select tenants.ids[1 + n / 10 %% cardinality(tenants.ids)], %(type)s, %(family)s, 'done', 0, job.at, 4, 1,
      job.at, job.at + job.wait, job.at + job.wait + job.run, 'bench'
    from (select array_agg(id) from public.organizations) as tenants(ids),
      generate_series(%(first)s::integer, %(last)s::integer) as n,
      lateral (
        select now() - interval '7 days' * (1 - n / %(jobs)s::float8) - interval '1 hour',
          interval '20 ms' * (1 + random()), interval '500 ms' * (1 + random())
        where n is not null
      ) as job(at, wait, run)
"""


def run(bench: Bench) -> Result:
    samples = drains(bench, bench.size(20_000, 2_000))
    jobs, tenants = bench.size(5_000_000, 100_000), bench.size(10_000, 1_000)
    readings = among_finished(bench, jobs, tenants)
    place = f"{jobs:,} finished jobs of {tenants:,} tenants"
    return Result(
        [
            *(median_figure(name, rates, "jobs/s", NOT_KEPT) for name, rates in samples.items()),
            *(Figure(f"{name}, {place}", value, "ms") for name, value in readings.items()),
        ],
        [
            Target(KEPT, [NOT_KEPT], at_least=0.97),
            Target(f"{METRICS}, {place}", at_most=200),
            Target(f"{LATENCY}, {place}", at_most=50),
        ],
    )


def drains(bench: Bench, jobs: int) -> dict[str, list[float]]:
    """Both in turn, each with a queue of its own, and one with somebody who counts every second."""
    with bench.place.database() as kept, bench.place.database() as not_kept:
        runs: dict[str, Callable[[], float]] = {}
        for name, url in ((KEPT, kept), (NOT_KEPT, not_kept)):
            bench.say(f"filling the queue: {name}")
            fill(url, jobs * ROUNDS, 20)
            runs[name] = partial(drained, claimer(url, BATCH), jobs, kept if name == KEPT else None)
        return interleaved(bench, runs, ROUNDS)


def drained(claim: Callable[[], int], jobs: int, counted: str | None) -> float:
    with counting(counted):
        began, done = time.perf_counter(), 0
        while done < jobs:
            done += claim()
        return done / (time.perf_counter() - began)


@contextmanager
def counting(url: str | None) -> Iterator[None]:
    if url is None:
        yield
        return
    stopped = Event()

    def count() -> None:
        with psycopg.connect(as_worker(url), autocommit=True) as connection:
            while not stopped.wait(1):
                connection.execute("select public.maintain()")

    thread = Thread(target=count)
    thread.start()
    try:
        yield
    finally:
        stopped.set()
        thread.join()


def among_finished(bench: Bench, jobs: int, tenants: int) -> dict[str, float]:
    with bench.place.database() as url, psycopg.connect(url, autocommit=True) as connection:
        prepare(url, tenants)
        finish_jobs(bench, connection, jobs)
        return {
            METRICS: reading(connection, "select public.metrics()"),
            f"{METRICS} of 100 tenants": reading(connection, "select public.metrics(tenant_label => 'tenant_id')"),
            LATENCY: reading(connection, "select public.latency(since => now() - interval '1 day')"),
            "percentiles of a week": reading(connection, "select public.latency(since => now() - interval '7 days')"),
        }


def finish_jobs(bench: Bench, connection: psycopg.Connection[tuple[object, ...]], jobs: int) -> None:
    """That many finished jobs of all tenants, within a week, and the figures that follow from them."""
    connection.execute("set session_replication_role = replica")
    for first in range(1, jobs + 1, 100_000):
        bench.say(f"{first:,} of {jobs:,} finished jobs")
        values = {"type": TYPE, "family": FAMILY, "first": first, "last": min(first + 99_999, jobs), "jobs": jobs}
        connection.execute(FINISHED, values)
    connection.execute("set session_replication_role = origin")
    counted: int = 0
    left: int = 1
    while left or counted < jobs:
        bench.say(f"{counted:,} of {jobs:,} counted")
        connection.execute("update tickwork.rollup set rolled_at = '-infinity'")
        left = int(str((connection.execute("select tickwork.roll_up(20000)").fetchone() or (0,))[0]))
        counted += left
    connection.execute("vacuum analyze")


def reading(connection: psycopg.Connection[tuple[object, ...]], query: str) -> float:
    """Milliseconds, the median of ten."""
    times = sorted(seconds_of(lambda: connection.execute(query.encode())) * 1000 for _ in range(10))
    return times[5]


FIGURES = Measurement("figures", "throughput while figures are kept; metrics and percentiles of many jobs", run)
