"""Families, types and tenants that are paused: nothing starts, what runs goes on, and all of it resumes at once."""

from typing import Any
from uuid import UUID, uuid4

import pytest

from tests.database.test_plans import assert_by_index, scans_of, touched_rows
from tests.world import World
from tests.world.crowd import claim_all, enqueue
from tickwork.errors import InvalidRequest
from tickwork.jobs.rows import ClaimedJob

SCOPES = pytest.mark.parametrize("scope", ["family", "type", "tenant_id"])


def world_with_jobs(world: World, scope: str) -> tuple[dict[str, Any], UUID]:
    """Three jobs in the scope and three outside of it; how to name the scope, and the tenant within."""
    tenant, other = world.tenant(), world.tenant("other")
    world.type()
    world.type("wave_hand", "other_family" if scope == "family" else "test")
    enqueue(world, tenant, 3)
    if scope == "tenant_id":
        enqueue(world, other, 3)
    else:
        enqueue(world, tenant, 3, "wave_hand")
    names: dict[str, Any] = {"family": "test", "type": "greet_person", "tenant_id": tenant}
    return {scope: names[scope]}, tenant


def open_lines(world: World) -> None:
    """Claim all that is there, without asking for more, and give it back."""
    for row in world.rows("select family, count(*)::integer as jobs from jobs group by family"):
        for job in world.queue.claim_jobs(row["family"], row["jobs"]):
            world.queue.release_job(job)


def claim_batches(world: World) -> list[ClaimedJob]:
    return [job for family in ("test", "other_family") for job in world.queue.claim_jobs(family, 100)]


@SCOPES
@pytest.mark.parametrize("is_open", [True, False], ids=["open", "new"])
def test_what_is_paused_does_not_start_and_the_rest_does(world: World, scope: str, is_open: bool) -> None:
    what, tenant = world_with_jobs(world, scope)
    if is_open:
        open_lines(world)

    world.service.pauses.pause_jobs(**what)
    others = claim_batches(world)
    enqueue(world, tenant, 1)
    enqueue(world, tenant, 1, priority=50, lane="connector:1")
    meanwhile = claim_all(world) + claim_batches(world)
    world.service.pauses.resume_jobs(**what)
    resumed = claim_all(world)

    assert [len(jobs) for jobs in (others, meanwhile, resumed)] == [3, 0, 5]
    assert all(job.attempts == 1 for job in resumed)


def test_what_runs_settles_as_it_would(world: World) -> None:
    what, tenant = world_with_jobs(world, "tenant_id")
    in_scope = [job for job in claim_all(world) if (job.type, job.tenant_id) == ("greet_person", tenant)]
    done, failed, released = in_scope

    world.service.pauses.pause_jobs(**what)
    world.queue.heartbeat_job(done, 0.5)
    world.queue.complete_job(done)
    world.queue.fail_job(failed, {"code": "X"}, retry_after_seconds=0)
    world.queue.release_job(released)

    assert [world.reload(job).status for job in in_scope] == ["done", "queued", "queued"]
    assert claim_all(world) == []


def test_pausing_twice_is_one_hold_with_the_newer_reason(world: World) -> None:
    _, tenant = world_with_jobs(world, "type")
    scopes: list[dict[str, Any]] = [{"family": "test"}, {"tenant_id": tenant}, {"type": "greet_person"}]

    for scope in scopes:
        world.service.pauses.pause_jobs(**scope, reason="a first reason")
        world.service.pauses.pause_jobs(**scope, reason="a second reason")
    holds = world.service.pauses.list_holds()
    for scope in (*scopes, *scopes):
        world.service.pauses.resume_jobs(**scope)

    assert [hold["scope"] for hold in holds] == ["family test", f"tenant {tenant}", "type greet_person"]
    assert {hold["reason"] for hold in holds} == {"a second reason"}
    assert world.service.pauses.list_holds() == []
    assert len(claim_batches(world)) == 6


def test_of_two_pauses_one_goes_on_when_the_other_ends(world: World) -> None:
    what, tenant = world_with_jobs(world, "tenant_id")
    for each in ({"family": "test"}, {"type": "greet_person"}, what):
        world.service.pauses.pause_jobs(**each)

    claimed = []
    for each in ({"family": "test"}, {"type": "greet_person"}, what):
        claimed.append({job.tenant_id for job in claim_all(world)})
        world.service.pauses.resume_jobs(**each)

    assert claimed[:2] == [set(), set()]
    assert len(claimed[2]) == 1
    assert tenant not in claimed[2]
    assert {job.tenant_id for job in claim_all(world)} == {tenant}


