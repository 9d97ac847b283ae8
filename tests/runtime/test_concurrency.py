"""Several handlers of several families at a time, in one process."""

import asyncio
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pytest
from psycopg.rows import DictRow
from pydantic import BaseModel

from tests.world import World
from tests.world.waiting import PATIENCE, until
from tickwork.database.connection import Database
from tickwork.jobs.handler import Handler, Handlers, Tools
from tickwork.jobs.outcomes import Done, Json
from tickwork.queue import Queue
from tickwork.runtime import deadline, lease, presence, threads, watch
from tickwork.worker import Worker

SLOTS = 8


class Payload(BaseModel):
    n: int = 0


class SpiedQueue(Queue):
    """Notes how many leases each heartbeat was for."""

    def __init__(self, database: Database) -> None:
        super().__init__(database, "worker-1")
        self.beats: list[int] = []

    def heartbeat_jobs(self, heartbeats: Sequence[Json]) -> list[DictRow]:
        self.beats.append(len(heartbeats))
        return super().heartbeat_jobs(heartbeats)


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watch, "LOOK_SECONDS", 0.01)
    monkeypatch.setattr(watch, "STOP_SECONDS", 0.2)


@contextmanager
def working(
    world: World, families: dict[str, Any], concurrency: int = SLOTS, grace_seconds: float = 60
) -> Iterator[tuple[Worker, SpiedQueue, threading.Thread]]:
    """A worker whose families have a handler each, for the type of the same name."""
    handlers: dict[str, Handlers] = {family: {family: Handler(Payload, run)} for family, run in families.items()}
    database = Database(world.worker_url, "tickwork test worker", connections=concurrency + 1)
    queue = SpiedQueue(database)
    worker = Worker(queue, handlers, world.worker_url, grace_seconds, concurrency, poll_seconds=0.05)
    thread = threading.Thread(target=worker.run, daemon=True)
    thread.start()
    try:
        yield worker, queue, thread
    finally:
        worker.stop()
        thread.join(PATIENCE)
        database.close()


def enqueued(world: World, family: str, count: int, **columns: Any) -> list[Any]:
    if not world.value("select count(*) from job_types where key = %s", family):
        world.type(family, family, **columns)
    return [world.job(family, payload={"n": n}) for n in range(count)]


def are_done(world: World, jobs: list[Any]) -> Callable[[], bool]:
    return lambda: world.value(
        "select count(*) = %s from jobs where status = 'done' and id = any (%s)", len(jobs), [job.id for job in jobs]
    )


def test_as_many_handlers_as_there_is_room_for_are_inside_at_once(world: World) -> None:
    everybody = threading.Barrier(SLOTS)
    jobs = enqueued(world, "extract", SLOTS * 3)

    def meet(payload: Payload, tools: Tools) -> None:
        everybody.wait(PATIENCE)

    with working(world, {"extract": meet}):
        until(are_done(world, jobs))

    assert world.value("select max(attempts) from jobs") == 1


def test_async_handlers_are_inside_at_once_too(world: World) -> None:
    jobs = enqueued(world, "extract", SLOTS)
    inside: list[int] = []

    async def meet(payload: Payload, tools: Tools) -> None:
        inside.append(payload.n)
        while len(inside) < SLOTS:
            await asyncio.sleep(0.01)

    with working(world, {"extract": meet}):
        until(are_done(world, jobs))

    assert sorted(inside) == list(range(SLOTS))


def test_no_more_handlers_run_than_there_is_room_for(world: World) -> None:
    jobs = enqueued(world, "extract", 30)
    lock, inside, most = threading.Lock(), Counter[str](), []

    def count(payload: Payload, tools: Tools) -> None:
        with lock:
            inside["now"] += 1
            most.append(inside["now"])
        tools.wait(0.01)
        with lock:
            inside["now"] -= 1

    with working(world, {"extract": count}, concurrency=3):
        until(are_done(world, jobs))

    assert max(most) <= 3


