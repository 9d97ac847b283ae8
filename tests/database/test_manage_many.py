"""What people do to many jobs at once, by a filter: cancel, retry, reschedule."""

from datetime import UTC, datetime
from typing import Any
from uuid import UUID, uuid4

import psycopg
import pytest

from tests.world import World
from tickwork.database.connection import Connection
from tickwork.errors import InvalidRequest, QueueError
from tickwork.jobs.rows import Job, JobFields


def dead_job(world: World, code: str = "BUSY", **arguments: Any) -> Job:
    job = world.running_job(max_attempts=1, **arguments)
    return world.queue.fail_job(job, {"code": code})


def statuses(world: World, *jobs: JobFields) -> list[str]:
    return [world.reload(job).status for job in jobs]


def ask(connection: Connection, verb: str, **arguments: Any) -> tuple[int, bool]:
    marks = ", ".join(f"{name} => %({name})s" for name in arguments)
    (row,) = connection.execute(f"select * from {verb}({marks})", arguments).fetchall()
    return row["changed"], row["has_more"]


def test_what_is_failed_or_dead_is_retried_and_what_was_cancelled_only_if_asked_for(world: World) -> None:
    dead = dead_job(world)
    failed = world.queue.fail_job(world.running_job(), {"code": "BROKEN"}, retryable=False)
    cancelled = world.service.jobs.cancel_job(world.job().id)

    first = world.service.jobs.retry_jobs()
    then = statuses(world, dead, failed, cancelled)
    second = world.service.jobs.retry_jobs(status="cancelled")

    assert (first, second) == ((2, False), (1, False))
    assert then == ["queued", "queued", "cancelled"]
    assert statuses(world, cancelled) == ["queued"]
    assert {world.claim().id for _ in range(3)} == {dead.id, failed.id, cancelled.id}


def test_a_retry_of_many_takes_a_time_and_a_number_of_attempts(world: World) -> None:
    job = dead_job(world)

    world.service.jobs.retry_jobs(run_at="2999-01-01T00:00Z", max_attempts=7)

    again = world.reload(job)
    assert (again.run_at, again.max_attempts) == (datetime(2999, 1, 1, tzinfo=UTC), job.attempts + 7)
    assert world.queue.claim_next_job("test") is None


def test_retried_jobs_run_in_the_order_in_which_they_were_enqueued(world: World) -> None:
    jobs = [dead_job(world) for _ in range(5)]

    world.service.jobs.retry_jobs()

    assert [world.claim().id for _ in range(5)] == [job.id for job in jobs]


def test_only_what_matches_is_changed(world: World) -> None:
    here, there = world.tenant("here"), world.tenant("there")
    world.type("greet_person")
    wanted = dead_job(world, tenant=here, lane="a")
    others = [
        dead_job(world, tenant=there, lane="a"),
        dead_job(world, "BROKEN", tenant=here, lane="a"),
        dead_job(world, tenant=here, lane="b"),
    ]
    late = dead_job(world, tenant=here, lane="a")

    done = world.service.jobs.retry_jobs(
        tenant_id=here, family="test", lane="a", error_code="BUSY", created_before=late.created_at
    )

    assert done == (1, False)
    assert statuses(world, wanted, *others, late) == ["queued", "dead", "dead", "dead", "dead"]


def test_queued_jobs_are_cancelled_and_running_ones_asked_once(world: World) -> None:
    running, queued = world.running_job(), world.job()
    parked = world.job(run_at="2999-01-01")
    done = world.running_job(priority=9)
    world.queue.complete_job(done)

    first, second = world.service.jobs.cancel_jobs(), world.service.jobs.cancel_jobs()

    assert (first, second) == ((3, False), (0, False))
    assert statuses(world, queued, parked, running, done) == ["cancelled", "cancelled", "running", "done"]
    assert world.queue.heartbeat_job(running) is True
    assert world.value("select count(*) from tickwork.waiting") == 0
    assert world.value("select count(*) from tickwork.parked") == 0


def test_only_so_many_are_changed_and_it_is_said_that_there_are_more(world: World) -> None:
    jobs = [world.job() for _ in range(5)]

    rounds = [world.service.jobs.cancel_jobs(max_jobs=2) for _ in range(3)]

    assert rounds == [(2, True), (2, True), (1, False)]
    assert statuses(world, *jobs) == ["cancelled"] * 5


