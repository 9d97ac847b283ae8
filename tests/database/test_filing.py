"""Where queued jobs wait: found when they are due, never overlooked, whoever else is at work."""

import random
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from threading import Barrier
from uuid import UUID

import pytest

from tests.world import World
from tests.world.agreement import disagreements
from tests.world.crowd import (
    claim_all,
    claim_one_type,
    enqueue,
    fill_by_hand,
    let_time_pass,
    transaction,
    until_waiting_or_done,
    with_workers,
)
from tests.world.verb_queue import VerbQueue
from tests.world.waiting import until
from tickwork.jobs.rows import ClaimedJob


def test_jobs_filled_in_by_hand_are_found_when_the_queue_is_rebuilt(world: World) -> None:
    fill_by_hand(world, world.tenant(), world.type(), 2)

    before = world.queue.claim_next_job("test")
    world.service.maintenance.rebuild_queue()

    assert before is None
    assert len(claim_all(world)) == 2


def test_a_job_that_becomes_due_is_found_though_its_tenant_had_nothing_else(world: World) -> None:
    world.job()
    world.claim()
    later = world.job(run_at=world.value("select clock_timestamp() + interval '1 second'"))
    before = world.queue.claim_next_job("test")

    until(lambda: world.queue.claim_next_job("test"))

    assert before is None
    assert world.reload(later).status == "running"


def test_a_batch_of_now_and_later_is_found_now(world: World) -> None:
    tenant, type = str(world.tenant()), world.type()
    later = {"tenant_id": tenant, "type": type, "run_at": "2099-01-01T00:00Z"}

    _, now, _ = world.service.jobs.enqueue_jobs([later, {"tenant_id": tenant, "type": type}, later])

    assert [job.id for job in claim_all(world)] == [now.id]


def test_a_claim_in_flight_hides_no_other_job(world: World) -> None:
    first, second = world.job(), world.job()
    opening = transaction(world)

    taken = opening.execute("select id from claim_next_job('test', 'w')").fetchall()
    other = world.claim()

    assert {taken[0]["id"], other.id} == {first.id, second.id}


def test_a_job_that_is_not_committed_yet_is_found_afterwards(world: World) -> None:
    running = world.running_job()
    enqueuing = transaction(world)
    enqueuing.execute("select from enqueue_job(%s, %s)", [running.tenant_id, running.type])

    before = world.queue.claim_next_job("test")
    enqueuing.commit()

    assert before is None
    assert len(claim_all(world)) == 1


def test_a_job_enqueued_under_an_old_snapshot_is_found(world: World) -> None:
    running = world.running_job()
    enqueuing = transaction(world)
    enqueuing.execute("set transaction isolation level repeatable read")
    enqueuing.execute("select from jobs")
    assert claim_all(world) == []

    enqueuing.execute("select from enqueue_job(%s, %s)", [running.tenant_id, running.type])
    enqueuing.commit()

    assert len(claim_all(world)) == 1


def test_nobody_comes_away_empty_handed_while_others_claim(world: World) -> None:
    world.type()
    # Who comes last brings one job for each of them, of a tenant that nobody has seen yet.
    start = Barrier(8, action=lambda: enqueue(world, world.tenant(), 8))

    def claim_after_each_start(queue: VerbQueue) -> list[bool]:
        starts = []
        for _ in range(12):
            start.wait(60)
            starts.append(queue.claim_next_job("test") is not None)
        return starts

    got_a_job = with_workers(world, 8, claim_after_each_start)

    assert got_a_job == [[True] * 12] * 8


def test_no_job_is_overlooked_while_jobs_come_and_go(world: World) -> None:
    tenants, type, chance = [world.tenant() for _ in range(3)], world.type(), random.Random(7)
    claimed: list[UUID] = []

    def claim(queue: VerbQueue) -> None:
        def is_over() -> bool:
            claimed.extend(job.id for _ in range(10) if (job := queue.claim_next_job("test")))
            return len(claimed) >= 300

        until(is_over, "a job was overlooked")

    with ThreadPoolExecutor(1) as pool:
        workers = pool.submit(with_workers, world, 4, claim)
        enqueued = []
        for _ in range(300):
            lane = chance.choice([None, "connector:1", "endpoint:2"])
            enqueued.append(world.service.jobs.enqueue_job(chance.choice(tenants), type, lane=lane).id)
            if chance.random() < 0.2:
                until(lambda: len(claimed) == len(enqueued), "a job was overlooked")
        workers.result()

    assert sorted(claimed) == sorted(enqueued)


