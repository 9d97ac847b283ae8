"""Whose turn it is: tenants by weight, lanes within a tenant, lower priorities now and then."""

import random
from collections import Counter
from collections.abc import Callable, Sequence

import pytest

from tests.world import World
from tests.world.crowd import (
    claim_all,
    claim_in_batches,
    claim_one_by_one,
    claim_one_type,
    enqueue,
    fill_by_hand,
    shares,
    with_workers,
)
from tests.world.verb_queue import VerbQueue, settled_and_claimed
from tickwork.jobs.rows import ClaimedJob

Claims = Callable[[World, int], list[ClaimedJob]]
ANY_TYPE = [claim_one_by_one, claim_in_batches]
HOW = pytest.mark.parametrize("claim", [*ANY_TYPE, claim_one_type])
ONE_BY_ONE = pytest.mark.parametrize("claim", [claim_one_by_one, claim_one_type])


def settle_and_claim(world: World, claims: int) -> list[ClaimedJob]:
    jobs: list[ClaimedJob] = []
    while len(jobs) < claims:
        done = [{"job_id": str(job.id), "lease_token": str(job.lease_token), "status": "done"} for job in jobs[-1:]]
        jobs += settled_and_claimed(world.queue, done, "test")[1]
    return jobs


def priorities(world: World, jobs: Sequence[ClaimedJob]) -> Counter[int]:
    return Counter(world.reload(job).priority for job in jobs)


def test_small_tenants_do_not_wait_for_a_large_one(world: World) -> None:
    large, small, tiny, type = world.tenant(), world.tenant(), world.tenant(), world.type()
    fill_by_hand(world, large, type, 100_000)
    world.service.maintenance.rebuild_queue()
    enqueue(world, small, 10)
    enqueue(world, tiny, 10)

    first = shares(claim_one_by_one(world, 60))

    assert first == {large: 40, small: 10, tiny: 10}


@pytest.mark.parametrize(
    ("claim", "claims"),
    [(claim_one_by_one, 4000), (claim_one_type, 4000), (claim_in_batches, 4000), (settle_and_claim, 1000)],
)
def test_shares_follow_the_weights(
    world: World, claim: Callable[[World, int], Sequence[ClaimedJob]], claims: int
) -> None:
    light, heavy, _ = world.tenant(), world.tenant(), world.type()
    world.run("update tenant_settings set weight = 3 where tenant_id = %s", heavy)
    for tenant in (light, heavy):
        enqueue(world, tenant, claims)

    jobs = shares(claim(world, claims))

    assert jobs.total() == claims
    assert jobs[light] == pytest.approx(claims / 4, rel=0.05)
    assert jobs[heavy] == pytest.approx(claims * 3 / 4, rel=0.05)


