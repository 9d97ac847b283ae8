"""What a member of one tenant can do does not stop the others: every claim stays cheap, and everybody gets a turn."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from threading import Barrier
from typing import LiteralString
from uuid import UUID

import pytest

from tests.world import World
from tests.world.crowd import claim_all, claim_in_batches, claim_one_by_one, enqueue, shares
from tests.world.hash_inversion import text_with_hash
from tests.world.metered import MAX_PAGES, MeteredWorker
from tests.world.waiting import until
from tickwork.database.connection import Connection
from tickwork.jobs.rows import ClaimedJob

CANCELLED_LANES = 2_000
LIVE_LANES = 20_000
DRAINED_LANES = 3_000
HELD_LANES = [f"connector:{number}" for number in range(30)]
TICKS = 30
TRIES = 40

# The jobs of a lane were once found by hashtextextended(lane, this), with an empty lane for none.
SEED_OF_A_LANE: LiteralString = (
    "select hashtextextended('greet_person', hashtextextended('test', uuid_hash_extended(%s, 0)))"
)


def insert_into_lanes(member: Connection, tenant: UUID, lanes: int, seconds_ahead: float = 0) -> None:
    member.execute(
        "insert into jobs (tenant_id, type, lane, run_at) "
        "select %s, 'greet_person', 'lane ' || n, clock_timestamp() + make_interval(secs => %s) "
        "from generate_series(1, %s) as n",
        [tenant, seconds_ahead, lanes],
    )


@pytest.mark.parametrize("seconds_ahead", [0, 1], ids=["due", "due later"])
def test_cancelled_jobs_in_many_lanes_cost_no_claim_much(world: World, seconds_ahead: float) -> None:
    attacker, victim, _ = world.tenant(), world.tenant(), world.type()
    worker = MeteredWorker(world)
    member = world.member_of(attacker)
    insert_into_lanes(member, attacker, CANCELLED_LANES, seconds_ahead)
    due_at = world.value("select max(run_at) from jobs")
    member.execute("select count(cancel_job(id)) from unnest(array(select id from jobs where status = 'queued')) as id")
    until(lambda: world.value("select clock_timestamp() > %s", due_at))
    job = world.job("greet_person", victim)

    claimed = [worker.claim() for _ in range(5)]

    assert job.id in ids(claimed)
    assert max(worker.pages) <= MAX_PAGES


def test_many_live_lanes_keep_another_tenant_waiting_for_one_claim(world: World) -> None:
    attacker, victim, _ = world.tenant(), world.tenant(), world.type()
    worker = MeteredWorker(world)
    insert_into_lanes(world.member_of(attacker), attacker, LIVE_LANES)
    job = world.job("greet_person", victim)

    claimed = [worker.claim() for _ in range(2)]

    assert job.id in ids(claimed)
    assert max(worker.pages) <= MAX_PAGES


def test_many_live_lanes_cost_no_claim_much_where_the_statistics_expect_no_job(world: World) -> None:
    attacker, victim, _ = world.tenant(), world.tenant(), world.type()
    member = world.member_of(attacker)
    insert_into_lanes(member, attacker, DRAINED_LANES)
    world.run("delete from jobs")
    world.run("delete from tickwork.waiting")
    # As one that could not give the pages back, because somebody else was reading.
    world.run("vacuum (truncate off) jobs, tickwork.waiting")
    worker = MeteredWorker(world)
    insert_into_lanes(member, attacker, LIVE_LANES)
    job = world.job("greet_person", victim)

    claimed = [worker.claim() for _ in range(3)]

    assert job.id in ids(claimed)
    assert max(worker.pages) <= MAX_PAGES


def lane_in_the_way_of(world: World, victim: UUID, lane: str | None, attacker: UUID) -> str:
    """A lane of the attacker that has the hash of a lane of the victim."""
    wanted = world.value("select hashtextextended(%s, %s)", lane or "", world.value(SEED_OF_A_LANE, victim))
    return text_with_hash(wanted, world.value(SEED_OF_A_LANE, attacker))


@pytest.mark.parametrize("lane", [None, "connector:1"], ids=["no lane", "a lane"])
@pytest.mark.parametrize("claims_before", [0, 1])
def test_a_lane_with_the_hash_of_anothers_does_not_get_in_its_way(
    world: World, lane: str | None, claims_before: int
) -> None:
    attacker, victim, _ = world.tenant(), world.tenant(), world.type()
    crafted = lane_in_the_way_of(world, victim, lane, attacker)
    member = world.member_of(attacker)
    for _ in range(3):
        member.execute("select enqueue_job(%s, 'greet_person', lane => %s)", [attacker, crafted])
    claimed: list[ClaimedJob | None] = [world.claim() for _ in range(claims_before)]
    job = world.job("greet_person", victim, lane=lane)

    claimed += [world.queue.claim_next_job("test") for _ in range(2)]

    assert job.id in ids(claimed)


@pytest.mark.parametrize("claim", [claim_one_by_one, claim_in_batches])
def test_a_priority_counts_within_its_tenant_only(
    world: World, claim: Callable[[World, int], list[ClaimedJob]]
) -> None:
    attacker, victim, _ = world.tenant(), world.tenant(), world.type()
    enqueue(world, attacker, 1_000, priority=100)
    enqueue(world, victim, 50)

    jobs = claim(world, 100)

    assert shares(jobs) == {attacker: 50, victim: 50}
    if claim is claim_one_by_one:
        assert all(job.tenant_id != following.tenant_id for job, following in pairwise(jobs))


def test_held_lanes_leave_nothing_behind_however_often_they_are_looked_at(world: World) -> None:
    tenant, _ = world.tenant(), world.type()
    in_an_hour = world.value("select clock_timestamp() + interval '1 hour'")
    for lane in HELD_LANES:
        enqueue(world, tenant, 2, lane=lane)
        world.service.pauses.hold_lane("test", tenant, lane, in_an_hour)
    rows = [tick(world) for _ in range(TICKS)]

    for lane in HELD_LANES:
        world.service.pauses.release_lane("test", tenant, lane)

    # The first one may note that it has been here.
    assert max(rows[2:]) <= rows[1]
    assert len(claim_all(world)) == 2 * len(HELD_LANES)


def tick(world: World) -> int:
    """How many rows the queue keeps for itself after what happens every minute: a tick, and a worker that comes."""
    world.service.maintenance.maintain()
    assert world.queue.claim_next_job("test") is None
    tables = world.rows(
        "select oid::regclass::text as name from pg_class "
        "where relkind in ('r', 'p') and relnamespace = 'tickwork'::regnamespace"
    )
    counts = [world.admin.execute(f"select count(*) as rows from {table['name']}").fetchall() for table in tables]
    return sum(row["rows"] for (row,) in counts)


def test_first_jobs_of_new_types_cause_no_deadlock(world: World) -> None:
    tenants = [world.tenant() for _ in range(8)]
    connections = [world.connect() for _ in tenants]
    barrier = Barrier(len(tenants))

    def enqueue_and_claim(number: int, family: str, types: list[str]) -> int:
        connection, claimed = connections[number], 0
        barrier.wait(60)
        for type in types:
            connection.execute("select enqueue_job(%s, %s)", [tenants[number], type])
            claimed += len(connection.execute("select id from claim_next_job(%s, 'w')", [family]).fetchall())
        return claimed

    with ThreadPoolExecutor(len(tenants)) as pool:
        for attempt in range(TRIES):
            family = f"family_{attempt}"
            types = [world.type(f"type_{number}_{attempt}", family) for number in range(8)]
            # Half of them the other way round.
            orders = [types[:: number % 2 or -1] for number in range(len(tenants))]

            claimed = sum(pool.map(enqueue_and_claim, range(len(tenants)), [family] * len(tenants), orders))

            # What somebody else had locked at that moment is left for later.
            claimed += len(world.queue.claim_jobs(family, 100))
            assert claimed == len(tenants) * len(types)


def ids(jobs: list[ClaimedJob | None]) -> set[UUID]:
    return {job.id for job in jobs if job}
