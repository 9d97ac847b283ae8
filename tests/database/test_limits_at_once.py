"""Limits under concurrency: exact, whoever claims at the same moment, and without waiting in a circle."""

from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from itertools import accumulate
from typing import Any
from uuid import UUID

import psycopg

from tests.database.test_limits import KINDS, LANE, limited, running
from tests.world import World
from tests.world.crowd import claim_all, enqueue, transaction, until_waiting_or_done, with_workers
from tests.world.verb_queue import VerbQueue
from tests.world.waiting import until


@KINDS
def test_a_claim_in_flight_is_counted(world: World, kind: str) -> None:
    tenant = limited(world, kind, 1)
    claiming = transaction(world)
    claiming.execute("select from claim_next_job('test', 'w')")

    with ThreadPoolExecutor(2) as pool:
        second = pool.submit(world.queue.claim_next_job, "test")
        until_waiting_or_done(world, second)
        enqueue(world, tenant, 1, lane=LANE, priority=50)
        third = pool.submit(world.other_queue.claim_next_job, "test")
        until_waiting_or_done(world, second, third)
        claiming.commit()

    assert (second.result(), third.result()) == (None, None)
    assert running(world) == 1


def test_jobs_enqueued_into_a_lane_at_the_same_moment_hold_its_limit(world: World) -> None:
    tenant, _ = world.tenant(), world.type()
    world.service.pauses.limit_lane("test", tenant, LANE, max_running=1)
    enqueuing = [transaction(world), transaction(world)]
    for each in enqueuing:
        each.execute("select from enqueue_job(%s, 'greet_person', lane => %s)", [tenant, LANE])
    for each in enqueuing:
        each.commit()
    claiming = transaction(world)
    claiming.execute("select from claim_next_job('test', 'w')")

    with ThreadPoolExecutor(1) as pool:
        second = pool.submit(world.queue.claim_next_job, "test")
        until_waiting_or_done(world, second)
        claiming.commit()

    assert second.result() is None
    assert running(world) == 1


def test_a_claim_that_is_rolled_back_leaves_its_slot_to_one_other(world: World) -> None:
    limited(world, "type", 1)
    claiming = transaction(world)
    claiming.execute("select from claim_next_job('test', 'w')")

    with ThreadPoolExecutor(2) as pool:
        others = [pool.submit(queue.claim_next_job, "test") for queue in (world.queue, world.other_queue)]
        until_waiting_or_done(world, *others)
        claiming.rollback()

    assert len(list(filter(None, [other.result() for other in others])) + claim_all(world)) == 1


@KINDS
def test_a_limit_holds_beside_a_claim_in_flight(world: World, kind: str) -> None:
    limited(world, kind, 1)
    world.job(world.type("wave_hand", priority=50), world.tenant("other"))
    opening = transaction(world)
    (taken,) = opening.execute("select type from claim_next_job('test', 'w')").fetchall()

    started = claim_all(world)
    opening.commit()

    assert taken["type"] == "wave_hand"
    assert len(started) <= 1
    assert len(started + claim_all(world)) == 1


def test_a_claim_under_an_old_snapshot_starts_nothing_too_many(world: World) -> None:
    tenant = limited(world, "tenant", 1)
    world.queue.complete_job(world.claim())
    world.run("update tickwork.family_types set reaped_at = 'infinity'")
    old = transaction(world)
    old.execute("set transaction isolation level repeatable read")
    old.execute("select from jobs")
    enqueue(world, tenant, 1, priority=50, lane=LANE)
    world.claim()

    try:
        old.execute("select from claim_next_job('test', 'w')")
        old.commit()
    except psycopg.Error:
        old.rollback()

    assert running(world) == 1


def test_a_batch_that_meets_new_lines_midway_does_not_deadlock(world: World) -> None:
    limited(world, "type", 100)
    newcomer = world.tenant()
    world.claim()
    world.run("update tickwork.family_types set reaped_at = 'infinity'")
    # A door inside the claim, after its limit is locked: it stands still until the door is opened.
    world.run(
        "create function wait_at_the_door() returns trigger language plpgsql as "
        "'begin perform pg_advisory_lock_shared(1), pg_advisory_unlock_shared(1); return new; end'"
    )
    world.run(
        "create trigger door before update on jobs for each row when (new.worker_id = 'worker-1') "
        "execute function wait_at_the_door()"
    )
    world.run("select pg_advisory_lock(1)")

    with ThreadPoolExecutor(2) as pool:
        batch = pool.submit(world.queue.claim_jobs, "test", 50)
        until_waiting_or_done(world, batch)
        enqueue(world, newcomer, 1, lane="a")
        single = pool.submit(world.other_queue.claim_next_job, "test")
        until_waiting_or_done(world, batch, single)
        enqueue(world, newcomer, 1, lane="b")
        world.run("select pg_advisory_unlock(1)")

    started = [*batch.result(), *filter(None, [single.result()]), *claim_all(world)]
    assert len({job.id for job in started}) == len(started) == 11


def peaks(attempts: list[dict[str, Any]], *columns: str) -> dict[tuple[Any, ...], int]:
    """How many attempts ran at once at most, for each value of the columns, by their own times."""
    events: defaultdict[tuple[Any, ...], list[tuple[datetime, int]]] = defaultdict(list)
    for attempt in attempts:
        # At the same moment the one that ends comes first.
        key = tuple(attempt[column] for column in columns)
        events[key] += [(attempt["started_at"], 1), (attempt["finished_at"], -1)]
    return {key: max(accumulate(step for _, step in sorted(steps))) for key, steps in events.items()}


def test_no_limit_is_ever_exceeded_by_one(world: World) -> None:
    tenants = [world.tenant() for _ in range(3)]
    types = [world.type(key, max_running=7, max_running_per_tenant=3) for key in ("greet_person", "wave_hand")]
    world.run("update tenant_settings set max_running = 5")
    for tenant in tenants:
        world.service.pauses.limit_lane("test", tenant, LANE, max_running=2)
        for type in types:
            for lane in (LANE, None):
                enqueue(world, tenant, 33, type, lane=lane)

    done: list[UUID] = []

    def work(queue: VerbQueue) -> None:
        def is_over() -> bool:
            while job := queue.claim_next_job("test"):
                queue.heartbeat_job(job)
                done.append(queue.complete_job(job).id)
            return len(done) == 396

        until(is_over, "a job was left")

    with_workers(world, 16, work)

    attempts = world.rows(
        "select job_attempts.started_at, job_attempts.finished_at, jobs.type, jobs.tenant_id, jobs.lane "
        "from job_attempts join jobs on jobs.id = job_attempts.job_id"
    )
    assert len(attempts) == len(set(done)) == 396
    assert max(peaks(attempts, "type").values()) <= 7
    assert max(peaks(attempts, "tenant_id").values()) <= 5
    assert max(peaks(attempts, "tenant_id", "type").values()) <= 3
    assert max(peaks([each for each in attempts if each["lane"]], "tenant_id").values()) <= 2
