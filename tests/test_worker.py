"""The long-running worker, as a real process."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.runtime.test_outages import silence, take_away
from tests.world import World
from tests.world.upkeep import leave_to_upkeep, left_to_upkeep
from tests.world.waiting import PATIENCE, until

FUNCTION = """
import os, pathlib, signal, time
from pydantic import BaseModel
from tickwork.jobs.handler import Handler, Tools

class Nothing(BaseModel):
    pass

def quick(payload: Nothing, tools: Tools) -> None:
    pass

def patient(payload: Nothing, tools: Tools) -> None:
    pathlib.Path(os.environ["STARTED"]).touch()
    while not pathlib.Path(os.environ["FINISH"]).exists():
        time.sleep(0.02)

def crash(payload: Nothing, tools: Tools) -> None:
    os.kill(os.getpid(), signal.SIGKILL)

HANDLERS = {name: Handler(Nothing, run) for name, run in (("quick", quick), ("patient", patient), ("crash", crash))}
"""
# Of another family: each job writes a row with its completion, after it has said that it is inside.
OTHER_FUNCTION = """
import os, pathlib, time
from pydantic import BaseModel
from tickwork.jobs.handler import Handler, Tools
from tickwork.jobs.outcomes import Done

class Nothing(BaseModel):
    pass

def note(payload: Nothing, tools: Tools) -> Done:
    (pathlib.Path(os.environ["INSIDE"]) / str(tools.job_id)).touch()
    tools.wait(0.05)
    write = lambda connection: connection.execute("insert into notes values (%s)", [tools.job_id])
    return Done(writes=[write])

