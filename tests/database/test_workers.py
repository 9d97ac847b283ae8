"""Workers: they say that they are there, the operator sees them, and a tenant only those that run its jobs."""

from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import psycopg
import pytest

from tests.world import World
from tickwork.errors import InvalidRequest


def listed(world: World, **filter: UUID) -> dict[str, dict[str, Any]]:
    return {row["worker_id"]: row for row in world.service.jobs.list_workers(**filter)}


def pass_time(world: World, time: timedelta) -> None:
    world.run("update job_workers set last_seen_at = last_seen_at - %s", time)


def test_a_worker_is_there_once_however_often_it_says_so(world: World) -> None:
    for running in (3, 5):
        world.queue.note_worker("host", "1.0", ["test"], running, 60, {"kind": "worker", "types": ["greet_person"]})

    row = world.row("select *, last_seen_at - started_at as age from job_workers")
    assert (row["worker_id"], row["hostname"], row["version"], row["families"]) == ("worker-1", "host", "1.0", ["test"])
    assert (row["running_count"], row["metadata"]["types"]) == (5, ["greet_person"])
    assert row["age"] >= timedelta(seconds=60)
    assert listed(world)["worker-1"]["is_stale"] is False


def test_a_worker_that_should_have_said_something_is_stale(world: World) -> None:
    world.queue.note_worker("host", metadata={"kind": "worker"})
    world.other_queue.note_worker("host", metadata={"kind": "function"})

    pass_time(world, timedelta(minutes=2))

    assert {id: row["is_stale"] for id, row in listed(world).items()} == {"worker-1": True, "worker-2": False}
    world.other_queue.note_worker("host", running_count=1, metadata={"kind": "function"})
    pass_time(world, timedelta(minutes=2))
    assert listed(world)["worker-2"]["is_stale"] is True


def test_a_worker_that_stops_is_gone_and_others_are_forgotten_after_a_day(world: World) -> None:
    world.queue.note_worker("host")
    world.other_queue.note_worker("host")

    world.queue.note_worker("host", is_stopped=True)
    assert list(listed(world)) == ["worker-2"]
    pass_time(world, timedelta(hours=23))
    world.run("select maintain()")
    assert list(listed(world)) == ["worker-2"]
    pass_time(world, timedelta(hours=2))
    world.run("select maintain()")
    assert listed(world) == {}


def test_a_tenant_sees_only_the_workers_that_run_its_jobs(world: World) -> None:
    ours, theirs = world.tenant(), world.tenant("birch")
    world.job(tenant=ours)
    world.claim()
    world.queue.note_worker("host", "1.0", ["test"], 1, metadata={"kind": "worker"})
    world.other_queue.note_worker("host")
    world.type("greet_later", family="later")

    def seen_by(connection: Any) -> list[tuple[Any, ...]]:
        found = connection.execute("select * from list_workers()").fetchall()
        return [(row["worker_id"], row["running"], row["hostname"], row["metadata"]) for row in found]

    assert seen_by(world.member_of(ours, role="owner")) == [("worker-1", 1, None, None)]
    assert seen_by(world.member_of(theirs, role="owner")) == []
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        world.member_of(ours).execute("select * from job_workers")
    assert list(listed(world, tenant_id=ours)) == ["worker-1"]
    assert list(listed(world, tenant_id=theirs)) == []
    platform_admin = uuid4()
    world.run("insert into tickwork.platform_admins values (%s)", platform_admin)
    everything = seen_by(world.connect("authenticated", platform_admin))
    assert everything == [("worker-1", 1, "host", {"kind": "worker"}), ("worker-2", 0, "host", {})]


def test_only_workers_and_the_service_say_who_works(world: World) -> None:
    member = world.member_of(world.tenant(), role="owner")

    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        member.execute("select note_worker('me', 'host')")
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        world.connect_worker().execute("delete from job_workers")


def test_what_a_worker_says_of_itself_is_bounded(world: World) -> None:
    with pytest.raises(InvalidRequest, match=r"metadata: 2[0-9]+ bytes is too large"):
        world.queue.note_worker("host", metadata={"types": ["x" * 20_000]})
    world.queue.worker_id = ""
    with pytest.raises(InvalidRequest, match="worker_id: must not be empty"):
        world.queue.note_worker("host")
