"""How a claim finds its lines: opened by whoever brings a job, closed when they are empty, never overlooked."""

import random
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from threading import Barrier
from typing import Any
from uuid import UUID

import pytest

from tests.crowd import (
    claim_all,
    claim_one_by_one,
    enqueue,
    fill_by_hand,
    transaction,
    until_waiting_or_done,
    with_workers,
)
from tests.waiting import until
from tests.world import World
from tickwork.database import Connection
from tickwork.jobs import Job
from tickwork.queue import Queue, lease_of


def test_jobs_filled_in_by_hand_are_found_by_the_next_reap(world: World) -> None:
    fill_by_hand(world, world.tenant(), world.type(), 2)

    before = world.queue.claim_next_job("test")
    world.service.reap_expired_leases()

    assert before is None
    assert len(claim_all(world)) == 2


def open_rows(world: World) -> dict[str, Any]:
    return dict(
        world.row(
            "select (select count(*) from tickwork.turns where is_open) as turns, "
            "(select count(*) from tickwork.lines where is_open) as lines"
        )
    )


def test_drained_lines_are_closed_and_an_enqueue_opens_them_again(world: World) -> None:
    tenants, _ = [world.tenant() for _ in range(3)], world.type()
    for tenant in tenants:
        enqueue(world, tenant, 2)
        enqueue(world, tenant, 2, lane="connector:1")
    claim_one_by_one(world, 11)
    before = open_rows(world)

    claim_all(world)
    drained = open_rows(world)
    again = world.job(tenant=tenants[1], lane="connector:1")

    assert before == {"turns": 3, "lines": 6}
    assert drained == {"turns": 0, "lines": 0}
    assert [job.id for job in claim_all(world)] == [again.id]


def test_a_job_that_becomes_due_is_found_though_its_line_was_closed(world: World) -> None:
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

    _, now, _ = world.service.enqueue_jobs([later, {"tenant_id": tenant, "type": type}, later])

    assert [job.id for job in claim_all(world)] == [now.id]


def test_a_claim_that_is_opening_a_line_hides_no_other_job(world: World) -> None:
    first, second = world.job(), world.job()
    opening = transaction(world)

    taken = opening.execute("select id from claim_next_job('test', 'w')").fetchall()
    other = world.claim()

    assert {taken[0]["id"], other.id} == {first.id, second.id}


def test_a_line_stays_open_for_a_job_that_is_not_committed_yet(world: World) -> None:
    running = world.running_job()
    enqueuing = transaction(world)
    enqueuing.execute("select from enqueue_job(%s, %s)", [running.tenant_id, running.type])

    before = world.queue.claim_next_job("test")
    enqueuing.commit()

    assert before is None
    assert len(claim_all(world)) == 1


def test_an_enqueue_waits_for_a_claim_that_is_closing_its_line(world: World) -> None:
    running = world.running_job()
    closing = transaction(world)
    assert closing.execute("select claim_next_job('test', 'w')").fetchall() == []

    with ThreadPoolExecutor(1) as pool:
        enqueued = pool.submit(world.service.enqueue_job, running.tenant_id, running.type)
        until_waiting_or_done(world, enqueued)
        closing.commit()

    assert world.claim().id == enqueued.result().id


def test_a_job_enqueued_under_an_old_snapshot_is_found(world: World) -> None:
    running = world.running_job()
    enqueuing = transaction(world)
    enqueuing.execute("set transaction isolation level repeatable read")
    enqueuing.execute("select from jobs")
    assert claim_all(world) == []

    enqueuing.execute("select from enqueue_job(%s, %s)", [running.tenant_id, running.type])
    enqueuing.commit()

    assert len(claim_all(world)) == 1


def test_nobody_comes_away_empty_handed_while_others_open_the_line(world: World) -> None:
    world.type()
    # Who comes last brings one job for each of them, in a line that nobody has seen yet.
    start = Barrier(8, action=lambda: enqueue(world, world.tenant(), 8))

    def claim_after_each_start(queue: Queue) -> list[bool]:
        starts = []
        for _ in range(12):
            start.wait(60)
            starts.append(queue.claim_next_job("test") is not None)
        return starts

    got_a_job = with_workers(world, 8, claim_after_each_start)

    assert got_a_job == [[True] * 12] * 8


@pytest.mark.parametrize(("waiting", "max_jobs"), [(0, 1), (1, 2)])
def test_a_claim_that_has_moved_a_turn_waits_for_no_other(world: World, waiting: int, max_jobs: int) -> None:
    moved, other, _ = world.tenant(), world.tenant(), world.type()
    for tenant in (other, moved):
        claim_all(world)
        enqueue(world, tenant, 2)
        claim_one_by_one(world, 2)
    for _ in range(waiting):
        world.job(tenant=moved)
    enqueue(world, other, 2)
    become_due_when_a_turn_moves(world, other)
    opening = transaction(world)
    opening.execute("select from tickwork.turns where tenant_id = %s for update", [other])
    world.run("set lock_timeout = '1s'")

    claimed = world.rows("select tenant_id from claim_jobs('test', 'w', %s)", max_jobs)

    assert [row["tenant_id"] for row in claimed] == [moved] * waiting + [other]


