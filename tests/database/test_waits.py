"""Waits in the database, with two connections: no event is lost, and whoever emits one waits for nobody."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.world import World
from tests.world.receivers import emit
from tickwork.database.connection import Connection
from tickwork.jobs.rows import ClaimedJob
from tickwork.runtime.lease import Lease

WAIT = "select * from open_held_wait('reply', 'invoice.paid', timeout_seconds => 3600)"
EMIT = "select emit_event(%s, 'invoice.paid')"


def open_wait(world: World, job: ClaimedJob) -> dict[str, Any]:
    found: dict[str, Any] = Lease(world.queue, job).transaction(lambda connection: connection.execute(WAIT).fetchone())
    return found


def waiting_job(world: World, **arguments: Any) -> ClaimedJob:
    job = world.running_job(**arguments)
    world.queue.release_job(job, open_wait(world, job)["seconds_left"])
    return job


def hurried(world: World) -> Connection:
    """A connection that fails where it has to wait for a lock."""
    connection = world.connect()
    connection.execute("set lock_timeout = '1ms'")
    return connection


def ring(world: World) -> None:
    """What a claim, or cron, does a second later."""
    # Those of waits that end later ring later.
    world.run("update tickwork.alarms set wake_at = clock_timestamp() where wake_at < now() + interval '2 seconds'")
    world.service.maintenance.maintain()


def is_due(world: World, job: ClaimedJob) -> bool:
    return world.reload(job).run_at <= datetime.now(UTC) and bool(
        world.rows("select from tickwork.waiting where job_id = %s", job.id)
    )


def test_an_event_between_the_wait_and_the_release_is_not_lost(world: World) -> None:
    job = world.running_job()
    assert not open_wait(world, job)["is_over"]

    emit(world, job.tenant_id)
    ring(world)
    assert world.rows("select from tickwork.alarms") == []
    world.queue.release_job(job, 3600)
    ring(world)

    assert is_due(world, job)
    assert open_wait(world, world.claim())["is_over"]


def test_an_event_that_is_committed_after_the_release_is_not_lost(world: World) -> None:
    job = world.running_job()
    open_wait(world, job)
    other = hurried(world)

    with other.transaction():
        other.execute(EMIT, [job.tenant_id])
        world.queue.release_job(job, 3600)
        ring(world)
        assert not is_due(world, job)
    ring(world)

    assert is_due(world, job)


def test_an_event_while_the_job_is_being_released_is_not_lost(world: World) -> None:
    job = world.running_job()
    open_wait(world, job)
    worker = world.connect_worker()

    with worker.transaction():
        worker.execute("select release_job(%s, %s, 3600)", [job.id, job.lease_token])
        hurried(world).execute(EMIT, [job.tenant_id])
        ring(world)
    ring(world)

    assert is_due(world, job)


def test_an_event_that_is_rolled_back_has_not_happened(world: World) -> None:
    job = waiting_job(world)
    other = hurried(world)

    with other.transaction(force_rollback=True):
        other.execute(EMIT, [job.tenant_id])
    ring(world)

    assert not is_due(world, job)
    assert world.rows("select from tickwork.waits") != []


def test_whoever_emits_waits_for_nobody_and_nobody_for_them(world: World) -> None:
    job = waiting_job(world)
    running = world.running_job(tenant=job.tenant_id)
    open_wait(world, running)
    first, second, member = hurried(world), hurried(world), hurried(world)

    with first.transaction(), second.transaction():
        first.execute(EMIT, [job.tenant_id])
        second.execute(EMIT, [job.tenant_id])
        # Neither the worker, who settles, nor a member, who cancels, has to wait.
        with world.connect_worker() as worker:
            worker.execute("set lock_timeout = '1ms'")
            worker.execute("select complete_job(%s, %s)", [running.id, running.lease_token])
        member.execute("select cancel_job(%s)", [job.id])
    ring(world)

    assert world.reload(job).status == "cancelled"
    assert world.rows("select from tickwork.arrivals") == world.rows("select from tickwork.waits") == []


def test_a_job_that_somebody_has_locked_is_woken_later(world: World) -> None:
    job = waiting_job(world)
    member = world.connect()
    emit(world, job.tenant_id)

    with member.transaction(force_rollback=True):
        member.execute("select cancel_job(%s)", [job.id])
        ring(world)
        assert not is_due(world, job)
        assert world.rows("select from tickwork.alarms") != []
    ring(world)

    assert is_due(world, job)


def test_a_job_in_a_held_lane_keeps_its_event(world: World) -> None:
    job = waiting_job(world, lane="a lane")
    world.service.pauses.hold_lane("test", job.tenant_id, "a lane", datetime.now(UTC) + timedelta(hours=2))

    emit(world, job.tenant_id)
    ring(world)
    assert world.queue.claim_next_job("test") is None
    world.service.pauses.release_lane("test", job.tenant_id, "a lane")

    assert open_wait(world, world.claim())["is_over"]


def test_the_queue_can_be_rebuilt_before_an_event_is_taken(world: World) -> None:
    job = waiting_job(world)
    emit(world, job.tenant_id)

    world.run("select rebuild_queue()")
    ring(world)

    assert is_due(world, job)


def test_one_event_wakes_many_jobs_in_portions(world: World) -> None:
    jobs = [waiting_job(world) for _ in range(3)]
    tenant = jobs[0].tenant_id
    world.run(
        "insert into tickwork.waits select job_id, 'other ' || n, tenant_id, event_name, condition, ends_at, waited_at "
        "from tickwork.waits, generate_series(1, 50) as n"
    )

    emit(world, tenant)
    ring(world)
    assert world.value("select count(*) from tickwork.arrivals") == 53
    ring(world)

    assert [is_due(world, job) for job in jobs] == [True] * 3
    assert world.value("select count(*) from tickwork.steps") == 153


@pytest.mark.parametrize("status", ["failed", "done"])
def test_a_wait_of_a_job_that_has_ended_is_cleared_by_its_event(world: World, status: str) -> None:
    job = world.running_job()
    open_wait(world, job)
    world.queue.settle_jobs(
        [
            {"job_id": str(job.id), "lease_token": str(job.lease_token), "status": status}
            | ({"retryable": False, "error": {}} if status == "failed" else {})
        ]
    )

    emit(world, job.tenant_id)
    ring(world)

    assert world.rows("select from tickwork.waits") == world.rows("select from tickwork.arrivals") == []
    assert world.value("select count(*) from tickwork.steps") == (1 if status == "failed" else 0)


def test_members_list_the_steps_of_their_own_jobs_only(world: World) -> None:
    job = waiting_job(world)
    member, stranger = world.member_of(job.tenant_id), world.member_of(world.tenant("birch"))

    assert [row["name"] for row in member.execute("select * from list_steps(%s)", [job.id])] == ["reply"]
    with pytest.raises(Exception, match="there is no job"):
        stranger.execute("select * from list_steps(%s)", [job.id])


def test_steps_are_for_who_holds_the_job(world: World) -> None:
    worker = world.connect_worker()

    for call in ("read_held_steps()", "store_held_step('a')", "open_held_wait('a', timeout_seconds => 1)"):
        with pytest.raises(Exception, match="no job is held in this transaction"):
            worker.execute(f"select * from {call}".encode())


def test_neither_a_claim_nor_a_settle_reads_steps(world: World) -> None:
    """Only a job that is given back or retried looks whether an event has arrived for it."""
    scans = (
        "select coalesce(sum(seq_scan + idx_scan), 0)::integer as n from pg_stat_xact_all_tables "
        "where schemaname = 'tickwork' and relname in ('steps', 'waits', 'arrivals')"
    )
    for _ in range(3):
        world.job()
    worker = world.connect_worker()
    read = []

    with worker.transaction():
        for verb in ("complete_job(%s, %s)", "complete_job(%s, %s)", "fail_job(%s, %s, '{}')"):
            (job,) = worker.execute("select * from claim_next_job('test', 'me')").fetchall()
            worker.execute(f"select {verb}".encode(), [job["id"], job["lease_token"]])
            read += worker.execute(scans.encode()).fetchall()

    assert [row["n"] for row in read] == [0, 0, 1]


def test_an_event_reads_only_the_waits_for_its_type(world: World) -> None:
    job = waiting_job(world)
    world.run(
        "insert into tickwork.waits select job_id, 'other ' || n, tenant_id, 'other.' || n, null, ends_at, null "
        "from tickwork.waits, generate_series(1, 5000) as n"
    )
    reads = "select idx_tup_fetch + seq_tup_read as n from pg_stat_xact_all_tables where relname = 'waits'"

    with world.admin.transaction():
        world.run(EMIT, job.tenant_id)
        row = world.row(reads)

    assert 1 <= row["n"] <= 2
