"""Workers that come with an API key: their family and tenant only, under the same leases as everybody."""

import json
from typing import Any
from uuid import UUID, uuid4

import pytest
from psycopg.rows import DictRow

from tests.database.test_api_keys import holder_of, key_for, refused
from tests.world import World
from tickwork.database.connection import Connection

CLAIM = "select * from worker_claim_jobs(%s, 'over http', %s)"


def worker_of(world: World, family: str = "test", tenant: UUID | None = None) -> Connection:
    return holder_of(world, key_for(world, f"worker:{family}", tenant=tenant))


def claimed(worker: Connection, family: str = "test", max_jobs: int = 10) -> list[DictRow]:
    return worker.execute(CLAIM, [family, max_jobs]).fetchall()


def verbs_on(job: DictRow) -> dict[str, str]:
    lease = f"'{job['id']}', '{job['lease_token']}'"
    outcome = json.dumps([{"job_id": str(job["id"]), "lease_token": str(job["lease_token"]), "status": "done"}])
    return {
        "heartbeat": f"select worker_heartbeat_job({lease})",
        "complete": f"select (worker_complete_job({lease})).status",
        "fail": f"""select (worker_fail_job({lease}, '{{"code": "NO", "message": "no"}}', false)).status""",
        "release": f"select (worker_release_job({lease})).status",
        "settle": f"select (worker_settle_and_claim('{outcome}', 'test', 'over http')).settled",
    }


ENDS: dict[str, Any] = {"heartbeat": "running", "complete": "done", "fail": "failed", "release": "queued"}


@pytest.mark.parametrize("is_own", [False, True], ids=["platform", "tenant"])
def test_a_worker_with_a_key_claims_and_settles(world: World, is_own: bool) -> None:
    tenant = world.tenant()
    worker = worker_of(world, tenant=tenant if is_own else None)

    for verb, status in {**ENDS, "settle": "done"}.items():
        job = world.job(tenant=tenant)
        (held,) = claimed(worker)
        assert (held["id"], held["worker_id"]) == (job.id, "over http")

        worker.execute(verbs_on(held)[verb])

        assert world.reload(job).status == status
        world.run("delete from jobs")


def test_a_worker_with_a_key_gets_jobs_of_its_family_and_tenant_only(world: World) -> None:
    tenant, other = world.tenant(), world.tenant("birch")
    world.type("of_family", family="test")
    world.type("of_others", family="others")
    jobs = {(each, type): world.job(type, each).id for each in (tenant, other) for type in ("of_family", "of_others")}
    own = worker_of(world, tenant=tenant)
    with refused("TWADM"):
        claimed(own, "others")

    assert [job["id"] for job in claimed(own)] == [jobs[tenant, "of_family"]]
    assert claimed(own) == []
    assert [job["id"] for job in claimed(worker_of(world))] == [jobs[other, "of_family"]]


@pytest.mark.parametrize("verb", [*ENDS, "settle"])
def test_the_lease_of_another_family_or_tenant_is_none(world: World, verb: str) -> None:
    """Even with its token, which a worker is never given."""
    tenant, other = world.tenant(), world.tenant("birch")
    world.type("of_others", family="others")
    for type in (world.type(), "of_others"):
        world.job(type, other)
    held = [*claimed(worker_of(world)), *claimed(worker_of(world, "others"), "others")]

    for job, worker in zip(held, (worker_of(world, tenant=tenant), worker_of(world)), strict=True):
        # The scope of a family is told apart from a lost lease: whoever has the token knows of the job.
        with refused("TWADM" if job["family"] == "others" and verb != "settle" else "TWLSE"):
            worker.execute(verbs_on(job)[verb])

    assert {row["status"] for row in world.rows("select status from jobs")} == {"running"}


@pytest.mark.parametrize("verb", ENDS)
def test_a_stale_token_changes_nothing(world: World, verb: str) -> None:
    job, worker = world.job(), worker_of(world)
    (held,) = claimed(worker)

    with refused("TWLSE"):
        worker.execute(verbs_on({**held, "lease_token": uuid4()})[verb])
    worker.execute(verbs_on(held)["complete"])
    with refused("TWLSE"):
        worker.execute(verbs_on(held)[verb])

    assert world.reload(job).status == "done"


def test_nobody_else_may_call_the_verbs_of_workers_with_a_key(world: World) -> None:
    tenant = world.tenant()
    world.job(tenant=tenant)
    held = world.claim()
    verbs = verbs_on({"id": held.id, "lease_token": held.lease_token})

    for caller in (world.member_of(tenant, role="owner"), holder_of(world, key_for(world, "operate"))):
        with refused("TWADM"):
            claimed(caller)
        for verb in verbs.values():
            with refused("TWADM"):
                caller.execute(verb)


def test_a_worker_of_one_tenant_respects_limits_lanes_and_pauses(world: World) -> None:
    tenant = world.tenant()
    worker = worker_of(world, tenant=tenant)
    world.type("plain")
    world.type("urgent", priority=50)
    world.type("limited", max_running_per_tenant=1)
    world.service.pauses.limit_lane("test", tenant, "narrow", max_running=1)
    for type, lane in (("plain", "narrow"), ("plain", "narrow"), ("limited", None), ("limited", None)):
        world.job(type, tenant, lane=lane)

    assert sorted(job["type"] for job in claimed(worker)) == ["limited", "plain"]
    assert claimed(worker) == []
    world.run("update tenant_settings set max_running = 4 where tenant_id = %s", tenant)
    for type in ("plain", "plain", "urgent"):
        world.job(type, tenant)
    first = claimed(worker)
    # Whichever came first: of two that may still start, one is the urgent one.
    assert sorted(job["type"] for job in first) == ["plain", "urgent"]
    world.run("update tenant_settings set max_running = null where tenant_id = %s", tenant)
    world.service.pauses.pause_jobs(tenant_id=tenant)
    assert claimed(worker) == []
    world.service.pauses.resume_jobs(tenant_id=tenant)
    assert [job["type"] for job in claimed(worker)] == ["plain"]


def test_a_worker_of_one_tenant_drains_it_without_moving_the_turns_of_others(world: World) -> None:
    tenant, other = world.tenant(), world.tenant("birch")
    for each in [tenant] * 20 + [other] * 5:
        world.job(tenant=each)
    turn = world.value("select tickwork.read_turn('test')")
    worker = worker_of(world, tenant=tenant)

    seen = [job["id"] for _ in range(8) for job in claimed(worker, max_jobs=3)]

    assert len({*seen}) == len(seen) == 20
    assert world.value("select tickwork.read_turn('test')") == turn
    assert world.value("select count(*) from jobs where status = 'queued' and tenant_id = %s", other) == 5