def test_jobs_that_wait_behind_a_single_one_take_turns(world: World) -> None:
    world.queue.complete_job(world.running_job())
    assert world.queue.claim_next_job("test") is None
    large, small = world.tenant(), world.tenant()
    enqueue(world, large, 5)

    first = world.claim()
    world.job(tenant=small)
    following = [world.claim().tenant_id for _ in range(3)]

    assert first.tenant_id == large
    assert small in following
    assert len(claim_all(world)) == 2


def test_a_later_job_of_a_new_tenant_is_found(world: World) -> None:
    world.queue.complete_job(world.running_job())
    assert world.queue.claim_next_job("test") is None
    tenant, soon = world.tenant(), datetime.now(UTC) + timedelta(seconds=0.5)
    now, later = world.service.jobs.enqueue_jobs(
        [{"tenant_id": str(tenant), "type": "greet_person", "run_at": at} for at in (None, soon.isoformat())]
    )

    assert world.claim().id == now.id
    found: list[ClaimedJob] = []

    def look() -> bool:
        found.extend(claim_all(world))
        return bool(found)

    until(look)
    assert [job.id for job in found] == [later.id]


@pytest.mark.parametrize("obstacle", ["pause_type", "pause_tenant", "limit_type", "limit_tenant", "limit_lane"])
def test_a_single_job_is_not_started_past_what_is_in_its_way(world: World, obstacle: str) -> None:
    tenant = world.tenant()
    world.queue.complete_job(world.running_job(tenant=tenant))
    assert world.queue.claim_next_job("test", types=["greet_person"]) is None
    lane = None
    match obstacle:
        case "pause_type":
            world.service.pauses.pause_jobs(type="greet_person")
        case "pause_tenant":
            world.service.pauses.pause_jobs(tenant_id=tenant)
        case "limit_type":
            world.run("update job_types set max_running = 1")
            world.running_job(tenant=tenant)
        case "limit_tenant":
            world.run("update tenant_settings set max_running = 1")
            world.running_job(tenant=tenant)
        case _:
            lane = "connector:1"
            world.service.pauses.limit_lane("test", tenant, lane, starts_per_minute=1)
            world.job(tenant=tenant, lane=lane)
            (first,) = claim_one_type(world, 1)
            world.queue.complete_job(first)
    world.job(tenant=tenant, lane=lane)

    assert world.queue.claim_next_job("test", types=["greet_person"]) is None


def test_a_lane_that_is_held_while_a_job_is_filed_has_it_once(world: World) -> None:
    tenant, type = world.tenant(), world.type()
    # Inside the enqueue, after the job was put where a claim finds it.
    world.run(
        "create function wait_here() returns trigger language plpgsql as "
        "'begin perform pg_advisory_lock_shared(1), pg_advisory_unlock_shared(1); return null; end'"
    )
    world.run("create trigger wait_here after insert on tickwork.waiting for each row execute function wait_here()")
    world.run("select pg_advisory_lock(1)")

    with ThreadPoolExecutor(1) as pool:
        enqueuing = pool.submit(world.service.jobs.enqueue_job, tenant, type, lane="connector:1")
        until_waiting_or_done(world, enqueuing)
        with world.admin.transaction():
            world.run(
                "insert into tickwork.lane_rules (family, tenant_id, lane, held_until) "
                "values ('test', %s, 'connector:1', 'infinity')",
                tenant,
            )
        world.run("select pg_advisory_unlock(1)")
        enqueuing.result()

    assert disagreements(world) == []


@pytest.mark.parametrize("verb", ["cancel", "delete", "reschedule", "edit"])
def test_a_job_that_leaves_a_full_lane_makes_room_for_the_next(world: World, verb: str) -> None:
    tenant, _ = world.tenant(), world.type()
    world.service.pauses.limit_lane("test", tenant, "connector:1", max_running=1)
    first, second = (world.job(tenant=tenant, lane="connector:1") for _ in range(2))

    match verb:
        case "cancel":
            world.service.jobs.cancel_job(first.id)
        case "delete":
            world.run("delete from jobs where id = %s", first.id)
        case "reschedule":
            world.service.jobs.reschedule_job(first.id, "2999-01-01")
        case "edit":
            world.run("update jobs set lane = null, run_at = '2999-01-01' where id = %s", first.id)

    assert [job.id for job in claim_all(world)] == [second.id]