def test_a_paused_tenant_that_is_full_stays_paused(world: World) -> None:
    what, tenant = world_with_jobs(world, "tenant_id")
    world.run("update tenant_settings set max_running = 1 where tenant_id = %s", tenant)
    (running,) = [job for job in claim_all(world) if job.tenant_id == tenant]

    world.service.pauses.pause_jobs(**what)
    world.queue.complete_job(running)
    while_paused = claim_all(world)
    world.service.pauses.resume_jobs(**what)

    assert while_paused == []
    assert len(claim_all(world)) == 1


def test_exactly_one_scope_is_given(world: World) -> None:
    world.type()

    for verb in (world.service.pauses.pause_jobs, world.service.pauses.resume_jobs):
        for scopes in ({}, {"family": "test", "type": "greet_person"}):
            with pytest.raises(
                InvalidRequest, match=f"of family, type and tenant_id must be given, not {len(scopes)}"
            ) as refusal:
                verb(**scopes)
            assert refusal.value.sqlstate == "TWARG"


VERBS = pytest.mark.parametrize("verb", ["pause_jobs", "resume_jobs"])


@VERBS
def test_what_is_unknown_is_refused_with_the_names_of_what_there_is(world: World, verb: str) -> None:
    world.run("delete from job_types")
    world.type()
    world.type("wave_hand", "other_family")
    nobody = uuid4()

    with pytest.raises(InvalidRequest, match="there is no family 'tset'") as no_family:
        getattr(world.service.pauses, verb)(family="tset")
    with pytest.raises(InvalidRequest, match="there is no job type 'no_such_type'") as no_type:
        getattr(world.service.pauses, verb)(type="no_such_type")
    with pytest.raises(InvalidRequest, match=f"there is no tenant {nobody}") as no_tenant:
        getattr(world.service.pauses, verb)(tenant_id=nobody)

    refusals = (no_family.value, no_type.value, no_tenant.value)
    assert [refusal.sqlstate for refusal in refusals] == ["TWARG", "TWTYP", "TWTNT"]
    assert no_family.value.hint == "The job types are of these: other_family, test."
    assert no_type.value.hint == "There are greet_person, wave_hand."
    assert world.service.pauses.list_holds() == []


def test_a_type_that_joins_a_paused_family_is_paused(world: World) -> None:
    tenant, _ = world.tenant(), world.type()
    world.type("nod_head", "other_family")
    world.service.pauses.pause_jobs(family="test")

    world.type("wave_hand")
    world.run("update job_types set family = 'test' where key = 'nod_head'")
    for type in ("wave_hand", "nod_head"):
        enqueue(world, tenant, 1, type)
    while_paused = claim_all(world)
    world.service.pauses.resume_jobs(family="test")

    assert while_paused == []
    assert len(claim_all(world)) == 2


def test_what_was_deleted_while_it_was_paused_can_be_resumed(world: World) -> None:
    what, _ = world_with_jobs(world, "type")
    world.service.pauses.pause_jobs(family="test")
    world.service.pauses.pause_jobs(**what)
    world.run("delete from job_types where family = 'test'")

    world.service.pauses.pause_jobs(**what, reason="it is gone")
    for each in ({"family": "test"}, what):
        world.service.pauses.resume_jobs(**each)

    assert world.service.pauses.list_holds() == []
    assert len(claim_batches(world)) == 6


def test_holds_say_how_many_due_jobs_wait_behind_them(world: World) -> None:
    what, tenant = world_with_jobs(world, "tenant_id")
    world.type("nod_head", "other_family")
    enqueue(world, tenant, 2, priority=50, lane="connector:1")
    enqueue(world, tenant, 1, "nod_head", lane="connector:1")
    world.job(run_at="2999-01-01", tenant=tenant)
    for each in (what, {"family": "test"}, {"type": "nod_head"}, {"type": "greet_person"}):
        world.service.pauses.pause_jobs(**each)
    world.service.pauses.hold_lane("test", tenant, "connector:1", "infinity")
    world.service.pauses.hold_lane("test", tenant, "connector:2", "infinity")

    waiting = {
        hold["scope"].replace(str(tenant), "acme"): hold["waiting"] for hold in world.service.pauses.list_holds()
    }

    assert waiting == {
        "family test": 8,
        "tenant acme": 6,
        "tenant acme family test lane connector:1": 2,
        "tenant acme family test lane connector:2": 0,
        "type greet_person": 8,
        "type nod_head": 1,
    }


def test_many_jobs_behind_a_hold_are_not_counted_one_by_one(world: World) -> None:
    tenant, _ = world.tenant(), world.type()
    enqueue(world, tenant, 10_000)
    enqueue(world, tenant, 10_000, lane="connector:1")
    world.service.pauses.pause_jobs(tenant_id=tenant)

    scans = [scan for scan in scans_of(world, "select waiting from list_holds()") if scan["Relation Name"] == "jobs"]

    assert [hold["waiting"] for hold in world.service.pauses.list_holds()] == [100]
    assert_by_index(scans)
    assert touched_rows(scans) <= 250
