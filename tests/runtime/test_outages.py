"""Connections that end, servers that fall silent, a database that is away: no job is lost, no attempt spent."""

import os
import signal
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from pydantic import BaseModel

from tests.conftest import pooler
from tests.servers.pooler import find_pgbouncer
from tests.world import World
from tests.world.waiting import until
from tickwork.database.connection import Connection, Database
from tickwork.errors import Unavailable
from tickwork.jobs.handler import Handler, Handlers, Tools
from tickwork.jobs.outcomes import Done, Report
from tickwork.queue import Queue
from tickwork.runtime import settle
from tickwork.runtime.deadline import Deadline
from tickwork.runtime.work import work
from tickwork_chaos.proxy import Cut, CuttingProxy
from tickwork_local.postgres import Server


class Nothing(BaseModel):
    pass


Work = Callable[[Queue, Handlers], Report]
WAYS: dict[str, Work] = {
    "single": lambda queue, handlers: work(queue, "test", handlers, Deadline(600, 1000)),
    "many": lambda queue, handlers: work(queue, "test", handlers, Deadline(600, 1000), concurrency=10),
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


@pytest.mark.parametrize("moment", ["immediate", "deferred"])
@pytest.mark.parametrize("way", WAYS)
def test_a_session_that_ends_in_a_write_or_at_commit_costs_no_attempt(
    world: World, queue: Queue, way: str, moment: str
) -> None:
    end_every_other_session(world, moment)
    for _ in range(60):
        world.job(max_attempts=1)

    def note(connection: Connection) -> None:
        connection.execute("insert into notes values ('written')")

    report = WAYS[way](queue, handled_by(lambda payload, tools: Done(writes=[note])))

    assert world.rows("select status, count(*) from jobs group by status") == [{"status": "done", "count": 60}]
    assert world.value("select count(*) from notes") == 60
    assert report.ended == {"done": 60}


def end_every_other_session(world: World, moment: str) -> None:
    """Of those that write to the table notes: at once, or while the transaction commits."""
    for statement in (
        "create table notes (text text)",
        "grant insert on notes to tickwork_worker",
        "create sequence sessions",
        "create function end_session() returns trigger language plpgsql security definer as $$ begin "
        "if nextval('sessions') % 2 = 1 then perform pg_terminate_backend(pg_backend_pid()); end if; "
        "return null; end $$",
        f"create constraint trigger end_session after insert on notes deferrable initially {moment} "
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


@pytest.mark.parametrize("error", ["deadlock_detected", "disk_full"])
def test_a_write_that_meets_a_deadlock_or_a_full_disk_costs_no_attempt(world: World, error: str) -> None:
    job = world.job(max_attempts=1)
    tries = []

    def write(connection: Connection) -> None:
        tries.append(1)
        if len(tries) == 1:
            connection.execute(f"do $$ begin raise exception using errcode = '{error}'; end $$")

    work(world.queue, "test", handled_by(lambda payload, tools: Done(writes=[write])), Deadline(60, 10))

    assert (world.reload(job).status, len(tries)) == ("done", 2)


def test_many_jobs_are_given_up_when_the_process_has_to_end_and_the_database_is_away(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(settle, "SETTLE_AGAIN_SECONDS", (3600,))
    jobs = [world.job() for _ in range(20)]
    deadline = Deadline(600, 1000, grace_seconds=0)

    def run(payload: Nothing, tools: Tools) -> None:
        if not deadline.is_stopped():
            take_away(world)
            deadline.stop()

    report = work(world.queue, "test", handled_by(run), deadline, concurrency=20)

    assert report.ended == {"lost": 20}
    assert {world.reload(job).status for job in jobs} == {"running"}


@pytest.mark.parametrize("way", WAYS)
def test_a_database_that_comes_back_before_the_lease_expires_costs_no_attempt(
    world: World, queue: Queue, way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(settle, "SETTLE_AGAIN_SECONDS", (0.1,) * 1000)
    for _ in range(5):
        world.job(max_attempts=1)
    comes_back = threading.Timer(0.5, bring_back, [world])
    once = threading.Lock()

    def run(payload: Nothing, tools: Tools) -> None:
        if once.acquire(blocking=False):
            take_away(world)
            comes_back.start()

    WAYS[way](queue, handled_by(run))
    comes_back.join()

    assert world.rows("select status, count(*) from jobs group by status") == [{"status": "done", "count": 5}]


def take_away(world: World) -> None:
    """For workers, the database is down."""
    name = world.value("select current_database()")
    world.admin.execute(f"alter database {name} with connection limit 0")
    world.run(
        "select pg_terminate_backend(pid) from pg_stat_activity "
        "where datname = current_database() and usename = 'tickwork_worker'"
    )


def bring_back(world: World) -> None:
    name = world.value("select current_database()")
    world.admin.execute(f"alter database {name} with connection limit -1")


def test_a_claim_that_is_sent_again_has_a_token_of_its_own(world: World, server: Server) -> None:
    for _ in range(2):
        world.job()
    with CuttingProxy(server.port) as proxy:
        database = Database(world.url.replace(f":{server.port}/", f":{proxy.port}/"))
        database.rows("select 1", {})
        proxy.cut(Cut.AFTER)
        until(proxy.is_armed)

        _, jobs = Queue(database, "worker-1").settle_and_claim((), (), family="test", max_jobs=1)

        database.close()

    tokens = {str(row["token"]) for row in world.rows("select token from tickwork.leases")}
    assert len(tokens) == 2
    assert {job.lease_token for job in jobs} < tokens


def test_a_silent_server_is_given_up_and_another_session_goes_on(world: World) -> None:
    job = world.job(max_attempts=1)
    database = Database(world.worker_url, max_silence=0.5)
    stopped: list[int] = []

    def run(payload: Nothing, tools: Tools) -> None:
        stopped.extend(silence(world))

    try:
        report = work(Queue(database, "worker-1"), "test", handled_by(run), Deadline(600, 10))
    finally:
        for process in stopped:
            os.kill(process, signal.SIGCONT)
        database.close()

    assert stopped
    assert report.ended == {"done": 1}
    assert world.reload(job).status == "done"


def silence(world: World) -> list[int]:
    """Stop the server's sessions of workers: the kernel keeps their connections, and nobody says a word."""
    rows = world.rows(
        "select pid from pg_stat_activity where datname = current_database() and usename = 'tickwork_worker'"
    )
    for row in rows:
        os.kill(row["pid"], signal.SIGSTOP)
    return [row["pid"] for row in rows]


def test_a_server_that_is_at_work_for_too_long_is_told_to_stop(world: World) -> None:
    database = Database(world.worker_url, max_silence=0.5)

    with pytest.raises(Unavailable, match="the database said nothing"):
        database.rows("select pg_sleep(86400)", {})

    sleeping = "select count(*) from pg_stat_activity where query like 'select pg_sleep%%' and state = 'active'"
    until(lambda: world.value(sleeping) == 0)
    assert database.rows("select 1 as one", {}) == [{"one": 1}]
    database.close()
