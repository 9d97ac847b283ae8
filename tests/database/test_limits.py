"""How many jobs run at once: as many as may, and nobody else waits for them."""

from typing import Any
from uuid import UUID

import pytest

from tests.database.test_plans import scans_of, touched_rows
from tests.world import World
from tests.world.crowd import claim_all, enqueue, let_time_pass, transaction
from tests.world.verb_queue import settled_and_claimed
from tickwork.errors import LeaseLost
from tickwork.jobs.rows import Job

LANE = "connector:1"
KINDS = pytest.mark.parametrize("kind", ["type", "tenant and type", "tenant", "lane"])


def limit(world: World, kind: str, tenant: UUID, most: int | None) -> None:
    match kind:
        case "type":
            world.run("update job_types set max_running = %s where key = 'greet_person'", most)
        case "tenant and type":
            world.run("update job_types set max_running_per_tenant = %s where key = 'greet_person'", most)
        case "tenant":
            world.run("update tenant_settings set max_running = %s where tenant_id = %s", most, tenant)
        case "lane":
            world.service.pauses.limit_lane("test", tenant, LANE, max_running=most)


def limited(world: World, kind: str, most: int, jobs: int = 10) -> UUID:
    """A tenant with so many jobs in one lane, of which so many may run at once."""
    tenant, _ = world.tenant(), world.type()
    limit(world, kind, tenant, most)
    enqueue(world, tenant, jobs, lane=LANE)
    return tenant


def jobs_outside(world: World, kind: str, tenant: UUID) -> list[Job]:
    """Jobs that the limit does not count."""
    if kind == "type":
        return [world.job(world.type("wave_hand"), tenant, lane=LANE)]
    elsewhere = [world.job("greet_person", world.tenant("other"), lane=LANE)]
    if kind == "lane":
        elsewhere.append(world.job("greet_person", tenant, lane="connector:2"))
    return elsewhere


def job_inside(world: World, kind: str, tenant: UUID) -> Job:
    """A job in another line that the limit counts nevertheless."""
    match kind:
        case "type":
            return world.job("greet_person", world.tenant("other"))
        case "tenant and type":
            return world.job("greet_person", tenant, lane="connector:2", priority=9)
        case "tenant":
            return world.job(world.type("wave_hand", "other_family"), tenant)
        case _:
            return world.job(world.type("wave_hand"), tenant, lane=LANE)


def running(world: World) -> int:
    return int(world.value("select count(*) from jobs where status = 'running'"))


@KINDS
def test_exactly_so_many_run_and_each_that_ends_lets_one_start_at_once(world: World, kind: str) -> None:
    limited(world, kind, 3)

    first = claim_all(world)
    world.queue.complete_job(first[0])
    after_done = claim_all(world)
    world.queue.fail_job(first[1], {"code": "X"}, retryable=False)
    after_failed = claim_all(world)
    world.queue.release_job(first[2], delay_seconds=600)
    after_released = claim_all(world)

    assert [len(jobs) for jobs in (first, after_done, after_failed, after_released)] == [3, 1, 1, 1]


@KINDS
def test_a_batch_holds_the_limit(world: World, kind: str) -> None:
    tenant = limited(world, kind, 3)
    outside = {job.id for job in jobs_outside(world, kind, tenant)}

    first = world.queue.claim_jobs("test", 100)
    none = world.queue.claim_jobs("test", 100)
    inside = [job for job in first if job.id not in outside]
    done = [{"job_id": str(job.id), "lease_token": str(job.lease_token), "status": "done"} for job in inside[:2]]
    _, next_ones = settled_and_claimed(world.queue, done, "test", 100)

    assert len(first) - len(inside) == len(outside)
    assert (len(inside), len(none), len(next_ones)) == (3, 0, 2)


@KINDS
def test_a_limit_counts_everything_in_its_scope(world: World, kind: str) -> None:
    tenant = limited(world, kind, 1, jobs=1)
    (first,) = claim_all(world)
    other = job_inside(world, kind, tenant)

    too_early = world.queue.claim_next_job(other.family)
    world.queue.complete_job(first)

    assert too_early is None
    assert world.claim(other.family).id == other.id


@KINDS
def test_a_changed_limit_holds_from_the_next_claim_on(world: World, kind: str) -> None:
    tenant = limited(world, kind, 1)
    first = claim_all(world)

    limit(world, kind, tenant, 3)
    raised = claim_all(world)
    limit(world, kind, tenant, 2)
    world.queue.complete_job(first[0])
    lowered = claim_all(world)
    world.queue.complete_job(raised[0])
    below_again = claim_all(world)
    limit(world, kind, tenant, None)
    removed = claim_all(world)

    assert [len(jobs) for jobs in (first, raised, lowered, below_again, removed)] == [1, 2, 0, 1, 6]


