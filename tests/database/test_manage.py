"""What people do to jobs: cancel, retry, reschedule, bury; and what is kept of their attempts."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import psycopg
import pytest

from tests.database.test_enqueue import in_thread, wait_for_lock
from tests.world import World
from tickwork.database.connection import Connection
from tickwork.errors import InvalidRequest, NoSuchJob, QueueError, WrongStatus
from tickwork.jobs.rows import Job, JobFields
from tickwork.queue import lease_of


def job_that_is(world: World, status: str) -> Job:
    job = world.job(max_attempts=1)
    if status == "cancelled":
        world.service.jobs.cancel_job(job.id)
    elif status != "queued":
        running = world.claim()
        match status:
            case "done":
                world.queue.complete_job(running)
            case "failed":
                world.queue.fail_job(running, {"code": "X"}, retryable=False)
            case "dead":
                world.queue.fail_job(running, {"code": "X"})
    found = world.reload(job)
    assert found.status == status
    return found


def test_a_queued_job_is_cancelled_at_once(world: World) -> None:
    job = job_that_is(world, "queued")

    cancelled = world.service.jobs.cancel_job(job.id)

    assert (cancelled.status, cancelled.finished_at is not None) == ("cancelled", True)
    assert world.queue.claim_next_job("test") is None


def test_a_running_job_is_asked_and_hears_of_it_at_the_next_heartbeat(world: World) -> None:
    job = world.running_job()
    before = world.queue.heartbeat_job(job)

    asked = world.service.jobs.cancel_job(job.id)

    assert (before, world.queue.heartbeat_job(job)) == (False, True)
    assert (asked.status, asked.cancel_requested_at is not None) == ("running", True)


def test_cancelling_twice_changes_nothing(world: World) -> None:
    job = world.job()

    assert world.service.jobs.cancel_job(job.id) == world.service.jobs.cancel_job(job.id)


def test_a_cancel_that_meets_a_claim_asks_the_worker(world: World) -> None:
    job = world.job()
    claiming = world.connect()
    claiming.autocommit = False
    claiming.execute("select claim_next_job('test', 'w')")
    cancelling = in_thread(lambda: world.service.jobs.cancel_job(job.id))
    wait_for_lock(world)

    claiming.commit()

    answer = cancelling()
    assert (answer.status, answer.cancel_requested_at is not None) == ("running", True)


@pytest.mark.parametrize("status", ["failed", "dead", "cancelled"])
def test_an_ended_job_can_be_retried_with_fresh_attempts(world: World, status: str) -> None:
    job = job_that_is(world, status)

    queued = world.service.jobs.retry_job(job.id)
    again = world.claim()

    assert (queued.status, queued.finished_at, queued.cancel_requested_at) == ("queued", None, None)
    assert (again.id, again.attempts, again.max_attempts) == (job.id, job.attempts + 1, job.attempts + 4)
    world.queue.complete_job(again)
    assert [row["number"] for row in world.attempts(job)] == list(range(1, job.attempts + 2))


def test_a_retry_wakes_the_family(world: World) -> None:
    job = job_that_is(world, "dead")
    listener = world.connect()
    listener.execute("listen tickwork")

    world.service.jobs.retry_job(job.id)

    assert [notice.payload for notice in listener.notifies(timeout=5, stop_after=1)] == ["test"]


def test_a_retry_of_a_job_for_later_keeps_its_time_unless_told_otherwise(world: World) -> None:
    later = world.service.jobs.cancel_job(world.job(run_at="2999-01-01T00:00Z").id)
    many = [world.service.jobs.cancel_job(world.job(run_at="2999-01-01T00:00Z", lane="many").id) for _ in range(2)]

    kept = world.service.jobs.retry_job(later.id)
    world.service.jobs.retry_jobs(lane="many", status="cancelled")
    world.service.jobs.cancel_job(later.id)
    moved = world.service.jobs.retry_job(later.id, run_at="now")

    assert (kept.status, kept.run_at) == ("queued", later.run_at)
    assert [world.reload(job).run_at for job in many] == [later.run_at] * 2
    assert world.claim().id == moved.id


def test_a_retry_that_would_double_a_dedupe_key_is_refused(world: World) -> None:
    job = world.job(dedupe_key="d")
    world.service.jobs.cancel_job(job.id)
    world.job(dedupe_key="d")

    with pytest.raises(WrongStatus, match="another job with the dedupe_key 'd' is queued or running") as refusal:
        world.service.jobs.retry_job(job.id)

    assert refusal.value.sqlstate == "TWDUP"
    assert world.reload(job).status == "cancelled"


def test_a_queued_job_can_be_rescheduled(world: World) -> None:
    job = world.job(run_at="2999-01-01")

    moved = world.service.jobs.reschedule_job(job.id, "2020-01-01T00:00Z")

    assert moved.run_at.year == 2020
    assert world.claim().id == job.id


def test_a_job_cannot_be_rescheduled_to_no_point_in_time(world: World) -> None:
    job = world.job()

    with pytest.raises(QueueError, match="run_at: must be a point in time, not infinity"):
        world.service.jobs.reschedule_job(job.id, "infinity")


@pytest.mark.parametrize("status", ["failed", "dead", "cancelled"])
def test_an_ended_job_can_be_rescheduled(world: World, status: str) -> None:
    job = job_that_is(world, status)

    moved = world.service.jobs.reschedule_job(job.id, "2999-01-01T00:00Z")

    assert (moved.status, moved.run_at, moved.finished_at) == ("queued", datetime(2999, 1, 1, tzinfo=UTC), None)
    assert moved.max_attempts == job.attempts + 4
    assert world.queue.claim_next_job("test") is None
    assert world.service.jobs.list_jobs(status=status) == []
    world.service.jobs.reschedule_job(job.id, "2020-01-01")
    assert world.claim().id == job.id


def test_a_queued_job_keeps_its_attempts_when_it_is_rescheduled(world: World) -> None:
    job = world.running_job(max_attempts=3)
    world.queue.fail_job(job, {"code": "BUSY"})

    moved = world.service.jobs.reschedule_job(job.id, "2020-01-01")

    assert (moved.attempts, moved.max_attempts, moved.error_code) == (1, 3, "BUSY")


def test_a_retry_takes_a_time_and_a_number_of_attempts(world: World) -> None:
    job = job_that_is(world, "dead")

    queued = world.service.jobs.retry_job(job.id, run_at="2999-01-01T00:00Z", max_attempts=2)
    nothing = world.queue.claim_next_job("test")
    world.service.jobs.reschedule_job(job.id, "2020-01-01")
    outcomes = [world.queue.fail_job(world.claim(), {"code": "X"}, retry_after_seconds=0).status for _ in range(2)]

    assert (queued.run_at.year, queued.max_attempts, nothing) == (2999, job.attempts + 2, None)
    assert outcomes == ["queued", "dead"]


@pytest.mark.parametrize("attempts", [0, 26])
def test_an_absurd_number_of_attempts_is_refused(world: World, attempts: int) -> None:
    job = job_that_is(world, "dead")

    with pytest.raises(
        InvalidRequest, match=f"max_attempts: {attempts} is out of range, it must be 1 to 25"
    ) as refusal:
        world.service.jobs.retry_job(job.id, max_attempts=attempts)

    assert refusal.value.sqlstate == "TWATT"


def test_a_buried_job_is_dead_and_says_why(world: World) -> None:
    job = world.job(dedupe_key="d", notify=True)
    listener = world.connect()
    listener.execute("listen tickwork_done")

    buried = world.service.jobs.bury_job(job.id, "The customer is gone")

    assert (buried.status, buried.error_code, buried.error_message) == ("dead", "BURIED", "The customer is gone")
    assert buried.finished_at is not None
    assert world.queue.claim_next_job("test") is None
    assert [each.id for each in world.service.jobs.list_jobs(status="dead")] == [job.id]
    assert [notice.payload for notice in listener.notifies(timeout=5, stop_after=1)] == [str(job.id)]
    # Its key is free again.
    assert world.job(dedupe_key="d").id != job.id


def test_a_job_that_waits_for_its_time_or_its_lane_can_be_buried(world: World) -> None:
    tenant = world.tenant()
    parked = world.job(run_at="2999-01-01")
    world.service.pauses.hold_lane("test", tenant, "l", "2999-01-01")
    held = world.job(lane="l")

    for job in (parked, held):
        assert world.service.jobs.bury_job(job.id).status == "dead"

    assert world.value("select count(*) from tickwork.parked") == 0


def test_a_buried_job_can_be_retried(world: World) -> None:
    job = world.job()
    world.service.jobs.bury_job(job.id)

    world.service.jobs.retry_job(job.id)

    assert world.claim().id == job.id


def test_a_job_buried_without_a_word_says_that_somebody_did(world: World) -> None:
    assert world.service.jobs.bury_job(world.job().id, "").error_message == "Buried without a reason"


ARROWS = {
    "cancel": ({"queued", "running", "cancelled"}, "only queued and running jobs can"),
    "retry": ({"failed", "dead", "cancelled"}, "only failed, dead and cancelled jobs can"),
    "reschedule": ({"queued", "failed", "dead", "cancelled"}, "only queued, failed, dead and cancelled jobs can"),
    "bury": ({"queued"}, "only queued jobs can"),
}


@pytest.mark.parametrize("status", ["queued", "running", "done", "failed", "dead", "cancelled"])
@pytest.mark.parametrize("verb", ARROWS)
def test_only_the_arrows_of_the_chart_are_taken(world: World, verb: str, status: str) -> None:
    job = job_that_is(world, status)
    before = world.row_and_lease(job)
    allowed, message = ARROWS[verb]
    acts: dict[str, Callable[[], Job]] = {
        "cancel": lambda: world.service.jobs.cancel_job(job.id),
        "retry": lambda: world.service.jobs.retry_job(job.id),
        "reschedule": lambda: world.service.jobs.reschedule_job(job.id, "2030-01-01"),
        "bury": lambda: world.service.jobs.bury_job(job.id),
    }
    act = acts[verb]

    if status in allowed:
        act()
        return

    with pytest.raises(WrongStatus, match=message):
        act()
    assert world.row_and_lease(job) == before


@pytest.mark.parametrize("verb", ["cancel_job", "retry_job", "bury_job", "explain_job"])
def test_a_missing_job_is_said_to_be_missing(world: World, verb: str) -> None:
    missing = uuid4()

    with pytest.raises(NoSuchJob, match=f"there is no job {missing}"):
        getattr(world.service.jobs, verb)(missing)


@pytest.mark.parametrize(
    "edit",
    [
        "status = 'runing'",
        "status = 'running'",
        "status = 'done'",
        "finished_at = now()",
        "lease_expires_at = now()",
    ],
)
def test_an_edit_by_hand_that_makes_no_sense_is_refused(world: World, edit: str) -> None:
    job = job_that_is(world, "queued")

    with pytest.raises(psycopg.errors.CheckViolation, match="does not match the other columns"):
        world.run(f"update jobs set {edit}")

    assert world.reload(job) == job


def test_an_insert_by_hand_that_makes_no_sense_is_refused(world: World) -> None:
    type, tenant = world.type(), world.tenant()

    with pytest.raises(psycopg.errors.CheckViolation):
        world.run(f"insert into jobs (type, tenant_id, status) values ('{type}', '{tenant}', 'done')")


MANAGING = {
    "cancel": "select * from cancel_job(%s)",
    "retry": "select * from retry_job(%s)",
    "reschedule": "select * from reschedule_job(%s, 'now')",
    "bury": "select * from bury_job(%s)",
}


def enqueued_by(member: Connection, tenant: UUID, type: str) -> UUID:
    row = member.execute("select id from enqueue_job(%s, %s)", [tenant, type]).fetchone()
    assert row is not None
    found: UUID = row["id"]
    return found


def job_for(world: World, verb: str) -> Job:
    return job_that_is(world, "dead" if verb == "retry" else "queued")


@pytest.mark.parametrize("verb", MANAGING)
def test_a_member_does_nothing_to_what_others_enqueued(world: World, verb: str) -> None:
    tenant = world.tenant()
    job = job_for(world, verb)

    with pytest.raises(psycopg.Error, match=f"only admins of the tenant may do that to job {job.id}") as refusal:
        world.member_of(tenant).execute(MANAGING[verb], [job.id])

    assert refusal.value.sqlstate == "TWADM"
    assert world.reload(job) == job


@pytest.mark.parametrize("verb", ["reschedule", "bury"])
def test_a_member_only_cancels_what_he_enqueued_himself(world: World, verb: str) -> None:
    tenant, type = world.tenant(), world.type()
    member = world.member_of(tenant)
    job_id = enqueued_by(member, tenant, type)

    with pytest.raises(psycopg.Error) as refusal:
        member.execute(MANAGING[verb], [job_id])
    cancelled = member.execute(MANAGING["cancel"], [job_id]).fetchone()

    assert refusal.value.sqlstate == "TWADM"
    assert cancelled is not None
    assert cancelled["status"] == "cancelled"


def test_a_member_who_left_cancels_nothing(world: World) -> None:
    tenant, type = world.tenant(), world.type()
    member = world.member_of(tenant)
    job_id = enqueued_by(member, tenant, type)
    world.run("delete from memberships")

    with pytest.raises(psycopg.Error) as refusal:
        member.execute(MANAGING["cancel"], [job_id])

    assert refusal.value.sqlstate == "TWJOB"


@pytest.mark.parametrize("who", ["admin", "owner", "platform admin"])
@pytest.mark.parametrize("verb", MANAGING)
def test_admins_do_it_to_every_job_of_their_tenant(world: World, verb: str, who: str) -> None:
    tenant = world.tenant()
    job = job_for(world, verb)
    user = uuid4()
    if who == "platform admin":
        world.run("insert into tickwork.platform_admins (user_id) values (%s)", user)
    else:
        world.run("insert into memberships (tenant_id, user_id, role) values (%s, %s, %s)", tenant, user, who)

    world.connect("authenticated", user).execute(MANAGING[verb], [job.id])

    assert world.reload(job) != job


@pytest.mark.parametrize("verb", MANAGING)
def test_a_foreign_job_is_not_there(world: World, verb: str) -> None:
    world.tenant()
    job = job_for(world, verb)
    stranger = world.member_of(world.tenant("other"), role="owner")

    with pytest.raises(psycopg.Error, match="there is no job") as refusal:
        stranger.execute(MANAGING[verb], [job.id])

    assert refusal.value.sqlstate == "TWJOB"


def all_attempts(world: World, job: JobFields) -> list[dict[str, Any]]:
    return world.rows("select * from job_attempts where job_id = %s order by number", job.id)


def test_the_running_attempt_is_among_the_attempts(world: World) -> None:
    job = world.running_job()
    world.queue.fail_job(job, {"code": "BUSY"}, retry_after_seconds=0)
    again = world.claim()

    first, second = all_attempts(world, job)

    assert (first["number"], first["status"], first["error_code"]) == (1, "failed", "BUSY")
    assert (second["number"], second["status"], second["finished_at"]) == (2, "running", None)
    assert (second["worker_id"], second["started_at"]) == ("worker-1", world.reload(again).started_at)


def test_every_attempt_is_listed_once(world: World) -> None:
    quiet, loud = world.running_job(), world.running_job()
    world.queue.complete_job(quiet)
    world.queue.complete_job(loud, logs="said something")

    for job, logs in ((quiet, None), (loud, "said something")):
        (attempt,) = all_attempts(world, job)
        assert (attempt["number"], attempt["status"], attempt["logs"]) == (1, "done", logs)


def test_a_job_that_was_never_claimed_has_no_attempts(world: World) -> None:
    queued = world.job()
    buried = world.service.jobs.bury_job(world.job().id)
    released = world.job(priority=9)
    world.queue.release_job(world.claim())

    assert [all_attempts(world, job) for job in (queued, buried, released)] == [[], [], []]


def test_a_member_sees_the_attempts_of_his_tenants_only(world: World) -> None:
    tenant = world.tenant()
    job = world.running_job()
    query = "select status from job_attempts where job_id = %s"

    assert world.member_of(tenant).execute(query, [job.id]).fetchall() == [{"status": "running"}]
    assert world.member_of(world.tenant("other")).execute(query, [job.id]).fetchall() == []


@pytest.mark.parametrize("is_in_a_batch", [False, True])
def test_an_attempt_that_took_too_long_has_a_status_of_its_own(world: World, is_in_a_batch: bool) -> None:
    job = world.running_job()
    error = {"code": "TIMEOUT", "message": "It took too long"}

    if is_in_a_batch:
        lease = {"job_id": str(job.id), "lease_token": str(job.lease_token)}
        world.queue.settle_jobs([{**lease, "status": "failed", "error": error}])
    else:
        world.queue.fail_job(job, error)

    (attempt,) = all_attempts(world, job)
    assert (attempt["status"], attempt["error_code"]) == ("timeout", "TIMEOUT")
    assert world.reload(job).error_code == "TIMEOUT"


def test_an_attempt_keeps_what_else_the_worker_said_of_it(world: World) -> None:
    job = world.running_job()
    error = {"code": "EXIT", "message": "It ended badly", "file": "a.pdf", "page": 3}

    world.queue.fail_job(job, error, exit_code=137, stdout_tail="so far\x00, so good", stderr_tail="Killed")

    (attempt,) = all_attempts(world, job)
    assert (attempt["error_code"], attempt["error_message"]) == ("EXIT", "It ended badly")
    assert attempt["error"] == {"file": "a.pdf", "page": 3}
    assert (attempt["exit_code"], attempt["stdout_tail"]) == (137, "so far, so good")
    assert attempt["stderr_tail"] == "Killed"


def test_of_long_output_the_end_is_kept(world: World) -> None:
    job = world.running_job()

    world.queue.fail_job(
        job, {"code": "EXIT", "much": "x" * 20_000}, stdout_tail="a" * 9000 + "end", stderr_tail="b" * 9000 + "end"
    )

    (attempt,) = all_attempts(world, job)
    assert attempt["stdout_tail"] == "a" * 7997 + "end"
    assert attempt["stderr_tail"] == "b" * 7997 + "end"
    assert attempt["error"] == {"details": "left out: over 16384 bytes"}


def test_an_error_of_code_and_message_alone_has_no_details(world: World) -> None:
    job = world.running_job()

    world.queue.fail_job(job, {"code": "BUSY", "message": "no answer"})

    assert all_attempts(world, job)[0]["error"] is None


def test_a_cancelled_attempt_keeps_its_error(world: World) -> None:
    job = world.running_job()
    world.service.jobs.cancel_job(job.id)

    world.queue.fail_job(job, {"code": "STOPPED"}, exit_code=143)

    (attempt,) = all_attempts(world, job)
    assert (attempt["status"], attempt["error_code"], attempt["exit_code"]) == ("cancelled", "STOPPED", 143)


def test_what_a_worker_saw_is_kept_for_the_operator_alone(world: World) -> None:
    job = world.running_job(max_attempts=2)
    member = world.member_of(job.tenant_id, role="owner")
    error = {"code": "X", "message": "It did not work"}

    world.queue.fail_job(job, error, retry_after_seconds=0, exception="first\x00 canary")
    world.queue.settle_jobs(
        [{**lease_of(world.claim()), "status": "failed", "error": error, "exception": "x" * 20_000}]
    )

    kept = world.service.jobs.exceptions(job.id)
    assert (kept[1], len(kept[2])) == ("first canary", 16_000)
    rows = member.execute("select * from jobs").fetchall() + member.execute("select * from job_attempts").fetchall()
    assert "canary" not in str(rows)
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        member.execute("select * from tickwork.exceptions")
    world.service.maintenance.purge_jobs(timedelta(0))
    assert world.rows("select from tickwork.exceptions") == []


def test_who_succeeds_leaves_no_exception(world: World) -> None:
    job = world.running_job()

    world.queue.settle_jobs([{**lease_of(job), "status": "done", "exception": "it got there in the end"}])

    assert world.reload(job).status == "done"
    assert world.service.jobs.exceptions(job.id) == {}
