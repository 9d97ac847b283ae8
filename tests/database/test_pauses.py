"""Families, types and tenants that are paused: nothing starts, what runs goes on, and all of it resumes at once."""

from typing import Any
from uuid import UUID, uuid4

import pytest

from tests.crowd import claim_all, enqueue
from tests.world import World
from tickwork.errors import InvalidRequest
from tickwork.jobs import Job

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


def claim_batches(world: World) -> list[Job]:
    return [job for family in ("test", "other_family") for job in world.queue.claim_jobs(family, 100)]


@SCOPES
@pytest.mark.parametrize("is_open", [True, False], ids=["open", "new"])
def test_what_is_paused_does_not_start_and_the_rest_does(world: World, scope: str, is_open: bool) -> None:
    what, tenant = world_with_jobs(world, scope)
    if is_open:
        open_lines(world)

    world.service.pause_jobs(**what)
    others = claim_batches(world)
    enqueue(world, tenant, 1)
    enqueue(world, tenant, 1, priority=50, lane="connector:1")
    meanwhile = claim_all(world) + claim_batches(world)
    world.service.resume_jobs(**what)
    resumed = claim_all(world)

    assert [len(jobs) for jobs in (others, meanwhile, resumed)] == [3, 0, 5]
    assert all(job.attempts == 1 for job in resumed)


def test_what_runs_settles_as_it_would(world: World) -> None:
    what, tenant = world_with_jobs(world, "tenant_id")
    in_scope = [job for job in claim_all(world) if (job.type, job.tenant_id) == ("greet_person", tenant)]
    done, failed, released = in_scope

    world.service.pause_jobs(**what)
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
        world.service.pause_jobs(**scope, reason="a first reason")
        world.service.pause_jobs(**scope, reason="a second reason")
    holds = world.service.list_holds()
    for scope in (*scopes, *scopes):
        world.service.resume_jobs(**scope)

    assert [hold["scope"] for hold in holds] == ["family test", f"tenant {tenant}", "type greet_person"]
    assert {hold["reason"] for hold in holds} == {"a second reason"}
    assert world.service.list_holds() == []
    assert len(claim_batches(world)) == 6


def test_of_two_pauses_one_goes_on_when_the_other_ends(world: World) -> None:
    what, tenant = world_with_jobs(world, "tenant_id")
    for each in ({"family": "test"}, {"type": "greet_person"}, what):
        world.service.pause_jobs(**each)

    claimed = []
    for each in ({"family": "test"}, {"type": "greet_person"}, what):
        claimed.append({job.tenant_id for job in claim_all(world)})
        world.service.resume_jobs(**each)

    assert claimed[:2] == [set(), set()]
    assert len(claimed[2]) == 1
    assert tenant not in claimed[2]
    assert {job.tenant_id for job in claim_all(world)} == {tenant}


def test_a_paused_tenant_that_is_full_stays_paused(world: World) -> None:
    what, tenant = world_with_jobs(world, "tenant_id")
    world.run("update organizations set max_running = 1 where id = %s", tenant)
    (running,) = [job for job in claim_all(world) if job.tenant_id == tenant]

    world.service.pause_jobs(**what)
    world.queue.complete_job(running)
    while_paused = claim_all(world)
    world.service.resume_jobs(**what)

    assert while_paused == []
    assert len(claim_all(world)) == 1


def test_exactly_one_scope_is_given(world: World) -> None:
    world.type()

    for verb in (world.service.pause_jobs, world.service.resume_jobs):
        for scopes in ({}, {"family": "test", "type": "greet_person"}):
            with pytest.raises(InvalidRequest, match=f"of family, type and tenant_id, not {len(scopes)}") as refusal:
                verb(**scopes)
            assert refusal.value.sqlstate == "TWARG"


def test_an_unknown_type_or_tenant_is_refused(world: World) -> None:
    nobody = uuid4()

    with pytest.raises(InvalidRequest, match="there is no job type 'no_such_type'") as no_type:
        world.service.pause_jobs(type="no_such_type")
    with pytest.raises(InvalidRequest, match=f"there is no tenant {nobody}") as no_tenant:
        world.service.pause_jobs(tenant_id=nobody)

    assert (no_type.value.sqlstate, no_tenant.value.sqlstate) == ("TWTYP", "TWTNT")
