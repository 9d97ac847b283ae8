"""Who may enqueue a type: the service, admins of the tenant too, or every member."""

from collections.abc import Callable
from typing import Any
from uuid import UUID, uuid4

import psycopg
import pytest

from tests.world import World
from tickwork.database.connection import Connection

Enqueue = Callable[[Connection, UUID, str], Any]


def by_function(connection: Connection, tenant: UUID, type: str) -> Any:
    return connection.execute("select * from enqueue_job(%s, %s)", [tenant, type]).fetchall()


def by_insert(connection: Connection, tenant: UUID, type: str) -> Any:
    return connection.execute("insert into jobs (tenant_id, type) values (%s, %s) returning id", [tenant, type])


WAYS = pytest.mark.parametrize("enqueue", [by_function, by_insert])


def caller(world: World, who: str, tenant: UUID) -> Connection:
    match who:
        case "service":
            return world.connect("service_role")
        case "platform admin":
            user = uuid4()
            world.run("insert into tickwork.platform_admins (user_id) values (%s)", user)
            return world.connect("authenticated", user)
        case _:
            return world.member_of(tenant, role=who)


MAY = {
    "service": {"service", "platform admin"},
    "admin": {"service", "platform admin", "admin", "owner"},
    "member": {"service", "platform admin", "admin", "owner", "member"},
}
REFUSALS = {
    "service": "type: 'greet_person' may only be enqueued by the service",
    "admin": "type: 'greet_person' may only be enqueued by admins of the tenant",
}


@WAYS
@pytest.mark.parametrize("who", ["service", "platform admin", "owner", "admin", "member"])
@pytest.mark.parametrize("enqueued_by", MAY)
def test_a_type_is_enqueued_by_those_it_names_and_by_nobody_else(
    world: World, enqueue: Enqueue, enqueued_by: str, who: str
) -> None:
    tenant, type = world.tenant(), world.type(enqueued_by=enqueued_by)
    connection = caller(world, who, tenant)

    if who in MAY[enqueued_by]:
        enqueue(connection, tenant, type)
        assert world.value("select count(*) from jobs") == 1
        return

    with pytest.raises(psycopg.Error, match=REFUSALS[enqueued_by]) as refusal:
        enqueue(connection, tenant, type)
    assert refusal.value.sqlstate == "TWENQ"
    assert world.value("select count(*) from jobs") == 0


@WAYS
def test_a_type_that_names_nobody_is_enqueued_by_the_service(world: World, enqueue: Enqueue) -> None:
    tenant = world.tenant()
    world.run("insert into job_types (key, family) values ('greet_person', 'test')")

    enqueue(caller(world, "service", tenant), tenant, "greet_person")

    with pytest.raises(psycopg.Error) as refusal:
        enqueue(caller(world, "owner", tenant), tenant, "greet_person")
    assert refusal.value.sqlstate == "TWENQ"


@WAYS
def test_an_admin_of_another_tenant_is_no_admin_here(world: World, enqueue: Enqueue) -> None:
    tenant, other, type = world.tenant(), world.tenant("other"), world.type(enqueued_by="admin")
    user = uuid4()
    world.run("insert into memberships values (%s, %s, 'member'), (%s, %s, 'admin')", tenant, user, other, user)
    connection = world.connect("authenticated", user)

    enqueue(connection, other, type)

    with pytest.raises(psycopg.Error) as refusal:
        enqueue(connection, tenant, type)
    assert refusal.value.sqlstate == "TWENQ"


@WAYS
def test_a_stranger_is_told_that_he_is_no_member(world: World, enqueue: Enqueue) -> None:
    tenant, type = world.tenant(), world.type(enqueued_by="service")

    with pytest.raises(psycopg.Error) as refusal:
        enqueue(world.member_of(world.tenant("other")), tenant, type)

    assert refusal.value.sqlstate == "TWMEM"


@WAYS
def test_a_change_takes_effect_at_the_next_enqueue(world: World, enqueue: Enqueue) -> None:
    tenant, type = world.tenant(), world.type(enqueued_by="member")
    member = world.member_of(tenant)
    enqueue(member, tenant, type)

    world.run("update job_types set enqueued_by = 'service' where key = %s", type)

    with pytest.raises(psycopg.Error) as refusal:
        enqueue(member, tenant, type)
    assert refusal.value.sqlstate == "TWENQ"


@WAYS
def test_a_job_says_who_enqueued_it(world: World, enqueue: Enqueue) -> None:
    tenant, type = world.tenant(), world.type()
    member = world.member_of(tenant)

    enqueue(member, tenant, type)
    enqueue(caller(world, "service", tenant), tenant, type)

    created_by = [row["created_by"] for row in world.rows("select created_by from jobs order by created_at")]
    assert created_by == [world.value("select user_id from memberships"), None]


def test_somebody_else_cannot_be_named_as_the_one_who_enqueued_it(world: World) -> None:
    tenant, type = world.tenant(), world.type()

    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        world.member_of(tenant).execute(
            "insert into jobs (tenant_id, type, created_by) values (%s, %s, %s)", [tenant, type, uuid4()]
        )


def test_a_follow_up_may_be_of_a_type_that_only_the_service_enqueues(world: World) -> None:
    """The worker acts for the queue, not for whoever enqueued the job before."""
    from tickwork.jobs.rows import FollowUp

    world.type("greet_person")
    world.type("thank_person", enqueued_by="service")
    job = world.running_job(type="greet_person")

    world.queue.complete_job(job, follow_ups=[FollowUp(type="thank_person")])

    assert world.value("select count(*) from jobs where type = 'thank_person'") == 1
