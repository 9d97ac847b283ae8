"""Schedules of the same minute: how fast they are enqueued, and how late their jobs start."""

import psycopg

from tickwork.jobs.worked_job import WorkedJob
from tickwork_bench.contenders.tickwork import TYPE, as_worker, prepare, queue_at, settled_and_claimed
from tickwork_bench.measure import Bench, Figure, Measurement, Result, seconds_of

TENANTS = 100
BATCH = 100
# The time comes in so many seconds: looked at ahead, as a tick does.
AHEAD_SECONDS = 20
FILL = """
    insert into public.schedules (tenant_id, label, type, cron_expr, timezone, next_nominal_at, look_at)
    select tenants.ids[1 + n %% cardinality(tenants.ids)], 'number ' || n, %s, '0 2 * * *', 'Europe/Berlin', at,
      at - interval '30 seconds'
    from (select array_agg(id) from public.organizations) as tenants(ids), generate_series(1, %s) as n,
      (select clock_timestamp() + make_interval(secs => %s)) as due(at)
"""
FIRE = "set role tickwork_owner; select tickwork.fire_schedules(clock_timestamp(), 1000000); reset role"
LATENESS = """
    select percentile_disc(array[0.5, 0.99]) within group (order by extract(epoch from started_at - run_at) * 1000)
    from public.jobs
"""


def run(bench: Bench) -> Result:
    schedules = bench.size(10_000, 1_000)
    return Result(
        [
            Figure(f"{schedules:,} enqueued by one tick", enqueued_by_a_tick(bench, schedules), "jobs/s"),
            *(
                Figure(f"{schedules:,} at the same time, lateness {name}", value, "ms")
                for name, value in zip(("p50", "p99"), lateness(bench, schedules), strict=True)
            ),
        ]
    )


def enqueued_by_a_tick(bench: Bench, schedules: int) -> float:
    with bench.place.database() as url:
        prepare(url, TENANTS)
        bench.say(f"{schedules:,} schedules, one tick")
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute(FILL, [TYPE, schedules, 0])
            return schedules / seconds_of(lambda: connection.execute(FIRE))


def lateness(bench: Bench, schedules: int) -> list[float]:
    """One worker claims in batches all the while, and nobody else ticks."""
    with bench.place.database() as url:
        prepare(url, TENANTS)
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute(FILL, [TYPE, schedules, AHEAD_SECONDS])
        queue = queue_at(as_worker(url))
        finished, held = 0, list[WorkedJob]()
        while finished < schedules:
            bench.say(f"{finished:,} of {schedules:,} jobs of schedules")
            finished += len(held)
            held = settled_and_claimed(queue, held, BATCH)
        queue.database.close()
        with psycopg.connect(url) as connection:
            (row,) = connection.execute(LATENESS).fetchall()
        return [float(each) for each in row[0]]


SCHEDULES = Measurement("schedules", "many schedules of the same minute: jobs per second of a tick, and lateness", run)