def become_due_when_a_turn_moves(world: World, tenant: UUID) -> None:
    """As if somebody had woken the line of the tenant between two looks of one claim."""
    world.run("update tickwork.wakes set wake_at = 'infinity' where tenant_id = %s", tenant)
    world.run(
        "create function wake() returns trigger language plpgsql security definer as $$"
        "begin update tickwork.wakes set wake_at = clock_timestamp(); return null; end $$"
    )
    world.run("create trigger wake after update of starts on tickwork.turns execute function wake()")


def test_a_job_that_comes_back_while_its_line_is_closed_is_found(world: World) -> None:
    for type in (world.type(), world.type("thank_person")):
        world.job(type)
    returning, _ = claim_one_by_one(world, 2)
    world.job(returning.type, run_at=datetime.now(UTC) + timedelta(hours=1))
    assert claim_all(world) == []
    world.run("update tickwork.lines set is_open = true")
    world.run("update tickwork.turns set is_open = true")
    pausing = between_look_and_close(world)

    with ThreadPoolExecutor(2) as pool:
        closing = pool.submit(world.other_queue.claim_next_job, "test")
        until_waiting_or_done(world, closing)
        # For whoever gives the other one back.
        enqueue(world, world.tenant(), 1, priority=9)
        outcome = {**lease_of(returning), "status": "released"}
        settling = pool.submit(world.queue.settle_and_claim, [outcome], "test")
        until_waiting_or_done(world, closing, settling)
        pausing.commit()

    found = [closing.result(), *settling.result()[1], *claim_all(world)]
    assert returning.id in {job.id for job in found if job}


def between_look_and_close(world: World) -> Connection:
    """Until it commits, a claim that has put down when the next job is due gets no further."""
    world.run(
        "create function pause() returns trigger language plpgsql as $$"
        "begin perform pg_advisory_xact_lock(1); return new; end $$"
    )
    world.run(
        "create trigger pause before insert on tickwork.wakes for each row "
        "when (new.wake_at > clock_timestamp() + interval '1 minute') execute function pause()"
    )
    pausing = transaction(world)
    pausing.execute("select pg_advisory_xact_lock(1)")
    return pausing


def test_no_job_is_overlooked_while_lines_open_and_close(world: World) -> None:
    tenants, type, chance = [world.tenant() for _ in range(3)], world.type(), random.Random(7)
    claimed: list[UUID] = []

    def claim(queue: Queue) -> None:
        def is_over() -> bool:
            claimed.extend(job.id for _ in range(10) if (job := queue.claim_next_job("test")))
            return len(claimed) >= 300

        until(is_over, "a job was overlooked")

    with ThreadPoolExecutor(1) as pool:
        workers = pool.submit(with_workers, world, 4, claim)
        enqueued = []
        for _ in range(300):
            lane = chance.choice([None, "connector:1", "endpoint:2"])
            enqueued.append(world.service.enqueue_job(chance.choice(tenants), type, lane=lane).id)
            if chance.random() < 0.2:
                until(lambda: len(claimed) == len(enqueued), "a job was overlooked")
        workers.result()

    assert sorted(claimed) == sorted(enqueued)


def test_a_single_job_is_started_without_opening_its_line(world: World) -> None:
    world.job()
    world.queue.complete_job(world.claim())
    assert world.queue.claim_next_job("test") is None
    for _ in range(3):
        job = world.job()

        assert world.claim().id == job.id
        assert world.queue.claim_next_job("test") is None
        assert world.value("select count(*) from tickwork.turns where is_open") == 0
        assert world.value("select count(*) from tickwork.wakes") == 0


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


def test_a_later_job_of_a_line_that_was_never_opened_is_found(world: World) -> None:
    world.queue.complete_job(world.running_job())
    assert world.queue.claim_next_job("test") is None
    tenant, soon = world.tenant(), datetime.now(UTC) + timedelta(seconds=0.5)
    now, later = world.service.enqueue_jobs(
        [{"tenant_id": str(tenant), "type": "greet_person", "run_at": at} for at in (None, soon.isoformat())]
    )

    assert world.claim().id == now.id
    found: list[Job] = []

    def look() -> bool:
        found.extend(claim_all(world))
        return bool(found)

    until(look)
    assert [job.id for job in found] == [later.id]


def test_of_two_jobs_that_were_woken_the_more_urgent_one_comes_first(world: World) -> None:
    world.queue.complete_job(world.running_job())
    assert world.queue.claim_next_job("test") is None
    world.job()
    urgent = world.job(tenant=world.tenant(), priority=9)

    assert world.claim().id == urgent.id


@pytest.mark.parametrize("obstacle", ["pause_type", "pause_tenant", "limit"])
def test_a_single_job_is_not_started_past_what_is_in_its_way(world: World, obstacle: str) -> None:
    tenant = world.tenant()
    world.queue.complete_job(world.running_job(tenant=tenant))
    assert world.queue.claim_next_job("test") is None
    match obstacle:
        case "pause_type":
            world.service.pause_jobs(type="greet_person")
        case "pause_tenant":
            world.service.pause_jobs(tenant_id=tenant)
        case _:
            world.run("update job_types set max_running = 1")
            world.running_job(tenant=tenant)
    world.job(tenant=tenant)

    assert world.queue.claim_next_job("test") is None