def test_a_job_that_is_enqueued_while_a_handler_runs_does_not_wait_for_it(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    # However long a handler takes, it counts as quick.
    monkeypatch.setattr(threads, "QUICK_SECONDS", 3600)
    both = threading.Barrier(2)

    def meet(payload: Payload, tools: Tools) -> None:
        both.wait(PATIENCE)

    (first,) = enqueued(world, "extract", 1)
    with working(world, {"extract": meet}):
        until(lambda: world.reload(first).status == "running")
        (second,) = enqueued(world, "extract", 1)
        until(are_done(world, [first, second]))


def test_families_share_the_room_even_beside_a_backlog_of_slow_jobs(world: World) -> None:
    slow = enqueued(world, "extract", SLOTS * 2)
    quick = enqueued(world, "webhook", 40)
    may_end = threading.Event()
    inside: set[int] = set()

    def hang(payload: Payload, tools: Tools) -> None:
        inside.add(payload.n)
        may_end.wait(PATIENCE)

    with working(world, {"extract": hang, "webhook": lambda payload, tools: None}):
        until(are_done(world, quick))
        # By then the slow ones may have spread, but they have not kept the quick ones waiting.
        may_end.set()
        until(are_done(world, slow))

    assert world.value("select max(attempts) from jobs") == 1


def test_a_family_without_a_handler_here_is_left_alone(world: World) -> None:
    (other,) = enqueued(world, "classify", 1)
    jobs = enqueued(world, "extract", 3)

    with working(world, {"extract": lambda payload, tools: None}):
        until(are_done(world, jobs))

    assert world.reload(other).status == "queued"


def test_the_leases_of_all_are_kept_by_one_statement(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lease, "BEATS_PER_LEASE", 100_000)
    jobs = enqueued(world, "extract", SLOTS)
    may_end = threading.Event()

    def hang(payload: Payload, tools: Tools) -> None:
        may_end.wait(PATIENCE)

    with working(world, {"extract": hang}) as (_, queue, _thread):
        until(lambda: SLOTS in queue.beats)
        may_end.set()
        until(are_done(world, jobs))


def within_the_handler(hold: Callable[[Any], None], tools: Tools) -> None:
    tools.under_lease(hold)


def with_the_completion(hold: Callable[[Any], None], tools: Tools) -> Done:
    return Done(writes=[hold])


@pytest.mark.parametrize("transaction", [within_the_handler, with_the_completion])
def test_a_transaction_beyond_the_lease_costs_nobody_the_lease(
    world: World, monkeypatch: pytest.MonkeyPatch, transaction: Callable[..., Done | None]
) -> None:
    monkeypatch.setattr(lease, "BEATS_PER_LEASE", 100_000)
    jobs = enqueued(world, "extract", SLOTS)
    may_end = threading.Event()

    def hold(connection: Any) -> None:
        until(lambda: world.value("select count(*) from jobs where status = 'running'") == SLOTS)
        # A mark on every lease, which only a heartbeat removes.
        world.run("update jobs set lease_expires_at = clock_timestamp() + interval '1 day'")
        marked = "select count(*) from jobs where lease_expires_at > clock_timestamp() + interval '1 hour'"
        until(lambda: world.value(marked) == 0)
        may_end.set()

    def run(payload: Payload, tools: Tools) -> Done | None:
        if payload.n == 0:
            return transaction(hold, tools)
        may_end.wait(PATIENCE)
        return None

    with working(world, {"extract": run}):
        until(are_done(world, jobs))

    assert {world.reload(job).attempts for job in jobs} == {1}


def test_a_settlement_that_has_to_wait_costs_no_other_its_lease(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lease, "BEATS_PER_LEASE", 100_000)
    jobs = enqueued(world, "extract", 3)
    blocker = world.connect()
    first_ends, may_end = threading.Event(), threading.Event()
    waiting = "select count(*) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'"

    def run(payload: Payload, tools: Tools) -> None:
        (first_ends if payload.n == 0 else may_end).wait(PATIENCE)

    with working(world, {"extract": run}):
        until(lambda: world.value("select count(*) from jobs where status = 'running'") == 3)
        with blocker.transaction():
            blocker.execute("select from jobs where id = %s for update", [jobs[0].id])
            first_ends.set()
            until(lambda: world.value(waiting) > 0)
            before = [world.reload(job).lease_expires_at for job in jobs[1:]]
            until(
                lambda: all(
                    world.reload(job).lease_expires_at != was for job, was in zip(jobs[1:], before, strict=True)
                )
            )
        may_end.set()
        until(are_done(world, jobs))

    assert {world.reload(job).attempts for job in jobs} == {1}


def test_a_handler_that_hangs_is_left_behind_and_the_others_go_on(world: World) -> None:
    (hanging,) = enqueued(world, "extract", 1, timeout_seconds=1, max_attempts=1)
    jobs = enqueued(world, "webhook", 20)
    release = threading.Event()

    with working(world, {"extract": lambda payload, tools: release.wait(PATIENCE) and None, "webhook": quick}):
        until(lambda: world.reload(hanging).status == "dead")
        more = enqueued(world, "webhook", 3)
        until(are_done(world, jobs + more))
        release.set()

    assert world.reload(hanging).error_code == "TIMEOUT"


def quick(payload: Payload, tools: Tools) -> None:
    pass


def test_a_worker_that_is_stopped_gives_every_job_its_grace(world: World) -> None:
    jobs = enqueued(world, "extract", SLOTS + 4)
    inside, may_end = threading.Barrier(SLOTS + 1), threading.Event()

    def run(payload: Payload, tools: Tools) -> None:
        inside.wait(PATIENCE)
        may_end.wait(PATIENCE)

    with working(world, {"extract": run}) as (worker, _, thread):
        inside.wait(PATIENCE)
        worker.stop()
        may_end.set()
        thread.join(PATIENCE)

    assert Counter(world.reload(job).status for job in jobs) == {"done": SLOTS, "queued": 4}


def test_what_does_not_end_within_the_grace_is_given_back(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deadline, "SETTLE_SECONDS", PATIENCE)
    jobs = enqueued(world, "extract", SLOTS)
    inside, release = threading.Barrier(SLOTS + 1), threading.Event()

    def run(payload: Payload, tools: Tools) -> None:
        inside.wait(PATIENCE)
        release.wait(PATIENCE)

    with working(world, {"extract": run}, grace_seconds=0) as (worker, _, thread):
        inside.wait(PATIENCE)
        worker.stop()
        thread.join(PATIENCE)
        assert not thread.is_alive()
        release.set()

    assert {(world.reload(job).status, world.reload(job).attempts) for job in jobs} == {("queued", 0)}


def test_the_number_of_running_jobs_and_all_families_are_told(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(presence, "NOTE_SECONDS", 0.0)
    enqueued(world, "extract", 3)
    enqueued(world, "webhook", 1)
    may_end = threading.Event()

    def hang(payload: Payload, tools: Tools) -> None:
        may_end.wait(PATIENCE)

    told = "select running_count from job_workers where families = array['extract', 'webhook']"
    with working(world, {"extract": hang, "webhook": hang}):
        until(lambda: [row["running_count"] for row in world.rows(told)] == [4])
        may_end.set()
