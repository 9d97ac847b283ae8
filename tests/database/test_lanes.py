"""Lanes that are told to wait: their jobs stay as they are, and nothing else notices."""

from datetime import datetime
from typing import Any
from uuid import UUID, uuid4

import pytest

from tests.database.test_plans import scans_of, touched_rows
from tests.world import World
from tests.world.crowd import claim_all, enqueue, let_time_pass, transaction
from tickwork.errors import InvalidRequest, LeaseLost
from tickwork.jobs.rows import ClaimedJob

LANE = "connector:1"


def in_a_minute(world: World) -> datetime:
    found: datetime = world.value("select clock_timestamp() + interval '1 minute'")
    return found


def hold(world: World, tenant: UUID) -> None:
    world.service.pauses.hold_lane("test", tenant, LANE, in_a_minute(world), "the provider says so")


def lanes(jobs: list[ClaimedJob]) -> list[str]:
    return sorted(str(job.lane) for job in jobs)


@pytest.mark.parametrize("is_open", [True, False], ids=["open", "new"])
def test_a_held_lane_waits_and_everything_else_goes_on(world: World, is_open: bool) -> None:
    tenant, _ = world.tenant(), world.type()
    for lane in (LANE, "connector:2", None):
        enqueue(world, tenant, 2, lane=lane)
    if is_open:
        for job in world.queue.claim_jobs("test", 6):
            world.queue.release_job(job)

    hold(world, tenant)

    assert lanes(claim_all(world)) == ["None", "None", "connector:2", "connector:2"]
    waiting = world.rows("select attempts, status from jobs where lane = %s", LANE)
    assert waiting == [{"attempts": 0, "status": "queued"}] * 2


def test_a_job_of_a_held_lane_is_not_even_looked_at(world: World) -> None:
    tenant, _ = world.tenant(), world.type()
    enqueue(world, tenant, 2, lane=LANE)
    hold(world, tenant)
    enqueue(world, tenant, 2, lane=LANE)

    assert world.value("select count(*) from tickwork.waiting") == 0


def test_a_job_filed_before_its_lane_was_held_does_not_start(world: World) -> None:
    tenant, type = world.tenant(), world.type()
    enqueuing = transaction(world)
    enqueuing.execute("select from enqueue_job(%s, %s, lane => %s)", [tenant, type, LANE])

    hold(world, tenant)
    enqueuing.commit()

    assert claim_all(world) == []
    let_time_pass(world, 100)
    assert len(claim_all(world)) == 1


def test_a_batch_passes_a_held_lane(world: World) -> None:
    tenant, _ = world.tenant(), world.type()
    for lane in (LANE, "connector:2", None):
        enqueue(world, tenant, 2, lane=lane)
    hold(world, tenant)

    assert lanes(world.queue.claim_jobs("test", 100)) == ["None", "None", "connector:2", "connector:2"]
    assert world.queue.claim_jobs("test", 100) == []


def test_a_held_lane_runs_when_the_time_has_passed(world: World) -> None:
    tenant, type, other_type = world.tenant(), world.type(), world.type("wave_hand")
    enqueue(world, tenant, 2, type, lane=LANE)
    world.claim()
    hold(world, tenant)
    # Into a line that is held, and into one that is not there yet.
    enqueue(world, tenant, 1, type, lane=LANE)
    enqueue(world, tenant, 1, other_type, lane=LANE)
    enqueue(world, tenant, 1, type, lane=LANE, priority=50)

    held = claim_all(world)
    let_time_pass(world, 50)
    still_held = claim_all(world)
    let_time_pass(world, 20)

    assert (held, still_held) == ([], [])
    assert len(claim_all(world)) == 4


def test_a_claim_hears_of_a_lane_whatever_others_have_just_done(world: World) -> None:
    tenant, type = world.tenant(), world.type()
    enqueue(world, tenant, 1, type, lane=LANE)
    hold(world, tenant)
    let_time_pass(world, 70)
    # Somebody has just looked for expired leases and noted who asks.
    world.run(
        "update tickwork.family_types set reaped_at = clock_timestamp() + '1 minute', asked_at = clock_timestamp()"
    )

    claimed = world.queue.claim_next_job("test", types=[type])

    assert claimed is not None


