"""What a handler writes and its completion are one transaction, under the lease, for the job's tenant only."""

from collections.abc import Callable, Sequence
from typing import Any

import psycopg
import pytest

from tests.world import World
from tickwork.database.connection import Connection
from tickwork.errors import LeaseLost, WriteFailed
from tickwork.jobs.outcomes import Write
from tickwork.jobs.rows import ClaimedJob
from tickwork.queue import lease_of
from tickwork.runtime.lease import Lease
from tickwork.runtime.settle import perform


@pytest.fixture
def notes(world: World) -> None:
    make_notes(world)


def make_notes(world: World) -> None:
    """A table as handlers write to it, with the policy that the documentation recommends."""
    for statement in (
        "create table notes (tenant_id uuid not null references organizations (id), text text not null)",
        "alter table notes enable row level security",
        "create policy the_worker_writes on notes to tickwork_worker "
        "using (tenant_id = (select tickwork.held_tenant())) "
        "with check (tenant_id = (select tickwork.held_tenant()))",
        "grant select, insert on notes to tickwork_worker",
    ):
        world.admin.execute(statement)


def note(tenant_id: Any, text: str = "hello") -> Callable[[Connection], None]:
    def write(connection: Connection) -> None:
        connection.execute("insert into notes values (%s, %s)", [tenant_id, text])

    return write


def complete(world: World, job: ClaimedJob, writes: Sequence[Write]) -> None:
    def write_and_settle(connection: Connection) -> None:
        for write in writes:
            perform(write, connection)
        world.queue.settle_jobs([{**lease_of(job), "status": "done", "result": {"n": 2}}], connection)

    Lease(world.queue, job).transaction(write_and_settle)


@pytest.mark.usefixtures("notes")
def test_writes_commit_with_the_completion(world: World) -> None:
    job = world.running_job()

    complete(world, job, [note(job.tenant_id, "a"), note(job.tenant_id, "b")])

    assert world.reload(job).status == "done"
    assert [row["text"] for row in world.rows("select text from notes order by text")] == ["a", "b"]


@pytest.mark.usefixtures("notes")
def test_a_zombie_writes_nothing(world: World) -> None:
    zombie = world.running_job()
    world.expire(zombie)
    complete(world, world.claim(), [note(zombie.tenant_id, "right")])

    with pytest.raises(LeaseLost):
        complete(world, zombie, [note(zombie.tenant_id, "wrong")])

    assert [row["text"] for row in world.rows("select text from notes")] == ["right"]


@pytest.mark.usefixtures("notes")
def test_a_write_that_fails_undoes_everything(world: World) -> None:
    job = world.running_job()
    before = world.row_and_lease(job)

    with pytest.raises(WriteFailed):
        complete(world, job, [note(job.tenant_id), note(None)])

    assert world.row_and_lease(job) == before
    assert world.value("select count(*) from notes") == 0


@pytest.mark.usefixtures("notes")
def test_a_write_for_another_tenant_is_refused(world: World) -> None:
    job = world.running_job()
    before = world.row_and_lease(job)

    with pytest.raises(WriteFailed, match="row-level security"):
        complete(world, job, [note(world.tenant("other"))])

    assert world.row_and_lease(job) == before


@pytest.mark.usefixtures("notes")
def test_without_a_lease_the_worker_sees_and_writes_nothing(world: World) -> None:
    job = world.running_job()
    world.run("insert into notes values (%s, 'secret')", job.tenant_id)
    worker = world.connect_worker()

    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        worker.execute("insert into notes values (%s, 'x')", [job.tenant_id])
    with worker.transaction():
        worker.execute("select hold_job(%s, %s)", [job.id, job.lease_token])
        held = worker.execute("select text from notes").fetchall()
    with worker.transaction():
        # Settings alone are no credential: the token has to be the right one.
        worker.execute(
            "select set_config('tickwork.job_id', %s, true), set_config('tickwork.lease_token', %s, true)",
            [str(job.id), str(job.id)],
        )
        pretended = worker.execute("select text from notes").fetchall()

    assert (held, pretended) == ([{"text": "secret"}], [])
    assert worker.execute("select text from notes").fetchall() == []


@pytest.mark.usefixtures("notes")
def test_nothing_can_be_written_after_the_job_is_settled(world: World) -> None:
    job = world.running_job()
    before = world.row_and_lease(job)
    worker = world.connect_worker()

    worker.autocommit = False
    worker.execute("select hold_job(%s, %s)", [job.id, job.lease_token])
    worker.execute("select complete_job(%s, %s)", [job.id, job.lease_token])
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        worker.execute("insert into notes values (%s, 'late')", [job.tenant_id])
    worker.rollback()

    assert world.row_and_lease(job) == before


@pytest.mark.usefixtures("notes")
def test_nobody_takes_a_job_whose_effects_are_being_written(world: World) -> None:
    job = world.running_job()
    world.expire(job)

    def look(connection: Connection) -> None:
        assert world.service.maintenance.maintain() == 0
        assert world.other_queue.claim_next_job("test") is None

    complete(world, job, [look, note(job.tenant_id)])

    assert world.reload(job).status == "done"
