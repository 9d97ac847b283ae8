"""What people do to jobs: cancel, retry, reschedule."""

from collections.abc import Callable
from uuid import uuid4

import psycopg
import pytest

from tests.database.test_enqueue import in_thread, wait_for_lock
from tests.world import World
from tickwork.errors import NoSuchJob, QueueError, WrongStatus
from tickwork.jobs import Job


def job_that_is(world: World, status: str) -> Job:
    job = world.job(max_attempts=1)
    if status == "cancelled":
        world.service.cancel_job(job.id)
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

    cancelled = world.service.cancel_job(job.id)

    assert (cancelled.status, cancelled.finished_at is not None) == ("cancelled", True)
    assert world.queue.claim_next_job("test") is None


def test_a_running_job_is_asked_and_hears_of_it_at_the_next_heartbeat(world: World) -> None:
    job = world.running_job()
    before = world.queue.heartbeat_job(job)

    asked = world.service.cancel_job(job.id)

    assert (before, world.queue.heartbeat_job(job)) == (False, True)
    assert (asked.status, asked.cancel_requested_at is not None) == ("running", True)


def test_cancelling_twice_changes_nothing(world: World) -> None:
    job = world.job()

    assert world.service.cancel_job(job.id) == world.service.cancel_job(job.id)


def test_a_cancel_that_meets_a_claim_asks_the_worker(world: World) -> None:  # T3
    job = world.job()
    claiming = world.connect()
    claiming.autocommit = False
    claiming.execute("select claim_next_job('test', 'w')")
    cancelling = in_thread(lambda: world.service.cancel_job(job.id))
    wait_for_lock(world)

    claiming.commit()

    answer = cancelling()
    assert (answer.status, answer.cancel_requested_at is not None) == ("running", True)


@pytest.mark.parametrize("status", ["failed", "dead", "cancelled"])
def test_an_ended_job_can_be_retried_with_fresh_attempts(world: World, status: str) -> None:
    job = job_that_is(world, status)

    queued = world.service.retry_job(job.id)
    again = world.claim()

    assert (queued.status, queued.finished_at, queued.cancel_requested_at) == ("queued", None, None)
    assert (again.id, again.attempts, again.max_attempts) == (job.id, job.attempts + 1, job.attempts + 4)
    world.queue.complete_job(again)
    assert [row["number"] for row in world.attempts(job)] == list(range(1, job.attempts + 2))


def test_a_retry_wakes_the_family(world: World) -> None:
    job = job_that_is(world, "dead")
    listener = world.connect()
    listener.execute("listen tickwork")

    world.service.retry_job(job.id)

    assert [notice.payload for notice in listener.notifies(timeout=5, stop_after=1)] == ["test"]


def test_a_retry_that_would_double_a_dedupe_key_is_refused(world: World) -> None:
    job = world.job(dedupe_key="d")
    world.service.cancel_job(job.id)
    world.job(dedupe_key="d")

    with pytest.raises(WrongStatus, match="another job with the dedupe_key 'd' is queued or running") as refusal:
        world.service.retry_job(job.id)

    assert refusal.value.sqlstate == "TWDUP"
    assert world.reload(job).status == "cancelled"


def test_a_queued_job_can_be_rescheduled(world: World) -> None:
    job = world.job(run_at="2999-01-01")

    moved = world.service.reschedule_job(job.id, "2020-01-01T00:00Z")

    assert moved.run_at.year == 2020
    assert world.claim().id == job.id


def test_a_job_cannot_be_rescheduled_to_no_point_in_time(world: World) -> None:
    job = world.job()

    with pytest.raises(QueueError, match="run_at: must be a point in time, not infinity"):
        world.service.reschedule_job(job.id, "infinity")


ARROWS = {
    "cancel": ({"queued", "running", "cancelled"}, "only queued and running jobs can"),
    "retry": ({"failed", "dead", "cancelled"}, "only failed, dead and cancelled jobs can"),
    "reschedule": ({"queued"}, "only queued jobs can"),
}


@pytest.mark.parametrize("status", ["queued", "running", "done", "failed", "dead", "cancelled"])
@pytest.mark.parametrize("verb", ARROWS)
def test_only_the_arrows_of_the_chart_are_taken(world: World, verb: str, status: str) -> None:
    job = world.running_job() if status == "running" else job_that_is(world, status)
    allowed, message = ARROWS[verb]
    acts: dict[str, Callable[[], Job]] = {
        "cancel": lambda: world.service.cancel_job(job.id),
        "retry": lambda: world.service.retry_job(job.id),
        "reschedule": lambda: world.service.reschedule_job(job.id, "2030-01-01"),
    }
    act = acts[verb]

    if status in allowed:
        act()
        return

    with pytest.raises(WrongStatus, match=message):
        act()
    assert world.reload(job) == job


@pytest.mark.parametrize("verb", ["cancel_job", "retry_job", "explain_job"])
def test_a_missing_job_is_said_to_be_missing(world: World, verb: str) -> None:
    missing = uuid4()

    with pytest.raises(NoSuchJob, match=f"there is no job {missing}"):
        getattr(world.service, verb)(missing)


@pytest.mark.parametrize(
    "edit",
    [
        "status = 'runing'",
        "status = 'running'",
        "status = 'done'",
        "finished_at = now()",
        "lease_token = gen_random_uuid()",
    ],
)
def test_an_edit_by_hand_that_makes_no_sense_is_refused(world: World, edit: str) -> None:
    job = job_that_is(world, "queued")

    with pytest.raises(psycopg.errors.CheckViolation, match="does not go with what else is set"):
        world.run(f"update jobs set {edit}")

    assert world.reload(job) == job


def test_an_insert_by_hand_that_makes_no_sense_is_refused(world: World) -> None:
    type, tenant = world.type(), world.tenant()

    with pytest.raises(psycopg.errors.CheckViolation):
        world.run(f"insert into jobs (type, tenant_id, status) values ('{type}', '{tenant}', 'done')")