def test_a_longer_hold_takes_the_place_of_a_shorter_one(world: World) -> None:
    tenant, _ = world.tenant(), world.type()
    enqueue(world, tenant, 2, lane=LANE)
    hold(world, tenant)
    claim_all(world)

    world.service.pauses.hold_lane("test", tenant, LANE, "infinity", "it is gone")
    let_time_pass(world, 100)

    assert claim_all(world) == []
    assert [hold["reason"] for hold in world.rows("select reason from list_holds()")] == ["it is gone"]


@pytest.mark.parametrize("until", ["2020-01-01", "-infinity"])
def test_a_hold_until_a_time_that_has_passed_holds_nothing(world: World, until: str) -> None:
    tenant, _ = world.tenant(), world.type()
    enqueue(world, tenant, 3, lane=LANE)
    world.claim()

    world.service.pauses.hold_lane("test", tenant, LANE, until)

    assert len(claim_all(world)) == 2
    assert world.service.pauses.list_holds() == []


def test_a_released_lane_runs_at_once(world: World) -> None:
    tenant, _ = world.tenant(), world.type()
    enqueue(world, tenant, 3, lane=LANE)
    world.claim()
    world.service.pauses.hold_lane("test", tenant, LANE, "infinity")
    enqueue(world, tenant, 1, lane=LANE)
    held = claim_all(world)

    world.service.pauses.release_lane("test", tenant, LANE)

    assert held == []
    assert len(claim_all(world)) == 3
    assert world.service.pauses.list_holds() == []


def test_a_job_of_a_held_lane_ends_as_it_would_and_opens_nothing(world: World) -> None:
    tenant, _ = world.tenant(), world.type()
    enqueue(world, tenant, 4, lane=LANE)
    done, failed, released = claim_all(world)[:3]
    enqueue(world, tenant, 1, lane=LANE)
    hold(world, tenant)

    world.queue.complete_job(done)
    world.queue.fail_job(failed, {"code": "X"}, retry_after_seconds=0)
    world.queue.release_job(released)

    assert claim_all(world) == []
    assert [world.reload(job).status for job in (done, failed, released)] == ["done", "queued", "queued"]


def test_a_lane_is_held_for_one_tenant_and_one_family(world: World) -> None:
    tenant, other = world.tenant(), world.tenant("other")
    world.type()
    world.type("wave_hand", "other_family")
    enqueue(world, tenant, 1, lane=LANE)
    elsewhere = [world.job("greet_person", other, lane=LANE), world.job("wave_hand", tenant, lane=LANE)]

    hold(world, tenant)

    assert [job.id for job in claim_all(world)] == [elsewhere[0].id]
    assert world.claim("other_family").id == elsewhere[1].id


def test_a_worker_holds_the_lane_of_its_job(world: World) -> None:
    tenant, _ = world.tenant(), world.type()
    enqueue(world, tenant, 3, lane=LANE)
    enqueue(world, tenant, 1, lane="connector:2")
    job = next(job for job in world.queue.claim_jobs("test", 2) if job.lane == LANE)

    world.queue.hold_lane_of_job(job, 30, "429")
    world.queue.release_job(job)

    assert set(lanes(claim_all(world))) <= {"connector:2"}
    (held,) = world.service.pauses.list_holds()
    assert held["reason"] == "429"
    assert 0 < (held["held_until"] - held["created_at"]).total_seconds() <= 30


def test_a_hold_begins_anew_when_the_one_before_is_over(world: World) -> None:
    tenant = world.tenant()

    def held_since() -> datetime:
        hold(world, tenant)
        found: datetime = world.service.pauses.list_holds()[0]["created_at"]
        return found

    first, prolonged = held_since(), held_since()
    let_time_pass(world, 100)

    assert first == prolonged < held_since()


def test_only_the_holder_of_the_lease_may_hold_the_lane(world: World) -> None:
    stale = world.running_job(lane=LANE)
    world.expire(stale)
    world.claim()

    with pytest.raises(LeaseLost) as refusal:
        world.queue.hold_lane_of_job(stale, 30)

    assert refusal.value.sqlstate == "TWLSE"
    assert world.service.pauses.list_holds() == []


def test_a_job_without_a_lane_has_none_to_hold(world: World) -> None:
    job = world.running_job()

    with pytest.raises(InvalidRequest, match=f"job {job.id} is not in a lane") as refusal:
        world.queue.hold_lane_of_job(job, 30)

    assert refusal.value.sqlstate == "TWARG"