HANDLERS = {"note": Handler(Nothing, note)}
"""


class Process:
    """`tickwork worker test`, with the handlers above."""

    def __init__(self, world: World, folder: Path, *options: str, **environment: str) -> None:
        self.started, self.finish = folder / "started", folder / "finish"
        self.inside = folder / "inside"
        self.inside.mkdir(exist_ok=True)
        for family, source in (("test", FUNCTION), ("other", OTHER_FUNCTION)):
            (folder / family).mkdir(exist_ok=True)
            (folder / family / "main.py").write_text(source)
        self.log = folder / "worker.log"
        urls = {"TICKWORK_DATABASE_URL": world.worker_url, "STARTED": str(self.started), "FINISH": str(self.finish)}
        urls["INSIDE"] = str(self.inside)
        with self.log.open("ab") as log:
            self.popen = subprocess.Popen(
                [Path(sys.executable).with_name("tickwork"), "worker", "test", "--functions", folder, *options],
                env={**os.environ, **urls, **environment},
                stdout=log,
                stderr=subprocess.STDOUT,
            )

    def lines(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.log.read_text().splitlines()]

    def has_said(self, verb: str) -> bool:
        return any(line["message"] == verb for line in self.lines())

    def stop(self) -> int:
        self.popen.terminate()
        return self.popen.wait(PATIENCE)


@contextmanager
def worker(world: World, folder: Path, *options: str, **environment: str) -> Iterator[Process]:
    process = Process(world, folder, *options, **environment)
    try:
        yield process
    finally:
        process.popen.kill()
        process.popen.wait()


@pytest.fixture
def typed(world: World) -> World:
    for key in ("quick", "patient", "crash"):
        world.type(key, lease_seconds=10)
    return world


def test_jobs_are_worked_off_as_they_come(typed: World, tmp_path: Path) -> None:
    with worker(typed, tmp_path) as process:
        until(lambda: process.has_said("start_worker"))
        jobs = [typed.job("quick") for _ in range(5)]
        until(lambda: all(typed.reload(job).status == "done" for job in jobs))

        assert process.stop() == 0


@pytest.mark.skipif("TICKWORK_TEST_PGBOUNCER" in os.environ, reason="a transaction-mode pooler passes on no notices")
def test_a_notice_wakes_the_worker_between_two_polls(typed: World, tmp_path: Path) -> None:
    with worker(typed, tmp_path, TICKWORK_POLL_SECONDS="3600") as process:
        listens = (
            "select count(*) from pg_stat_activity where datname = current_database() and query = 'listen tickwork'"
        )
        until(lambda: typed.value(listens) == 1)
        job = typed.job("quick")
        until(lambda: typed.reload(job).status == "done")

        assert process.stop() == 0


def test_name_lease_heartbeat_and_poll_are_settings_with_the_names_of_the_source_documents_too(
    typed: World, tmp_path: Path
) -> None:
    settings = {
        "BPC_WORKER_ID": "worker-17",
        "BPC_JOBS_LEASE_SECONDS": "3600",
        "BPC_JOBS_LEASE_RENEW_SECONDS": "0.1",
        "BPC_JOBS_POLL_INTERVAL_MS": "20",
    }
    job = typed.job("patient")

    with worker(typed, tmp_path, **settings) as process:
        until(process.started.exists)
        running = typed.reload(job)
        # Without the setting, a lease of an hour would be renewed after 20 minutes.
        until(lambda: typed.reload(job).lease_expires_at != running.lease_expires_at)
        process.finish.touch()
        until(lambda: typed.reload(job).status == "done")
        polled_at = "select query_start from pg_stat_activity where application_name = 'tickwork test worker'"
        polls: set[object] = set()

        def has_polled_often() -> bool:
            polls.update(row["query_start"] for row in typed.rows(polled_at))
            return len(polls) > 100

        # At one poll per second there would be fewer.
        until(has_polled_often, seconds=60)

    assert (running.worker_id, running.lease_seconds) == ("worker-17", 3600)


def test_a_worker_that_hears_no_notices_polls(typed: World, tmp_path: Path) -> None:
    with worker(typed, tmp_path) as process:
        until(lambda: process.has_said("start_worker"))
        # As an insert with a notice that got lost: the job becomes due without anybody saying so.
        job = typed.job("quick", run_at="2999-01-01")
        typed.run("update jobs set run_at = now()")
        until(lambda: typed.reload(job).status == "done")


def test_sigterm_lets_the_running_job_finish(typed: World, tmp_path: Path) -> None:
    job, other = typed.job("patient"), typed.job("quick")

    with worker(typed, tmp_path, TICKWORK_GRACE_SECONDS="60") as process:
        until(process.started.exists)
        process.popen.send_signal(signal.SIGTERM)
        # The heartbeat goes on while it finishes.
        before = typed.reload(job).lease_expires_at
        until(lambda: typed.reload(job).lease_expires_at != before)
        process.finish.touch()

        assert process.popen.wait(PATIENCE) == 0
    assert [typed.reload(each).status for each in (job, other)] == ["done", "queued"]


@pytest.mark.parametrize("concurrency", ["1", "100"])
def test_sigterm_ends_the_worker_while_the_database_is_away(typed: World, tmp_path: Path, concurrency: str) -> None:
    typed.job("patient", priority=10)
    for _ in range(60):
        typed.job("quick")

    with worker(typed, tmp_path, "--concurrency", concurrency) as process:
        until(process.started.exists)
        take_away(typed)
        process.popen.send_signal(signal.SIGTERM)
        process.finish.touch()

        assert process.popen.wait(PATIENCE) == 0


@pytest.mark.parametrize("concurrency", ["1", "100"])
def test_sigterm_ends_the_worker_while_the_server_is_silent(typed: World, tmp_path: Path, concurrency: str) -> None:
    typed.job("patient")

    with worker(typed, tmp_path, "--concurrency", concurrency) as process:
        until(process.started.exists)
        stopped = silence(typed)
        try:
            process.popen.send_signal(signal.SIGTERM)
            process.finish.touch()

            assert process.popen.wait(PATIENCE) == 0
        finally:
            for each in stopped:
                os.kill(each, signal.SIGCONT)


def test_sigterm_gives_a_job_back_that_does_not_finish_in_time(typed: World, tmp_path: Path) -> None:
    job = typed.job("patient")

    with worker(typed, tmp_path, TICKWORK_GRACE_SECONDS="0") as process:
        until(process.started.exists)

        assert process.stop() == 0
    assert (typed.reload(job).status, typed.reload(job).attempts) == ("queued", 0)


def test_several_families_and_handlers_in_one_process(typed: World, tmp_path: Path) -> None:
    typed.run("create table notes (job_id uuid primary key); grant insert on notes to tickwork_worker")
    typed.type("note", "other", lease_seconds=10)
    patient = typed.job("patient")
    jobs = [typed.job("quick") for _ in range(3)] + [typed.job("note") for _ in range(3)]

    with worker(typed, tmp_path, "other", "--concurrency", "2") as process:
        until(lambda: all(typed.reload(job).status == "done" for job in jobs))
        assert typed.reload(patient).status == "running"
        process.finish.touch()
        until(lambda: typed.reload(patient).status == "done")

        assert process.stop() == 0
    assert process.lines()[0]["family"] == "test other"


def test_kills_between_many_handlers_lose_and_double_nothing(typed: World, tmp_path: Path) -> None:
    typed.run("create table notes (job_id uuid); grant insert on notes to tickwork_worker")
    typed.type("note", "other", lease_seconds=10, max_attempts=20)
    jobs = [typed.job("note") for _ in range(120)]

    for seen in range(20, 100, 20):
        with worker(typed, tmp_path, "other", "--concurrency", "8") as process:
            until(partial(has_seen, process, seen))
        # The block has killed it. Its sessions may still commit a claim until they notice that.
        until(lambda: typed.value(SESSIONS_OF_WORKERS) == 0)
        held = typed.rows("select id from jobs where status = 'running'")
        assert len(held) <= 8
        typed.run("update jobs set lease_expires_at = clock_timestamp() - interval '1 second' where status = 'running'")
    with worker(typed, tmp_path, "other", "--concurrency", "8") as process:
        until(lambda: typed.value("select count(*) from jobs where status = 'done'") == len(jobs))

    assert typed.row("select count(*) as rows, count(distinct job_id) as jobs from notes") == {"rows": 120, "jobs": 120}


SESSIONS_OF_WORKERS = """
    select count(*) from pg_stat_activity where datname = current_database() and usename = 'tickwork_worker'