@KINDS
def test_a_full_head_of_the_queue_is_in_nobodys_way(world: World, kind: str) -> None:
    tenant = limited(world, kind, 1, jobs=10_000)
    world.claim()
    outside = jobs_outside(world, kind, tenant)

    claimed = {world.claim().id for _ in outside}

    assert claimed == {job.id for job in outside}


@KINDS
def test_slots_of_crashed_workers_are_free_again(world: World, kind: str) -> None:
    limited(world, kind, 2)
    for job in claim_all(world):
        world.expire(job)

    again = claim_all(world)

    assert len(again) == 2
    assert running(world) == 2


def test_settling_twice_frees_one_slot_only(world: World) -> None:
    limited(world, "type", 2)
    first, _ = claim_all(world)
    world.queue.complete_job(first)

    with pytest.raises(LeaseLost):
        world.queue.complete_job(first)
    with pytest.raises(LeaseLost):
        world.queue.release_job(first)

    assert len(claim_all(world)) == 1


def test_after_many_crashes_exactly_as_many_as_allowed_can_start(world: World) -> None:
    limited(world, "type", 50, jobs=200)
    for _ in range(10):
        killed = transaction(world)
        killed.execute("select from claim_next_job('test', 'killed')")
        killed.close()
    jobs = claim_all(world)
    for job in jobs[::2]:
        world.queue.complete_job(job)

    world.run("update jobs set lease_expires_at = now() where status = 'running'")
    reaped = world.service.maintenance.maintain()

    assert (reaped, running(world)) == (25, 0)
    assert len(claim_all(world)) == running(world) == 50


def tenants_with_two_jobs(world: World, tenants: int, type: str) -> None:
    world.run("insert into organizations (name) select 'tenant ' || n from generate_series(1, %s) as n", tenants)
    for _ in range(2):
        world.run(
            "select count(*) from enqueue_jobs((select jsonb_agg("
            "jsonb_build_object('tenant_id', id, 'type', %s::text)) from organizations))",
            type,
        )


def test_a_full_type_costs_one_look_however_many_tenants_wait(world: World) -> None:
    tenants_with_two_jobs(world, 1000, world.type(max_running=1))
    world.claim()
    world.queue.claim_next_job("test")
    let_time_pass(world, 10)

    scans = scans_of(world, "select count(*) from claim_next_job('test', 'w')")

    assert running(world) == 1
    # A loop over a query fetches ten rows at a time.
    assert touched_rows([scan for scan in scans if scan["Relation Name"] == "tenants"]) <= 15


def test_a_claim_looks_at_so_many_tenants_at_their_limit_and_no_more(world: World) -> None:
    tenants_with_two_jobs(world, 200, world.type(max_running_per_tenant=1))
    assert len(world.queue.claim_jobs("test", 200)) == 200
    let_time_pass(world, 10)

    before = world.value("select count(*) from pg_locks where locktype = 'advisory'")
    with world.admin.transaction():
        claimed = world.rows("select id from claim_next_job('test', 'w')")
        locks = world.value("select count(*) from pg_locks where locktype = 'advisory'") - before

    assert claimed == []
    assert locks <= 60


# How many more jobs a batch is tempted to start: those of a second tenant, of a second type, of a lower priority.
@pytest.mark.parametrize("limit_of", ["type", "tenant", "tenant and type", "starts"])
def test_one_batch_never_starts_more_than_a_limit_allows(world: World, limit_of: str) -> None:
    columns = {"type": "max_running", "tenant and type": "max_running_per_tenant", "starts": "starts_per_minute"}
    limits: dict[str, Any] = {columns[limit_of]: 3} if limit_of in columns else {}
    type = world.type(**limits)
    tenants = [world.tenant(), world.tenant()] if limit_of == "type" else [world.tenant()]
    types = [type, world.type("wave_hand")] if limit_of == "tenant" else [type]
    if limit_of == "tenant":
        world.run("update tenant_settings set max_running = 3")
    for tenant in tenants:
        for each in types:
            for priority in range(5):
                enqueue(world, tenant, 4, each, priority=priority)

    started = world.queue.claim_jobs("test", 20)

    assert len(started) == 3
    assert running(world) == 3


def test_a_start_for_a_lower_priority_blocks_no_type_that_has_room(world: World) -> None:
    tenant, _ = world.tenant(), world.type(max_running=1000)
    for priority in range(5):
        enqueue(world, tenant, 10, priority=priority)

    assert [world.queue.claim_next_job("test") is not None for _ in range(40)] == [True] * 40