def test_a_job_that_is_parked_while_its_lane_is_released_is_found(world: World) -> None:
    tenant, type = world.tenant(), world.type()
    world.service.pauses.hold_lane("test", tenant, "connector:1", "infinity")
    enqueuing = [transaction(world), transaction(world)]
    for each in enqueuing:
        each.execute("select from enqueue_job(%s, %s, lane => 'connector:1')", [tenant, type])

    enqueuing[0].commit()
    claimed = []
    for _ in range(2):
        world.service.pauses.release_lane("test", tenant, "connector:1")
        claimed += claim_all(world)
    enqueuing[1].commit()
    let_time_pass(world, 2)

    assert len(claimed) == 1
    assert len(claim_all(world)) == 1


def test_an_alarm_of_a_lane_that_has_room_rings_once(world: World) -> None:
    tenant, _ = world.tenant(), world.type()
    world.service.pauses.limit_lane("test", tenant, "connector:1", max_running=5)
    world.job(tenant=tenant, lane="connector:1", run_at="2099-01-01")
    let_time_pass(world, 75 * 366 * 86400)

    assert len(claim_all(world)) == 1
    assert world.value("select count(*) from tickwork.alarms") == 0


def test_many_jobs_of_a_lane_without_a_rule_stay_where_they_are_found(world: World) -> None:
    tenant, _ = world.tenant(), world.type()
    enqueue(world, tenant, 150, lane="connector:1")

    world.service.pauses.release_lane("test", tenant, "connector:1")
    world.service.pauses.limit_lane("test", tenant, "connector:1")

    assert disagreements(world) == []
    assert len(claim_all(world)) == 150


def test_a_job_of_a_lane_with_a_rule_is_in_one_place(world: World) -> None:
    tenant, type = world.tenant(), world.type()
    world.service.pauses.hold_lane("test", tenant, "connector:1", "infinity")

    world.job(type, tenant, lane="connector:1")

    assert disagreements(world) == []


def due_alarm(world: World) -> UUID:
    """A tenant whose only job was parked and has just become due."""
    tenant = world.tenant()
    world.job(world.type(), tenant, run_at="2099-01-01")
    let_time_pass(world, 75 * 366 * 86400)
    return tenant


def test_an_alarm_stays_for_a_job_that_is_not_committed_yet(world: World) -> None:
    tenant = due_alarm(world)
    enqueuing = transaction(world)
    enqueuing.execute("select from enqueue_job(%s, 'greet_person', run_at => '2099-01-01')", [tenant])

    claimed = claim_all(world)
    enqueuing.commit()

    assert len(claimed) == 1
    assert disagreements(world) == []


def test_a_later_job_enqueued_under_an_old_snapshot_is_found(world: World) -> None:
    tenant = due_alarm(world)
    enqueuing = transaction(world)
    enqueuing.execute("set transaction isolation level repeatable read")
    enqueuing.execute("select from jobs")
    assert len(claim_all(world)) == 1

    enqueuing.execute("select from enqueue_job(%s, 'greet_person', run_at => '2099-01-01')", [tenant])
    enqueuing.commit()

    assert disagreements(world) == []


def test_a_claim_that_does_not_see_a_parked_job_leaves_its_alarm(world: World) -> None:
    tenant, type = world.tenant(), world.type()
    first = world.job(type, tenant, run_at=datetime.now(UTC) + timedelta(seconds=0.3))
    blind = world.connect()
    blind.execute("begin isolation level repeatable read")
    blind.execute("select from jobs")
    second = world.job(type, tenant, run_at=datetime.now(UTC) + timedelta(seconds=0.4))
    until(lambda: datetime.now(UTC) > first.run_at + timedelta(seconds=0.1))

    blind.execute("select id from claim_jobs('test', 'w', 10)")
    blind.execute("commit")

    until(lambda: bool(world.queue.claim_jobs("test", 10)) and world.reload(second).status == "running")