"""


def has_seen(process: Process, jobs: int) -> bool:
    return len(list(process.inside.iterdir())) >= jobs


def test_a_job_that_kills_its_worker_every_time_is_dead_and_its_neighbours_are_done(
    typed: World, tmp_path: Path
) -> None:
    poison = typed.job("crash", max_attempts=3)
    neighbours = [typed.job("quick") for _ in range(5)]

    for crash in range(1, 4):
        with worker(typed, tmp_path) as process:
            assert process.popen.wait(PATIENCE) == -signal.SIGKILL
        assert (typed.reload(poison).status, typed.reload(poison).attempts) == ("running", crash)
        if crash == 1:
            with worker(typed, tmp_path):
                until(lambda: all(typed.reload(job).status == "done" for job in neighbours))
        typed.expire(poison)
    typed.service.maintenance.maintain()

    assert typed.reload(poison).status == "dead"
    assert [row["status"] for row in typed.attempts(poison)] == ["lease_expired"] * 3
    assert [typed.reload(job).attempts for job in neighbours] == [1] * 5


def test_a_job_that_cannot_be_read_does_not_end_the_worker(typed: World, tmp_path: Path) -> None:
    # Past the checks, as no client can: a number that Python refuses to read.
    poison = typed.job("quick", max_attempts=1)
    typed.run("update jobs set payload = jsonb_build_object('number', repeat('9', 5000)::numeric)")

    with worker(typed, tmp_path) as process:
        until(lambda: typed.value("select status = 'dead' from jobs where id = %s", poison.id))
        healthy = typed.job("quick")
        until(lambda: typed.reload(healthy).status == "done")

        assert process.stop() == 0
    assert typed.value("select error_code from jobs where id = %s", poison.id) == "UNEXPECTED"


def test_one_worker_is_enough_for_all_upkeep(typed: World, tmp_path: Path) -> None:
    leave_to_upkeep(typed)

    with worker(typed, tmp_path) as process:
        until(lambda: left_to_upkeep(typed) == [])

        assert process.stop() == 0


def test_a_worker_outlives_a_database_that_goes_away(typed: World, tmp_path: Path) -> None:
    with worker(typed, tmp_path) as process:
        until(lambda: process.has_said("start_worker"))
        typed.run(
            "select pg_terminate_backend(pid) from pg_stat_activity "
            "where datname = current_database() and usename = 'tickwork_worker'"
        )
        job = typed.job("quick")
        until(lambda: typed.reload(job).status == "done")

        assert process.stop() == 0
