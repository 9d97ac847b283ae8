"""With a tenant go its jobs: those there are, and those that somebody is just enqueuing."""

import json
from collections.abc import Callable
from uuid import UUID

import psycopg
import pytest

from tests.database.test_enqueue import in_thread, wait_for_lock
from tests.world import World
from tickwork.database.connection import Connection

TABLES = ("public.jobs", "tickwork.waiting", "tickwork.parked", "tickwork.awaiting", "tickwork.leases")
DELETE = "delete from organizations where id = %s"


def one(queue: Connection, tenant: UUID) -> None:
    queue.execute("select enqueue_job(%s, 'greet_person')", [tenant])


def many(queue: Connection, tenant: UUID) -> None:
    batch = [{"tenant_id": str(tenant), "type": "greet_person", "lane": lane} for lane in ("a", None)]
    queue.execute("select from enqueue_jobs(%s)", [json.dumps(batch)])


def by_insert(queue: Connection, tenant: UUID) -> None:
    queue.execute("insert into jobs (tenant_id, type) values (%s, 'greet_person')", [tenant])


WAYS = [one, many, by_insert]


def left_over(world: World) -> dict[str, int]:
    counts = {table: world.value(f"select count(*) from {table}") for table in (*TABLES, "tickwork.tenants")}
    counts["orphaned allowances"] = world.value(
        "select count(*) from tickwork.allowances where tenant_id not in (select tenant_id from tickwork.tenants)"
    )
    return {table: count for table, count in counts.items() if count}


def test_with_a_tenant_go_its_jobs_wherever_they_are(world: World) -> None:
    tenant, other = world.tenant(), world.tenant("other")
    world.type("greet_person")
    first = world.service.jobs.enqueue_job(tenant, "greet_person", dedupe_key="a")
    world.service.jobs.enqueue_job(tenant, "greet_person", {"password": "a secret"}, lane="a")
    world.service.jobs.enqueue_job(tenant, "greet_person", run_at="2999-01-01")
    world.service.jobs.enqueue_job(tenant, "greet_person", after=[first.id])
    world.claim()
    kept = world.service.jobs.enqueue_job(other, "greet_person")

    world.run(DELETE, tenant)

    assert [row["id"] for row in world.rows("select id from jobs")] == [kept.id]
    assert left_over(world) == {"public.jobs": 1, "tickwork.waiting": 1, "tickwork.tenants": 1}
    assert world.value("select count(*) from tickwork.taken_keys") == 0
    assert world.value("select count(*) from tickwork.redacted_values") == 0


@pytest.mark.parametrize("enqueue", WAYS)
def test_an_enqueue_under_way_leaves_no_job_of_a_tenant_that_is_gone(
    world: World, enqueue: Callable[[Connection, UUID], None]
) -> None:
    tenant = world.tenant()
    world.type("greet_person")
    holder, deleter = world.connect(), world.connect()
    holder.autocommit = False
    enqueue(holder, tenant)
    waiting = in_thread(lambda: deleter.execute(DELETE, [tenant]))
    wait_for_lock(world)

    holder.commit()
    waiting()

    assert left_over(world) == {}


@pytest.mark.parametrize("enqueue", WAYS)
def test_nobody_enqueues_for_a_tenant_that_is_being_deleted_nor_waits_for_that(
    world: World, enqueue: Callable[[Connection, UUID], None]
) -> None:
    tenant = world.tenant()
    world.type("greet_person")
    deleter, queue = world.connect(), world.connect()
    queue.execute("set lock_timeout = '3s'")
    deleter.autocommit = False
    deleter.execute(DELETE, [tenant])

    with pytest.raises(psycopg.Error, match=f"tenant_id: there is no tenant {tenant}") as refusal:
        enqueue(queue, tenant)
    deleter.commit()

    assert refusal.value.sqlstate == "TWTNT"
    assert left_over(world) == {}


@pytest.mark.parametrize("enqueue", WAYS)
def test_whoever_works_on_a_job_and_enqueues_does_not_deadlock_with_whoever_deletes_the_tenant(
    world: World, enqueue: Callable[[Connection, UUID], None]
) -> None:
    job = world.job()
    queue, deleter = world.connect(), world.connect()
    queue.autocommit = False
    queue.execute("select from jobs where id = %s for no key update", [job.id])
    waiting = in_thread(lambda: deleter.execute(DELETE, [job.tenant_id]))
    wait_for_lock(world)

    try:
        enqueue(queue, job.tenant_id)
        queue.commit()
    finally:
        queue.close()
        waiting()

    assert left_over(world) == {}


def test_a_tenant_is_not_deleted_by_whoever_cannot_see_all_of_its_jobs(world: World) -> None:
    tenant = world.tenant()

    for level in ("repeatable read", "serializable"):
        with pytest.raises(psycopg.Error, match="read committed") as refusal:
            world.run(f"begin isolation level {level}; delete from organizations where id = '{tenant}'")
        world.run("rollback")
        assert refusal.value.sqlstate == "25000"

    world.run(DELETE, tenant)