@pytest.mark.parametrize("verb", ["retry_jobs", "reschedule_jobs"])
def test_whoever_goes_on_while_there_is_more_comes_to_an_end(world: World, verb: str) -> None:
    """Jobs that cannot be changed stay what they are, and keep nobody from those behind them."""
    blocked = [world.service.jobs.cancel_job(world.job(dedupe_key=f"d{n}").id) for n in range(3)]
    for n in range(3):
        world.job(dedupe_key=f"d{n}", run_at="2998-01-01")
    free = [world.service.jobs.cancel_job(world.job().id) for _ in range(3)]
    if verb == "reschedule_jobs":
        blocked, free = free, blocked

    rounds: list[tuple[int, bool]] = []
    while not rounds or rounds[-1][1]:
        rounds.append(ask(world.admin, verb, run_at="2999-01-01", status="cancelled", max_jobs=2))

    assert rounds == [(2, True), (1, False)]
    assert sorted(statuses(world, *blocked, *free)) == ["cancelled"] * 3 + ["queued"] * 3


def test_queued_jobs_are_moved_to_another_time(world: World) -> None:
    jobs = [world.job(), world.job(run_at="2999-01-01"), world.job(lane="l")]
    dead = dead_job(world, priority=9)

    rounds = [world.service.jobs.reschedule_jobs("2020-01-01T00:00Z", max_jobs=2) for _ in range(2)]
    again = world.service.jobs.reschedule_jobs("2020-01-01T00:00Z")

    assert (rounds, again) == ([(2, True), (1, False)], (0, False))
    assert {world.claim().id for _ in range(3)} == {job.id for job in jobs}
    assert statuses(world, dead) == ["dead"]


def test_a_job_that_somebody_else_is_changing_is_skipped(world: World) -> None:
    busy, free = world.job(), world.job()
    other = world.connect()
    other.autocommit = False
    other.execute("select from jobs where id = %s for no key update", [busy.id])

    changed = world.service.jobs.cancel_jobs()
    other.rollback()

    assert changed == (1, False)
    assert statuses(world, busy, free) == ["queued", "cancelled"]


def test_two_who_retry_the_same_jobs_retry_each_once(world: World) -> None:
    jobs = [dead_job(world) for _ in range(4)]
    first = world.connect()
    first.autocommit = False

    changed = [ask(first, "retry_jobs", max_jobs=2), tuple(world.service.jobs.retry_jobs())]
    first.commit()

    assert changed == [(2, True), (2, False)]
    assert {world.claim().id for _ in range(4)} == {job.id for job in jobs}
    assert world.queue.claim_next_job("test") is None


@pytest.mark.parametrize("has_lanes", [False, True])
@pytest.mark.parametrize("later", [None, "2999-01-01"])
def test_jobs_that_are_due_at_the_same_time_are_looked_up_once(
    world: World, later: str | None, has_lanes: bool
) -> None:
    job = {"tenant_id": str(world.tenant()), "type": world.type(), "run_at": later}
    world.service.jobs.enqueue_jobs([{**job, "lane": f"lane {n}" if has_lanes else None} for n in range(500)])
    read = "select sum(idx_tup_fetch)::integer as rows from pg_stat_xact_user_tables where relname = any(%s)"

    with world.admin.transaction():
        changed = ask(world.admin, "cancel_jobs")
        (row,) = world.admin.execute(read, [["waiting", "parked"]]).fetchall()

    assert changed == (500, False)
    assert row["rows"] <= 2000


def jobs_of_two(world: World) -> tuple[UUID, Connection, Job, Job]:
    """A member, what he enqueued himself, and what somebody else did."""
    tenant = world.tenant()
    type = world.type()
    member = world.member_of(tenant)
    own = member.execute("select * from enqueue_job(%s, %s)", [tenant, type]).fetchone()
    assert own is not None
    del own["deduplicated"]
    return tenant, member, Job(**own), world.job()


def test_a_member_cancels_what_he_enqueued_himself_and_nothing_else(world: World) -> None:
    tenant, member, own, other = jobs_of_two(world)

    changed = ask(member, "cancel_jobs", tenant_id=tenant)

    assert changed == (1, False)
    assert statuses(world, own, other) == ["cancelled", "queued"]


@pytest.mark.parametrize("tenant_is_given", [True, False])
@pytest.mark.parametrize("verb", ["retry_jobs", "reschedule_jobs"])
def test_a_member_neither_retries_nor_reschedules(world: World, verb: str, tenant_is_given: bool) -> None:
    tenant, member, *_ = jobs_of_two(world)

    with pytest.raises(psycopg.Error, match="only admins of a tenant may do that to its jobs") as refusal:
        ask(member, verb, tenant_id=tenant if tenant_is_given else None, run_at="now")

    assert refusal.value.sqlstate == "TWADM"


