"""A textbook queue: one table, one partial index, `for update skip locked`. A lower bound for any queue."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import psycopg
from psycopg.types.json import Jsonb

from tickwork_bench.contenders import Sender
from tickwork_bench.processes import Watch

SCHEMA = """
    create table jobs (
      id bigint generated always as identity primary key,
      status text not null default 'queued',
      priority integer not null default 0,
      run_at timestamptz not null default clock_timestamp(),
      payload jsonb not null default '{}',
      attempts integer not null default 0
    );
    create index jobs_due on jobs (priority desc, run_at) where status = 'queued';
"""

NEXT_JOBS = """
    next_jobs as (
      select id
      from jobs
      where status = 'queued'
        and run_at <= now()
      order by priority desc, run_at
      limit %(wanted)s
      for update skip locked
    )
    update jobs
    set status = 'running', attempts = attempts + 1
    from next_jobs
    where jobs.id = next_jobs.id
    returning jobs.id, jobs.payload
"""
CLAIM = f"with {NEXT_JOBS}"
COMPLETE = "update jobs set status = 'done' where id = any(%(done)s)"
COMPLETE_AND_CLAIM = f"with completed as ({COMPLETE}), {NEXT_JOBS}"
INSERT = "insert into jobs (payload) values (%s) returning id"
INSERT_MANY = "insert into jobs (payload) select unnest(%s::jsonb[]) returning id"


def prepare(url: str) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(SCHEMA)


def fill(url: str, jobs: int) -> None:
    prepare(url)
    add(url, jobs)
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("vacuum analyze")


def add(url: str, jobs: int) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(
            "insert into jobs (payload) select jsonb_build_object('number', n) from generate_series(1, %s) as n", [jobs]
        )


def drain_with_two_commits(url: str, watch: Watch) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        while row := connection.execute(CLAIM, {"wanted": 1}).fetchone():
            watch.tick()
            connection.execute(COMPLETE, {"done": [row[0]]})


def drain(url: str, watch: Watch, batch_size: int) -> None:
    complete_and_claim = claimer(url, batch_size)
    while jobs := complete_and_claim():
        for _ in range(jobs):
            watch.tick()


def claimer(url: str, max_jobs: int) -> Callable[[], int]:
    """What completes the jobs it claimed before and claims the next in one statement; it returns how many these are."""
    connection = psycopg.connect(url, autocommit=True)
    done: list[int] = []

    def complete_and_claim() -> int:
        nonlocal done
        rows = connection.execute(COMPLETE_AND_CLAIM, {"wanted": max_jobs, "done": done}).fetchall()
        done = [row[0] for row in rows]
        return len(done)

    return complete_and_claim


@contextmanager
def sender(url: str) -> Iterator[Sender]:
    with psycopg.connect(url, autocommit=True) as connection:

        def one_by_one(jobs: int) -> None:
            for number in range(jobs):
                connection.execute(INSERT, [Jsonb({"number": number})]).fetchone()

        def in_bulk(jobs: int) -> None:
            connection.execute(INSERT_MANY, [[Jsonb({"number": number}) for number in range(jobs)]]).fetchall()

        yield Sender(one_by_one, in_bulk)
