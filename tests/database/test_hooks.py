"""Hooks: what modules have registered is called at its moment, at the end of done jobs only while somebody listens."""

from typing import Any
from uuid import UUID

import pytest

from tests.database.test_enqueue import in_thread, wait_for_lock
from tests.database.test_event_triggers import trigger
from tests.database.test_events import types
from tests.world import World
from tests.world.crowd import transaction
from tests.world.receivers import endpoint

LISTENERS: dict[str, tuple[Any, str, str]] = {
    "endpoint, status": (endpoint, "status = 'disabled'", "status = 'active'"),
    "endpoint, events": (endpoint, "event_types = '{invoice.*}'", "event_types = '{job.dead}'"),
    "trigger, pause": (lambda world, tenant: trigger(world, tenant, "job.*"), "paused_at = now()", "paused_at = null"),
    "trigger, event": (
        lambda world, tenant: trigger(world, tenant, "*"),
        "event_name = 'invoice.paid'",
        "event_name = 'job.done'",
    ),
}


def is_asked_for(world: World) -> bool:
    return bool(world.value("select exists (select from tickwork.hooks where moment = 'done')"))


def listens(world: World) -> bool:
    """Whether an end is told, and the hook is there for that."""
    before = len(types(world))
    world.queue.complete_job(world.running_job())
    is_told = len(types(world)) > before
    assert is_told is is_asked_for(world)
    return is_told


@pytest.mark.parametrize("listener", LISTENERS)
def test_the_end_of_done_jobs_is_asked_for_as_long_as_somebody_hears_of_it(world: World, listener: str) -> None:
    add, silence, wake = LISTENERS[listener]
    table = "webhook_endpoints" if listener.startswith("endpoint") else "event_triggers"
    tenant = world.tenant()
    assert is_asked_for(world) is False

    add(world, tenant)
    assert is_asked_for(world) is True
    world.admin.execute(f"update {table} set {silence}")
    assert is_asked_for(world) is False
    world.admin.execute(f"update {table} set {wake}")
    assert is_asked_for(world) is True
    world.admin.execute(f"delete from {table}")
    assert is_asked_for(world) is False


def test_one_that_is_left_is_enough(world: World) -> None:
    tenant = world.tenant()
    elsewhere = world.type("greet_others", family="other")
    first, second = endpoint(world, tenant), trigger(world, tenant, "job.done", type=elsewhere)

    world.run("delete from webhook_endpoints where id = %s", first)
    assert listens(world) is True
    world.service.triggers.delete_event_trigger(second)
    assert listens(world) is False


def test_a_listener_hears_from_its_commit_on(world: World) -> None:
    tenant = world.tenant()
    adding = transaction(world)
    add_to(adding, tenant)

    assert listens(world) is False
    adding.commit()
    assert listens(world) is True


@pytest.mark.parametrize("is_added_first", [True, False])
def test_one_comes_as_the_last_one_goes(world: World, is_added_first: bool) -> None:
    tenant, other = world.tenant(), world.tenant("birch")
    endpoint(world, other)
    adding, removing = transaction(world), transaction(world)
    add_to(adding, tenant)
    removing.execute("delete from webhook_endpoints where tenant_id = %s", [other])
    first, second = (adding, removing) if is_added_first else (removing, adding)

    # As a commit does it, and then stops.
    first.execute("set constraints all immediate")
    committing = in_thread(second.commit)
    wait_for_lock(world)
    first.commit()
    committing()

    assert listens(world) is True


def test_who_sees_only_the_past_removes_nothing(world: World) -> None:
    tenant, other = world.tenant(), world.tenant("birch")
    endpoint(world, other)
    removing = transaction(world)
    removing.execute("set transaction isolation level repeatable read")
    removing.execute("delete from webhook_endpoints where tenant_id = %s", [other])
    endpoint(world, tenant)

    removing.commit()

    assert listens(world) is True


def test_two_that_touch_the_same_tenants_do_not_deadlock(world: World) -> None:
    """The one lock that all of them take comes last."""
    tenant, other = world.tenant(), world.tenant("birch")
    first, second = transaction(world), transaction(world)
    add_to(first, tenant)
    add_to(second, other)

    committing = in_thread(second.commit)
    committing()
    add_to(first, other)
    first.commit()

    assert world.value("select count(*) from webhook_endpoints") == 3


def test_a_function_is_called_at_its_moment(world: World) -> None:
    world.run("create table heard (moment text, job_ids uuid[])")
    world.run("grant insert on heard to tickwork_owner")
    for moment in ("end", "done", "delete"):
        world.admin.execute(
            f"create function tickwork.hear_{moment}(job_ids uuid[]) returns void "
            f"begin atomic insert into public.heard values ('{moment}', job_ids); end"
        )
        world.admin.execute(f"grant execute on function tickwork.hear_{moment} to tickwork_owner")
        world.run("insert into tickwork.hooks values (%s, %s)", moment, f"hear_{moment}")

    done = world.running_job()
    world.queue.complete_job(done)
    failed = world.running_job()
    world.queue.fail_job(failed, {"code": "X"}, retryable=False)
    world.run("delete from jobs where id = %s", done.id)

    heard = [(row["moment"], row["job_ids"]) for row in world.rows("select * from heard")]
    assert heard == [("done", [done.id]), ("end", [failed.id]), ("done", [failed.id]), ("delete", [done.id])]


def add_to(connection: Any, tenant: UUID) -> None:
    connection.execute("insert into webhook_endpoints (tenant_id, url) values (%s, 'https://a.example')", [tenant])
