"""What many jobs leave behind in the tables: dead rows, size, and how many updates had to touch an index."""

from collections.abc import Iterator
from itertools import cycle

import psycopg

from tickwork.jobs.worked_job import WorkedJob
from tickwork.queue import Queue
from tickwork_bench.contenders.tickwork import add, as_worker, prepare, queue_at, settled_and_claimed
from tickwork_bench.measure import Bench, Figure, Measurement, Result, Target

TENANTS = 20
JOBS_OF_A_ROUND = 1_000
# In turn.
BATCH_SIZES = (100, 1)
HEAP_ONLY = "heap-only updates"
TABLES = """
    select
      case schemaname when 'public' then relname else schemaname || '.' || relname end,
      n_live_tup,
      n_dead_tup,
      pg_total_relation_size(relid) / 1024,
      n_tup_upd,
      n_tup_hot_upd
    from pg_stat_user_tables
    where (schemaname = 'tickwork' or relid = 'public.jobs'::regclass)
      and n_tup_ins + n_tup_upd + n_tup_del > 0
    order by schemaname, relname
"""


def run(bench: Bench) -> Result:
    """Jobs come and go at a depth of a thousand; autovacuum runs as configured on the server."""
    rounds = bench.size(200_000, 5_000) // JOBS_OF_A_ROUND
    with bench.place.database() as url:
        prepare(url, TENANTS)
        queue = queue_at(as_worker(url))
        for number in range(rounds):
            bench.say(f"{number * JOBS_OF_A_ROUND:,} of {rounds * JOBS_OF_A_ROUND:,} jobs")
            add(url, JOBS_OF_A_ROUND)
            complete_all(queue)
        # Otherwise the work of a session would be missing from the statistics for a while.
        queue.database.rows("select pg_stat_force_next_flush()", {})
        queue.database.close()
        with psycopg.connect(url, autocommit=True) as connection:
            tables = connection.execute(TABLES).fetchall()
    figures = [figure for table in tables for figure in figures_of(*table)]
    targets = [Target(figure.name, at_least=95) for figure in figures if figure.name == f"jobs, {HEAP_ONLY}"]
    return Result(figures, targets)


def complete_all(queue: Queue) -> None:
    held: list[WorkedJob] = []
    for max_jobs in cycle(BATCH_SIZES):
        held = settled_and_claimed(queue, held, max_jobs)
        if not held:
            return


def figures_of(table: str, live: int, dead: int, size: int, updates: int, heap_only: int) -> Iterator[Figure]:
    yield Figure(f"{table}, live rows", live, "rows")
    yield Figure(f"{table}, dead rows", dead, "rows")
    yield Figure(f"{table}, size", size, "kB")
    if updates:
        yield Figure(f"{table}, updates", updates, "rows")
        yield Figure(f"{table}, {HEAP_ONLY}", 100 * heap_only / updates, "%")


BLOAT = Measurement("bloat", "dead rows, size and heap-only updates of every table after many jobs", run)
