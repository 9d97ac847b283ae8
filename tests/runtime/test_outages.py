"""Connections that end, servers that fall silent, a database that is away: no job is lost, no attempt spent."""

import os
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from pydantic import BaseModel

from tests.conftest import pooler
from tests.servers.pooler import find_pgbouncer
from tests.world import World
from tickwork.database.connection import Connection, Database
from tickwork.jobs.handler import Handler, Handlers, Tools
from tickwork.jobs.outcomes import Done, Report
from tickwork.queue import Queue
from tickwork.runtime import settle
from tickwork.runtime.batch import work_many
from tickwork.runtime.deadline import Deadline
from tickwork.runtime.work import work
from tickwork_local.postgres import Server


class Nothing(BaseModel):
    pass


Work = Callable[[Queue, Handlers], Report]
WAYS: dict[str, Work] = {
    "single": lambda queue, handlers: work(queue, "test", handlers, Deadline(600, 1000)),
    "batch": lambda queue, handlers: work_many(queue, "test", handlers, Deadline(600, 1000), 10),
}


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settle, "SETTLE_AGAIN_SECONDS", (0.01,) * 10)


@pytest.fixture(scope="module", params=["direct", "pooled"])
def any_port(request: pytest.FixtureRequest, server: Server, worker_port: int) -> Iterator[int]:
    """Where workers connect: both ways, wherever pgbouncer is installed."""
    if request.param == "direct" or os.environ.get("TICKWORK_TEST_PGBOUNCER"):
        yield worker_port
        return
    if not find_pgbouncer():
        pytest.skip("pgbouncer is not installed: tests/deploy/through_pgbouncer.sh installs it")
    with pooler(server) as port:
        yield port


@pytest.fixture
def queue(world: World, any_port: int) -> Iterator[Queue]:
    name = world.value("select current_database()")
    database = Database(f"postgresql://tickwork_worker@127.0.0.1:{any_port}/{name}")
    yield Queue(database, "worker-1")
    database.close()


def handled_by(run: Callable[[Any, Tools], Any]) -> Handlers:
    return {"greet_person": Handler(Nothing, run)}


@pytest.mark.parametrize("way", WAYS)
def test_a_session_that_ends_at_commit_costs_no_attempt(world: World, queue: Queue, way: str) -> None:
    end_every_other_commit(world)
    for _ in range(60):
        world.job(max_attempts=1)

    def note(connection: Connection) -> None:
        connection.execute("insert into notes values ('written')")

    report = WAYS[way](queue, handled_by(lambda payload, tools: Done(writes=[note])))

    assert world.rows("select status, count(*) from jobs group by status") == [{"status": "done", "count": 60}]
    assert world.value("select count(*) from notes") == 60
    assert report.ended == {"done": 60}


def end_every_other_commit(world: World) -> None:
    """Of transactions that write to the table notes: the server ends their session while it commits."""
    for statement in (
        "create table notes (text text)",
        "grant insert on notes to tickwork_worker",
        "create sequence commits",
        "create function end_session() returns trigger language plpgsql security definer as $$ begin "
        "if nextval('commits') % 2 = 1 then perform pg_terminate_backend(pg_backend_pid()); end if; "
        "return null; end $$",
        "create constraint trigger end_session after insert on notes deferrable initially deferred "
        "for each row execute function end_session()",
    ):
        world.admin.execute(statement)


@pytest.mark.parametrize("way", WAYS)
def test_a_session_that_ends_before_begin_costs_no_attempt(world: World, queue: Queue, way: str) -> None:
    for _ in range(60):
        world.job(max_attempts=1)

    def run(payload: Nothing, tools: Tools) -> Done:
        world.run(
            "select pg_terminate_backend(pid) from pg_stat_activity "
            "where datname = current_database() and usename = 'tickwork_worker'"
        )
        return Done(writes=[lambda connection: connection.execute("select 1")])

    WAYS[way](queue, handled_by(run))

    assert world.rows("select status, count(*) from jobs group by status") == [{"status": "done", "count": 60}]


def test_a_write_that_meets_a_deadlock_costs_no_attempt(world: World) -> None:
    job = world.job(max_attempts=1)
    tries = []

    def write(connection: Connection) -> None:
        tries.append(1)
        if len(tries) == 1:
            connection.execute("do $$ begin raise exception using errcode = 'deadlock_detected'; end $$")

    work(world.queue, "test", handled_by(lambda payload, tools: Done(writes=[write])), Deadline(60, 10))

    assert (world.reload(job).status, len(tries)) == ("done", 2)
