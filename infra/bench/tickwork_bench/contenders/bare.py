"""A textbook queue: one table, one partial index, `for update skip locked`. A lower bound for any queue."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import psycopg
from psycopg import Connection
from psycopg.rows import TupleRow
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

# The size of a batch is part of the text, and jobs are found by an array: such a plan is good for any parameters, and
# with plan_cache_mode it is made once.
CLAIM = """
    update jobs
    set status = 'running', attempts = attempts + 1
    where id = any (array(
      select id
      from jobs
      where status = 'queued'
        and run_at <= now()
      order by priority desc, run_at
      limit {max_jobs}
      for update skip locked
    ))
    returning id, payload
"""
COMPLETE = "update jobs set status = 'done' where id = any (%(done)s::bigint[])"
COMPLETE_AND_CLAIM = f"with completed as ({COMPLETE}) {CLAIM}"
KEPT_PLANS = "select coalesce(sum(generic_plans), 0) from pg_prepared_statements"
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
    with connected(url) as connection:
        while row := connection.execute(CLAIM.format(max_jobs=1).encode(), prepare=True).fetchone():
            watch.tick()
            connection.execute(COMPLETE, {"done": [row[0]]}, prepare=True)


def drain(url: str, watch: Watch, batch_size: int) -> None:
    complete_and_claim = claimer(url, batch_size)
    while jobs := complete_and_claim():
        for _ in range(jobs):
            watch.tick()


def claimer(url: str, max_jobs: int) -> Callable[[], int]:
    """What completes the jobs it claimed before and claims the next in one statement; it returns how many these are."""
    return completer(connected(url), max_jobs)


def completer(connection: Connection[TupleRow], max_jobs: int) -> Callable[[], int]:
    statement = COMPLETE_AND_CLAIM.format(max_jobs=max_jobs).encode()
    done: list[int] = []
    has_checked = False

    def complete_and_claim() -> int:
        nonlocal done, has_checked
        rows = connection.execute(statement, {"done": done}, prepare=True).fetchall()
        done = [row[0] for row in rows]
        if not has_checked:
            check_plans_are_kept(connection)
            has_checked = True
        return len(done)

    return complete_and_claim


def check_plans_are_kept(connection: Connection[TupleRow]) -> None:
    row = connection.execute(KEPT_PLANS).fetchone()
    assert row
    assert row[0] > 0, "the bare loop makes a new plan for every execution"


def connected(url: str) -> Connection[TupleRow]:
    """A connection whose prepared statements are planned once."""
    connection = psycopg.connect(url, autocommit=True)
    connection.execute("set plan_cache_mode = force_generic_plan")
    return connection


@contextmanager
def sender(url: str) -> Iterator[Sender]:
    with connected(url) as connection:
        yield sender_of(connection)


def sender_of(connection: Connection[TupleRow]) -> Sender:
    def one_by_one(jobs: int) -> None:
        for number in range(jobs):
            connection.execute(INSERT, [Jsonb({"number": number})], prepare=True).fetchone()

    def in_bulk(jobs: int) -> None:
        payloads = [Jsonb({"number": number}) for number in range(jobs)]
        connection.execute(INSERT_MANY, [payloads], prepare=True).fetchall()

    return Sender(one_by_one, in_bulk)
