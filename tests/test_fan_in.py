"""A thousand jobs and one that waits for them, with workers that are killed."""

from collections.abc import Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from uuid import UUID

import pytest

from tests.test_worker import Process, worker
from tests.world import World
from tests.world.agreement import disagreements
from tests.world.crowd import enqueue
from tests.world.waiting import until
from tickwork.jobs.rows import AfterWhen, Job

JOBS, WORKERS = 1000, 3
KILLED_AFTER = (100, 300, 500, 700, 900)


@pytest.fixture
def typed(world: World) -> World:
    for key in ("quick", "crash"):
        world.type(key, lease_seconds=10, backoff=[0])
    return world


def fan_in(world: World, after_when: AfterWhen = "all_done") -> Job:
    tenant = world.tenant()
    enqueue(world, tenant, JOBS, "quick")
    ids: list[UUID] = [row["id"] for row in world.rows("select id from jobs")]
    return world.job("quick", tenant, after=ids, after_when=after_when, priority=100)


def have_started(world: World, jobs: int) -> bool:
    return bool(world.value("select count(*) from jobs where status <> 'queued'") > jobs)


def kill_now_and_then(world: World, folder: Path, stack: ExitStack) -> Iterator[Process]:
    """Workers that work until they are killed; each of them is replaced."""
    workers = [stack.enter_context(worker(world, folder)) for _ in range(WORKERS)]
    for started in KILLED_AFTER:
        until(partial(have_started, world, started))
        victim = workers.pop(0)
        victim.popen.kill()
        victim.popen.wait()
        workers.append(stack.enter_context(worker(world, folder)))
        yield victim


def test_a_thousand_jobs_into_one_start_it_once_after_the_last(typed: World, tmp_path: Path) -> None:
    last = fan_in(typed)

    with ExitStack() as stack:
        assert len(list(kill_now_and_then(typed, tmp_path, stack))) == len(KILLED_AFTER)
        until(lambda: typed.reload(last).status != "queued")
        until(lambda: typed.reload(last).finished_at is not None)

    ended = typed.reload(last)
    assert (ended.status, ended.attempts) == ("done", 1)
    statuses = typed.rows("select status, count(*) from jobs group by status")
    assert statuses == [{"status": "done", "count": JOBS + 1}]
    assert typed.value("select max(finished_at) from jobs where id <> %s", last.id) <= ended.started_at
    assert disagreements(typed) == []


@pytest.mark.parametrize("after_when", ["all_done", "all_ended"])
def test_one_that_is_dead_does_what_was_said(typed: World, tmp_path: Path, after_when: AfterWhen) -> None:
    last = fan_in(typed, after_when)
    # Whoever has this one is killed by it.
    typed.run(
        "update jobs set type = 'crash', max_attempts = 1 where id = (select after[500] from jobs where id = %s)",
        last.id,
    )

    with ExitStack() as stack:
        list(kill_now_and_then(typed, tmp_path, stack))
        until(lambda: typed.value("select count(*) from jobs where finished_at is null") == 0)

    ended = typed.reload(last)
    dead = typed.value("select id from jobs where status = 'dead'")
    if after_when == "all_done":
        assert (ended.status, ended.attempts) == ("cancelled", 0)
        assert ended.error_message == f"Job {dead}, which it was waiting for, is dead"
    else:
        assert (ended.status, ended.attempts) == ("done", 1)
        assert typed.value("select max(finished_at) from jobs where id <> %s", last.id) <= ended.started_at
    assert disagreements(typed) == []
