"""change_jobs: every job that matches, as the person who asked for it, and what came later is left alone."""

from uuid import UUID

import psycopg
import pytest
from psycopg.rows import DictRow
from psycopg.types.json import Jsonb

from tests.world import World
from tests.world.api import member_of
from tickwork.families.manage.change_jobs import CHANGE_JOBS
from tickwork.jobs.rows import Job
from tickwork.runtime.deadline import Deadline
from tickwork.runtime.work import work

REQUEST = "select * from change_matching_jobs(%s, %s, 'the service was down')"


def failed(world: World, tenant: UUID) -> Job:
    job = world.job(tenant=tenant)
    world.queue.fail_job(world.claim(), {"code": "BROKEN", "message": "It broke"}, retryable=False)
    return world.reload(job)


def as_user(world: World, user: UUID) -> psycopg.Connection[DictRow]:
    return world.connect("authenticated", user_id=user)


def run(world: World) -> None:
    work(world.queue, "manage", {"change_jobs": CHANGE_JOBS}, Deadline(60, 10))


def test_only_what_had_failed_by_then_is_retried(world: World) -> None:
    tenant = world.tenant("acme")
    early, other = failed(world, tenant), failed(world, world.tenant("other"))
    job = as_user(world, member_of(world, tenant, role="admin")).execute(REQUEST, ["retry", '{"status": "failed"}'])
    requested = job.fetchone()
    late = failed(world, tenant)

    run(world)

    assert [world.reload(each).status for each in (early, late, other)] == ["queued", "failed", "failed"]
    assert world.row("select status, result from jobs where id = %s", requested["id"]) == {  # type: ignore[index]
        "status": "done",
        "result": {"changed": 1},
    }


def test_whoever_is_no_admin_any_more_changes_nothing(world: World) -> None:
    tenant = world.tenant("acme")
    broken = failed(world, tenant)
    admin = member_of(world, tenant, role="admin")
    as_user(world, admin).execute(REQUEST, ["retry", "{}"])
    world.run("update memberships set role = 'member' where user_id = %s", admin)

    run(world)

    assert world.reload(broken).status == "failed"


def test_members_and_strangers_may_not_ask(world: World) -> None:
    tenant = world.tenant("acme")
    failed(world, tenant)
    request = {"tenant_id": str(tenant)}

    with pytest.raises(psycopg.Error, match="only admins"):
        as_user(world, member_of(world, tenant)).execute(REQUEST, ["retry", Jsonb(request)])
    with pytest.raises(psycopg.Error, match="not a member"):
        as_user(world, member_of(world, world.tenant("x"), role="admin")).execute(REQUEST, ["retry", Jsonb(request)])


@pytest.mark.parametrize(
    ("action", "filter", "message"),
    [
        ("drop", "{}", "retry, cancel or reschedule"),
        ("retry", "[]", "must be an object"),
        ("retry", '{"nothing": 1}', "there is no filter 'nothing'"),
        ("retry", '{"after_id": "x"}', "there is no filter 'after_id'"),
        ("retry", '{"tenant_ids": []}', "there is no filter 'tenant_ids'"),
        ("retry", '{"tenant_id": "x"}', "invalid input syntax"),
        ("retry", '{"status": "done"}', "cannot be retried"),
        ("reschedule", "{}", "run_at"),
    ],
)
def test_what_cannot_be_asked_for(world: World, action: str, filter: str, message: str) -> None:
    admin = member_of(world, world.tenant("acme"), role="admin")

    with pytest.raises(psycopg.Error, match=message):
        as_user(world, admin).execute(REQUEST, [action, filter])


def test_more_than_a_batch_is_cancelled(world: World) -> None:
    tenant = world.tenant("acme")
    world.type()
    world.run("insert into jobs (tenant_id, type) select %s, 'greet_person' from generate_series(1, 1500)", tenant)
    admin = member_of(world, tenant, role="admin")
    as_user(world, admin).execute(REQUEST, ["cancel", '{"type": "greet_person"}'])

    run(world)

    assert world.value("select count(*) from jobs where status = 'cancelled'") == 1500
    audited = world.rows(
        "select actor_id, after -> 'changed' as changed from audit_log where action = 'jobs.cancelled'"
    )
    assert audited == [{"actor_id": admin, "changed": 1000}, {"actor_id": admin, "changed": 500}]