def test_a_hold_of_an_absurd_length_is_refused(world: World) -> None:
    job = world.running_job(lane=LANE)

    for delay in (-1, 1e9, float("nan")):
        with pytest.raises(InvalidRequest, match="delay_seconds"):
            world.queue.hold_lane_of_job(job, delay)

    assert world.service.pauses.list_holds() == []


BAD_HOLDS: list[tuple[str, str, Any, str, str]] = [
    ("", LANE, "infinity", "TWARG", "family: must not be empty"),
    ("test", "", "infinity", "TWKEY", "lane: must not be empty"),
    ("test", "l" * 201, "infinity", "TWBIG", "lane: "),
    ("test", LANE, None, "TWRUN", "held_until: must be a point in time"),
]


def test_a_bad_hold_is_refused(world: World) -> None:
    tenant = world.tenant()

    for family, lane, held_until, sqlstate, message in BAD_HOLDS:
        with pytest.raises(InvalidRequest, match=message) as refusal:
            world.service.pauses.hold_lane(family, tenant, lane, held_until)
        assert refusal.value.sqlstate == sqlstate


def test_a_lane_of_nobody_is_refused(world: World) -> None:
    nobody = uuid4()

    with pytest.raises(InvalidRequest, match=f"tenant_id: there is no tenant {nobody}"):
        world.service.pauses.hold_lane("test", nobody, LANE, "infinity")
    with pytest.raises(InvalidRequest, match=f"tenant_id: there is no tenant {nobody}"):
        world.service.pauses.limit_lane("test", nobody, LANE, 1)


def test_a_limit_below_one_is_refused(world: World) -> None:
    tenant = world.tenant()

    for limits in ({"max_running": 0}, {"starts_per_minute": -1}):
        with pytest.raises(InvalidRequest, match="must be 1 or more") as refusal:
            world.service.pauses.limit_lane("test", tenant, LANE, **limits)
        assert refusal.value.sqlstate == "TWARG"


def read_by_a_claim(world: World) -> float:
    """Rows of jobs, however many are looked at on the way."""
    scans = scans_of(world, "select id from claim_next_job('test', 'w')")
    return touched_rows([scan for scan in scans if scan["Relation Name"] == "jobs"])


def test_a_held_lane_at_the_head_costs_a_claim_nothing(world: World) -> None:
    tenant, _ = world.tenant(), world.type()
    enqueue(world, tenant, 5)
    world.claim()
    without = read_by_a_claim(world)
    for _ in range(2):
        enqueue(world, tenant, 10_000, lane=LANE, priority=50)
    hold(world, tenant)
    world.claim()

    with_a_held_lane = read_by_a_claim(world)

    assert with_a_held_lane <= without


def test_as_many_lanes_as_there_are_run_when_their_time_has_come(world: World) -> None:
    tenant, _ = world.tenant(), world.type()
    for number in range(45):
        world.service.pauses.limit_lane("test", tenant, f"connector:{number}", max_running=5)
        world.job(lane=f"connector:{number}", run_at=in_a_minute(world))

    let_time_pass(world, 61)
    started = [world.queue.claim_next_job("test") for _ in range(60)]

    assert len(list(filter(None, started))) == 45


def test_held_and_limited_lanes_are_listed_to_those_who_see_the_tenant(world: World) -> None:
    acme, other = world.tenant("acme"), world.tenant("other")
    member = world.member_of(acme)
    world.service.pauses.hold_lane("test", acme, "held", "infinity", "it is slow")
    world.service.pauses.limit_lane("test", acme, "limited", 2, 30)
    world.service.pauses.hold_lane("test", acme, "passed", "yesterday")
    world.service.pauses.limit_lane("test", other, "limited", 1)

    seen = member.execute("select * from list_lanes()").fetchall()

    assert [(row["lane"], row["is_held"], row["held_until"], row["reason"]) for row in seen] == [
        ("held", True, None, "it is slow"),
        ("limited", False, None, None),
    ]
    assert (seen[1]["max_running"], seen[1]["starts_per_minute"]) == (2, 30)
    assert member.execute("select * from list_lanes(%s)", [other]).fetchall() == []
    assert [row["tenant_id"] for row in world.service.pauses.list_lanes(other)] == [other]
    assert len(world.service.pauses.list_lanes()) == 3