def test_an_admin_changes_the_jobs_of_his_tenants_and_of_no_other(world: World) -> None:
    tenant, _, own, other = jobs_of_two(world)
    foreign = world.job(tenant=world.tenant("foreign"))
    admin = world.member_of(tenant, role="admin")
    at_foreign = [foreign.tenant_id, uuid4()]

    changed = ask(admin, "cancel_jobs")

    assert changed == (2, False)
    assert statuses(world, own, other, foreign) == ["cancelled", "cancelled", "queued"]
    for each in at_foreign:
        with pytest.raises(psycopg.Error, match="you are not a member of tenant") as refusal:
            ask(admin, "cancel_jobs", tenant_id=each)
        assert refusal.value.sqlstate == "TWMEM"
    assert ask(admin, "retry_jobs", status="cancelled") == (2, False)


def test_an_admin_of_one_tenant_is_a_member_of_another(world: World) -> None:
    tenant, _, own, other = jobs_of_two(world)
    elsewhere = world.tenant("elsewhere")
    admin = world.member_of(elsewhere, role="admin")
    user = world.value("select user_id from memberships where tenant_id = %s", elsewhere)
    world.run("insert into memberships (tenant_id, user_id) values (%s, %s)", tenant, user)
    managed = world.job(tenant=elsewhere)

    assert ask(admin, "cancel_jobs") == (1, False)
    assert statuses(world, own, other, managed) == ["queued", "queued", "cancelled"]


def test_a_platform_admin_changes_the_jobs_of_every_tenant(world: World) -> None:
    *_, own, other = jobs_of_two(world)
    user = uuid4()
    world.run("insert into tickwork.platform_admins (user_id) values (%s)", user)

    assert ask(world.connect("authenticated", user), "cancel_jobs") == (2, False)
    assert statuses(world, own, other) == ["cancelled", "cancelled"]


@pytest.mark.parametrize(
    ("verb", "arguments", "message"),
    [
        ("cancel_jobs", {"max_jobs": 0}, "max_jobs: 0 is out of range, it must be 1 to 10000"),
        ("retry_jobs", {"max_jobs": 10_001}, "max_jobs: 10001 is out of range, it must be 1 to 10000"),
        ("retry_jobs", {"status": "done"}, "status: done jobs cannot be retried"),
        ("cancel_jobs", {"status": "dead"}, "status: dead jobs cannot be cancelled"),
        (
            "reschedule_jobs",
            {"run_at": "now", "status": "running"},
            "status: running jobs cannot be rescheduled",
        ),
        ("reschedule_jobs", {"run_at": "infinity"}, "run_at: must be a point in time, not infinity"),
        ("retry_jobs", {"max_attempts": 26}, "max_attempts: 26 is out of range"),
        ("cancel_jobs", {"tenant_id": UUID(int=0)}, "tenant_id: there is no tenant"),
    ],
)
def test_what_makes_no_sense_is_refused(world: World, verb: str, arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(QueueError, match=message) as refusal:
        getattr(world.service.jobs, verb)(**arguments)

    assert isinstance(refusal.value, InvalidRequest)


def test_many_jobs_are_told_of_and_their_keys_are_free_again(world: World) -> None:
    jobs = [world.job(dedupe_key=f"d{n}", notify=True) for n in range(3)]
    listener = world.connect()
    listener.execute("listen tickwork_done")

    world.service.jobs.cancel_jobs()

    told = {notice.payload for notice in listener.notifies(timeout=5, stop_after=3)}
    assert told == {str(job.id) for job in jobs}
    assert world.value("select count(*) from tickwork.taken_keys") == 0


def test_what_cannot_be_changed_is_passed_in_a_few_looks(world: World) -> None:
    tenant, type = world.tenant(), world.type()
    world.service.jobs.enqueue_jobs([{"tenant_id": str(tenant), "type": type} for _ in range(300)])
    member = world.member_of(tenant)
    (own,) = member.execute("select id from enqueue_job(%s, %s)", [tenant, type]).fetchall()
    world.run("update jobs set created_at = created_at - interval '1 hour' where id = %s", own["id"])
    for statement in ("reset role", "set track_functions = 'all'", "set role authenticated"):
        member.execute(statement)

    with member.transaction():
        changed = ask(member, "cancel_jobs", max_jobs=1)
        looks = member.execute("select calls from pg_stat_xact_user_functions where funcname = 'find_jobs'").fetchall()

    assert changed == (1, False)
    assert looks[0]["calls"] <= 6