@pytest.mark.parametrize("batch_size", [3, 10, 25])
def test_batches_that_do_not_divide_evenly_follow_the_weights(world: World, batch_size: int) -> None:
    light, heavy, _ = world.tenant(), world.tenant(), world.type()
    world.run("update tenant_settings set weight = 3 where tenant_id = %s", heavy)
    for tenant in (light, heavy):
        enqueue(world, tenant, 500)

    jobs = [job for _ in range(600 // batch_size) for job in world.queue.claim_jobs("test", batch_size)]

    assert len(jobs) == 600
    assert shares(jobs)[light] == pytest.approx(150, abs=3)


@pytest.mark.parametrize("batch_size", [2, 5, 9])
def test_batches_smaller_than_the_weights_follow_them_too(world: World, batch_size: int) -> None:
    weights = {world.tenant(): weight for weight in (7, 4, 1)}
    world.type()
    for tenant, weight in weights.items():
        world.run("update tenant_settings set weight = %s where tenant_id = %s", weight, tenant)
        enqueue(world, tenant, 500)

    jobs: list[ClaimedJob] = []
    # Now and then a single one, so that batches begin in the middle of a turn.
    while len(jobs) < 600:
        jobs += [world.claim(), *world.queue.claim_jobs("test", batch_size)]

    assert shares(jobs) == {tenant: pytest.approx(len(jobs) * weight / 12, abs=8) for tenant, weight in weights.items()}


def test_what_is_left_of_a_batch_goes_to_one_tenant_after_the_other(world: World) -> None:
    tenants = [world.tenant() for _ in range(3)]
    world.type()
    for tenant in tenants:
        enqueue(world, tenant, 50)
    world.claim()

    batches = [shares(world.queue.claim_jobs("test", 10)) for _ in range(3)]

    assert [sorted(batch.values()) for batch in batches] == [[3, 3, 4]] * 3
    assert sum(batches, Counter()) == dict.fromkeys(tenants, 10)


def test_a_batch_takes_the_higher_priority_first_and_fills_up_with_the_lower(world: World) -> None:
    first, second, _ = world.tenant(), world.tenant(), world.type()
    enqueue(world, first, 4, priority=5)
    enqueue(world, second, 20)

    jobs = world.queue.claim_jobs("test", 10)

    assert priorities(world, jobs)[5] == 4
    assert len(jobs) == 10


@ONE_BY_ONE
def test_a_change_of_weight_holds_for_turns_that_exist(world: World, claim: Claims) -> None:
    light, heavy, _ = world.tenant(), world.tenant(), world.type()
    for tenant in (light, heavy):
        enqueue(world, tenant, 200)
    before = shares(claim(world, 40))

    world.run("update tenant_settings set weight = 4 where tenant_id = %s", heavy)
    after = shares(claim(world, 100))

    assert before == {light: 20, heavy: 20}
    assert after[heavy] == pytest.approx(80, abs=4)


def test_a_tenant_alone_gets_everything(world: World) -> None:
    alone, drained, _ = world.tenant(), world.tenant(), world.type()
    world.run("update tenant_settings set weight = 100 where tenant_id = %s", drained)
    enqueue(world, drained, 5)
    enqueue(world, alone, 200)

    batch = world.queue.claim_jobs("test", 105)
    one_by_one = claim_one_by_one(world, 50)
    rest = world.queue.claim_jobs("test", 1000)

    assert shares(batch) == {drained: 5, alone: 100}
    assert shares(one_by_one) == {alone: 50}
    assert shares(rest) == {alone: 50}


@pytest.mark.parametrize("claim", ANY_TYPE)
def test_a_second_type_gives_a_tenant_no_second_share(world: World, claim: Claims) -> None:
    two_types, one_type, types = world.tenant(), world.tenant(), [world.type(), world.type("wave_hand")]
    for _ in range(20):
        for type in types:
            enqueue(world, two_types, 10, type)
        enqueue(world, one_type, 10, types[0])

    jobs = claim(world, 200)

    assert shares(jobs)[one_type] == pytest.approx(100, abs=5)
    progress = Counter(job.type for job in jobs if job.tenant_id == two_types)
    assert progress == pytest.approx({"greet_person": 50, "wave_hand": 50}, abs=10)


@HOW
def test_many_lanes_give_a_tenant_no_other_share(world: World, claim: Claims) -> None:
    many_lanes, no_lane, _ = world.tenant(), world.tenant(), world.type()
    for number in range(10):
        enqueue(world, many_lanes, 30, lane=f"connector:{number}")
    enqueue(world, no_lane, 300)

    jobs = claim(world, 200)

    assert shares(jobs)[no_lane] == pytest.approx(100, abs=5)


def test_within_a_tenant_the_oldest_comes_first_whatever_its_lane(world: World) -> None:
    tenant, _ = world.tenant(), world.type()
    lanes = [None, "connector:1", "endpoint:2", None, "connector:1"]
    for lane in lanes:
        enqueue(world, tenant, 2, lane=lane)

    jobs = claim_one_by_one(world, 10)

    assert [job.lane for job in jobs[::2]] == [job.lane for job in jobs[1::2]] == lanes


@ONE_BY_ONE
def test_a_newcomer_is_served_within_one_round(world: World, claim: Claims) -> None:
    world.type()
    regulars = [world.tenant() for _ in range(5)]
    for tenant in regulars:
        enqueue(world, tenant, 100)
    claim(world, 23)
    newcomer = world.tenant()

    enqueue(world, newcomer, 1)
    round_ = shares(claim(world, 6))

    assert round_ == dict.fromkeys([*regulars, newcomer], 1)


@HOW
def test_every_tenth_start_of_a_turn_goes_to_a_lower_priority_and_no_more(world: World, claim: Claims) -> None:
    tenant, _ = world.tenant(), world.type()
    for priority in (9, 0):
        enqueue(world, tenant, 300, priority=priority)

    jobs = claim(world, 200)

    assert priorities(world, jobs) == pytest.approx({9: 180, 0: 20}, abs=2)


def test_small_batches_do_not_starve_a_lower_priority_behind_many_tenants(world: World) -> None:
    world.type()
    for _ in range(5):
        enqueue(world, world.tenant(), 40, priority=9)
    enqueue(world, world.tenant(), 10)

    jobs = [job for _ in range(50) for job in world.queue.claim_jobs("test", 3)]

    assert priorities(world, jobs)[0] >= 5


@ONE_BY_ONE
def test_all_lower_priorities_progress(world: World, claim: Claims) -> None:
    tenants, _ = [world.tenant(), world.tenant()], world.type()
    for tenant in tenants:
        for priority in (90, 50, 10, 0):
            enqueue(world, tenant, 300, priority=priority)

    jobs = priorities(world, claim(world, 300))

    assert jobs[90] == pytest.approx(270, abs=2)
    assert all(jobs[lower] == pytest.approx(10, abs=3) for lower in (50, 10, 0))


def test_a_type_of_lower_priority_progresses(world: World) -> None:
    tenant, types = world.tenant(), [world.type(priority=50), world.type("wave_hand")]
    for type in types:
        enqueue(world, tenant, 200, type)

    jobs = Counter(job.type for job in claim_one_by_one(world, 200))

    assert 5 <= jobs["wave_hand"] <= 20


def test_a_batch_of_several_types_takes_the_higher_priority_first(world: World) -> None:
    tenant, types = world.tenant(), [world.type(), world.type("wave_hand")]
    enqueue(world, tenant, 5, types[0])
    enqueue(world, tenant, 5, types[1], priority=9)

    jobs = world.queue.claim_jobs("test", 5)

    assert [job.type for job in jobs] == ["wave_hand"] * 5


def test_a_paused_type_takes_no_other_lower_priority_its_share(world: World) -> None:
    tenant, _, paused = world.tenant(), world.type(), world.type("wave_hand")
    for priority in (9, 5):
        enqueue(world, tenant, 200, priority=priority)
    enqueue(world, tenant, 10, paused, priority=1)
    claim_one_by_one(world, 1)

    world.service.pauses.pause_jobs(type=paused)
    jobs = priorities(world, claim_one_by_one(world, 100))

    assert jobs[5] == pytest.approx(10, abs=1)


def test_within_a_line_the_oldest_due_job_is_first(world: World) -> None:
    tenants, _ = [world.tenant(), world.tenant()], world.type()
    days = random.Random(3).sample(range(1, 29), 28)
    for day in days:
        for tenant in tenants:
            world.job(tenant=tenant, run_at=f"2020-01-{day:02}", correlation_id=f"{day:02}")

    jobs = claim_all(world)

    for tenant in tenants:
        assert [job.correlation_id for job in jobs if job.tenant_id == tenant] == [f"{day:02}" for day in sorted(days)]


def test_concurrent_claims_lose_nothing_and_share_alike(world: World) -> None:
    tenants, _ = [world.tenant() for _ in range(3)], world.type()
    for tenant in tenants:
        enqueue(world, tenant, 150)

    def drain(queue: VerbQueue) -> list[ClaimedJob]:
        jobs = []
        while job := queue.claim_next_job("test"):
            jobs.append(job)
        return jobs

    jobs = [job for mine in with_workers(world, 8, drain) for job in mine]

    jobs.sort(key=lambda job: str(world.reload(job).started_at))
    assert len(jobs) == len({job.id for job in jobs}) == 450
    # Roughly: whoever finds a turn locked lets it be.
    assert all(shares(jobs[:225])[tenant] > 25 for tenant in tenants)


def test_tenants_take_turns_though_a_more_urgent_type_has_nothing_waiting(world: World) -> None:
    tenants = [world.tenant() for _ in range(3)]
    world.type("wave_hand", priority=50)
    world.type()
    for tenant in tenants:
        enqueue(world, tenant, 30)

    jobs = claim_one_by_one(world, 30)

    assert shares(jobs) == dict.fromkeys(tenants, 10)


def test_the_types_of_an_operator_come_before_the_priorities_of_callers(world: World) -> None:
    urgent, usual = world.type("wave_hand", priority=50), world.type()
    first, second = world.tenant(), world.tenant()
    enqueue(world, first, 20, usual, priority=100)
    enqueue(world, second, 5, urgent, priority=0)

    jobs = claim_one_by_one(world, 5)

    assert shares(jobs) == {second: 5}


def test_a_type_whose_jobs_are_all_less_urgent_does_not_starve(world: World) -> None:
    tenant, busy, quiet = world.tenant(), world.type(), world.type("wave_hand")
    enqueue(world, tenant, 300, busy, priority=50)
    enqueue(world, tenant, 5, quiet)

    jobs = claim_one_by_one(world, 100)

    assert Counter(job.type for job in jobs)[quiet] == 5


def test_now_and_then_a_start_goes_to_a_type_that_the_operator_finds_less_urgent(world: World) -> None:
    tenant, urgent, usual = world.tenant(), world.type("wave_hand", priority=50), world.type()
    enqueue(world, tenant, 200, urgent)
    enqueue(world, tenant, 50, usual)

    jobs = Counter(job.type for job in claim_one_by_one(world, 100))

    assert 2 <= jobs[usual] <= 10


def test_nobody_starves_behind_a_round_that_is_as_long_as_a_claim_looks(world: World) -> None:
    first, type = world.tenant(), world.type()
    world.job(type, first)
    world.claim()
    world.run("insert into organizations (name) select 'tenant ' || n from generate_series(1, 999) as n")
    world.run(
        "select count(*) from enqueue_jobs((select jsonb_agg(jsonb_build_object('tenant_id', id, 'type', %s::text)) "
        "from organizations))",
        type,
    )
    world.run("update tickwork.tenants set is_paused = tenant_id <> %s", first)

    claimed = world.queue.claim_jobs("test", 2)

    assert [job.tenant_id for job in claimed] == [first]
