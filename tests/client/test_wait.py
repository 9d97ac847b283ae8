"""Waiting for a job: its end is announced, and found out without that too."""

import time
from uuid import uuid4

import pytest

from tests.conftest import pooler
from tests.database.test_enqueue import in_thread
from tests.servers.pooler import find_pgbouncer
from tests.world import World
from tests.world.waiting import until
from tickwork.client import Tickwork, looking
from tickwork.database.connection import Database
from tickwork.errors import NoSuchJob, NotFinished
from tickwork_local.postgres import Server


def is_listening(world: World) -> bool:
    found: bool = world.value(
        "select exists (select from pg_stat_activity where application_name = 'tickwork listener' and state = 'idle' "
        "and query = 'listen tickwork_done')"
    )
    return found


def has_looked(world: World) -> bool:
    found: bool = world.value(
        "select exists (select from pg_stat_activity where application_name = 'tickwork' and state = 'idle' "
        "and query like 'select * from public.get_job(%%')"
    )
    return found


def test_the_end_of_a_job_is_announced_to_whoever_waits(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(looking, "LOOK_SECONDS", (3600.0,))
    world.job(notify=True)
    running, other = world.claim(), world.job(notify=True)
    waiting = in_thread(lambda: world.service.wait(running.id, 3600))
    until(lambda: is_listening(world) and has_looked(world))

    world.service.jobs.cancel_job(other.id)
    world.queue.complete_job(running, {"answer": 42})

    ended = waiting()
    assert (ended.id, ended.status, ended.result) == (running.id, "done", {"answer": 42})


def test_a_job_that_has_ended_is_returned_at_once(world: World) -> None:
    job = world.running_job(notify=True, max_attempts=1)
    world.queue.fail_job(job, {"code": "BUSY"})

    ended = world.service.wait(job.id, 0)

    assert (ended.status, ended.error_code) == ("dead", "BUSY")


def test_a_job_whose_end_nobody_announces_is_looked_at(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(looking, "LOOK_SECONDS", (0.05,))
    job = world.running_job(notify=False)
    waiting = in_thread(lambda: world.service.wait(str(job.id), 600))

    world.queue.complete_job(job)

    assert waiting().status == "done"


def test_a_listener_that_breaks_leaves_looking(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(looking, "LOOK_SECONDS", (0.05,))
    job = world.running_job(notify=True)
    waiting = in_thread(lambda: world.service.wait(job.id, 600))
    until(lambda: is_listening(world))

    world.run("select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'tickwork listener'")
    until(lambda: not is_listening(world))
    world.queue.complete_job(job)

    assert waiting().status == "done"


def test_whoever_waits_too_long_is_told_what_the_job_is(world: World) -> None:
    job = world.job(notify=True)
    world.service.pauses.pause_jobs(tenant_id=job.tenant_id, reason="unpaid bill")
    start = time.monotonic()

    with pytest.raises(NotFinished, match=rf"job {job.id} has not ended after 0\.1 s: .*: unpaid bill") as refusal:
        world.service.wait(job.id, 0.1)

    assert 0.1 <= time.monotonic() - start < 60
    assert "timeout_seconds" in str(refusal.value.hint)


def test_the_listener_goes_with_the_wait(world: World) -> None:
    database = Database(world.url, "one who waits")

    with pytest.raises(NoSuchJob, match="there is no job"):
        Tickwork(database).wait(uuid4(), 0)
    database.close()

    until(
        lambda: not world.value("select count(*) from pg_stat_activity where application_name like 'one who waits%%'")
    )


@pytest.mark.skipif(find_pgbouncer() is None, reason="pgbouncer is not installed")
def test_behind_a_pooler_the_job_is_looked_at(world: World, server: Server) -> None:
    job = world.running_job(notify=True)
    with pooler(server) as port:
        database = Database(world.url.replace(f":{server.port}/", f":{port}/"))
        waiting = in_thread(lambda: Tickwork(database).wait(job.id, 600))
        world.queue.complete_job(job)

        assert waiting().status == "done"
        database.close()


def test_what_is_followed_is_seen_as_it_goes_on(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(looking, "LOOK_SECONDS", (0.01,))
    job = world.job()
    seen = []

    for latest in world.service.jobs.follow(job.id, 600):
        if latest.status not in seen:
            seen.append(latest.status)
        if latest.status == "queued":
            running = world.claim()
        elif latest.status == "running":
            world.queue.complete_job(running)

    assert seen == ["queued", "running", "done"]
