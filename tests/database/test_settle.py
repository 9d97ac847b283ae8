"""running -> done, queued, failed, dead or cancelled."""

import random
from typing import Any

import psycopg
import pytest
from psycopg.types.json import Jsonb

from tests.world import World
from tickwork.database.json_text import as_stored
from tickwork.errors import InvalidRequest
from tickwork.jobs.rows import FollowUp, Job
from tickwork.queue import lease_of


def test_a_completed_job_is_done_with_its_result(world: World) -> None:
    job = world.running_job()
    started_at = world.reload(job).started_at

    world.queue.complete_job(job, {"pages": 3}, logs="first line\nlast line")

    done = world.reload(job)
    (attempt,) = world.attempts(job)
    assert (done.status, done.result, done.progress) == ("done", {"pages": 3}, 1)
    assert done.lease_expires_at is None
    assert world.held_jobs() == []
    assert done.finished_at is not None
    assert (attempt["number"], attempt["status"], attempt["worker_id"]) == (1, "done", "worker-1")
    assert (attempt["started_at"], attempt["logs"]) == (started_at, "first line\nlast line")


@pytest.mark.parametrize("result", [None, {"pages": 3}])
def test_one_job_and_many_are_settled_alike(world: World, result: Any) -> None:
    jobs = [world.running_job() for _ in range(3)]
    world.run("update jobs set progress = 0.5, error_code = 'E', error_message = 'e'")

    world.queue.settle_and_claim([str(jobs[0].id)], [str(jobs[0].lease_token)], [result and as_stored(result)])
    world.queue.settle_jobs([{**lease_of(job), "status": "done", "result": result} for job in jobs[1:]])

    one, *many = [settled_row(world.reload(job)) for job in jobs]
    assert many == [one, one]
    assert (one["status"], one["result"], one["error_message"]) == ("done", result, None)
    assert world.held_jobs() == []


def settled_row(job: Job) -> dict[str, Any]:
    """Its row, without what differs from one to the next."""
    assert job.started_at is not None
    assert job.finished_at == job.updated_at > job.started_at
    return job.model_dump(exclude={"id", "created_at", "run_at", "started_at", "updated_at", "finished_at"})


def test_follow_ups_are_enqueued_with_the_completion_for_the_same_tenant(world: World) -> None:
    job = world.running_job(correlation_id="c")
    world.type("thank_person")

    world.queue.complete_job(job, follow_ups=[FollowUp(type="thank_person", payload={"n": 1}, priority=3)])

    follow_up = world.reload(world.claim())
    assert (follow_up.type, follow_up.tenant_id, follow_up.payload) == ("thank_person", job.tenant_id, {"n": 1})
    assert (follow_up.source, follow_up.source_ref, follow_up.correlation_id) == ("system", str(job.id), "c")


def test_a_follow_up_cannot_reach_another_tenant(world: World) -> None:
    job = world.running_job()
    foreign = world.tenant("foreign")

    world.connect_worker().execute(
        "select complete_job(%s, %s, follow_ups => jsonb_build_array(jsonb_build_object('type', %s::text, "
        "'tenant_id', %s::text)))",
        [job.id, job.lease_token, job.type, foreign],
    )

    assert world.value("select count(*) from jobs where tenant_id = %s", foreign) == 0
    assert world.value("select count(*) from jobs where tenant_id = %s", job.tenant_id) == 2


def test_a_refused_follow_up_undoes_the_completion(world: World) -> None:
    job = world.running_job()
    before = world.row_and_lease(job)

    with pytest.raises(InvalidRequest, match="there is no job type 'unknown'"):
        world.queue.complete_job(job, {"x": 1}, follow_ups=[FollowUp(type="unknown")])

    assert world.row_and_lease(job) == before
    assert world.attempts(job) == []


def test_a_result_over_the_limit_is_refused_with_both_numbers(world: World) -> None:
    job = world.running_job()

    with pytest.raises(InvalidRequest, match="result: 262145 bytes is too large, the maximum is 262144"):
        world.queue.complete_job(job, "x" * (262_145 - 2))
    done = world.queue.complete_job(job, "x" * (262_144 - 2))

    assert done.status == "done"


def test_a_result_with_nul_and_lone_surrogates_is_stored_without_them(world: World) -> None:
    job = world.running_job()

    world.queue.complete_job(job, {"a\x00b": ["x\x00y", "\ud800"]}, logs="l\x00l")

    assert world.reload(job).result == {"ab": ["xy", "?"]}
    assert world.attempts(job)[0]["logs"] == "ll"


@pytest.mark.parametrize(
    ("backoff", "delays"),
    [
        ([60, 300, 1800], [60, 300, 1800, 1800]),
        ({"base": 5, "factor": 2, "cap": 30}, [5, 10, 20, 30]),
    ],
)
def test_a_failed_attempt_waits_as_the_type_says_with_jitter(world: World, backoff: Any, delays: list[int]) -> None:
    job = world.job(world.type(backoff=backoff, max_attempts=5))
    waits = []

    for _ in delays:
        claimed = world.claim()
        world.queue.fail_job(claimed, {"code": "BUSY", "message": "try later"})
        waits.append(world.value("select extract(epoch from run_at - clock_timestamp()) from jobs"))
        world.run("update jobs set run_at = clock_timestamp()")

    for wait, delay in zip(waits, delays, strict=True):
        # Reading it takes a moment, on a busy machine even seconds.
        assert 0.8 * delay - 3 <= wait <= 1.2 * delay
    queued = world.reload(job)
    assert (queued.status, queued.error_code, queued.error_message) == ("queued", "BUSY", "try later")
    assert [row["number"] for row in world.attempts(job)] == [1, 2, 3, 4]


def test_a_type_that_says_nothing_waits_1_5_and_30_minutes_and_is_dead_after_4_attempts(world: World) -> None:
    job = world.job(world.type())
    waits = []

    for _ in range(4):
        world.queue.fail_job(world.claim(), {"code": "BUSY"})
        waits.append(world.value("select extract(epoch from run_at - updated_at)::float from jobs"))
        world.run("update jobs set run_at = clock_timestamp() where status = 'queued'")

    assert all(0.79 * want <= got <= 1.21 * want for want, got in zip([60, 300, 1800], waits, strict=False))
    ended = world.reload(job)
    assert (ended.status, ended.attempts, ended.max_attempts) == ("dead", 4, 4)


@pytest.mark.parametrize("backoff", [{}, {"base": 1}, {"base": 1, "factor": 2}, {"base": [1], "factor": 2, "cap": 9}])
def test_half_of_a_backoff_is_refused(world: World, backoff: Any) -> None:
    with pytest.raises(psycopg.errors.CheckViolation, match="backoff_is_a_list_or_exponential"):
        world.type(backoff=backoff)


def test_a_tiny_delay_is_none(world: World) -> None:
    world.run("insert into job_types (key, family, backoff) values ('greet_person', 'test', '[1e-400]')")

    assert world.value("select tickwork.backoff_seconds('greet_person', 1)") == 0


def test_jitter_differs_from_job_to_job(world: World) -> None:
    type = world.type(backoff=[100])
    waits = {float(world.value("select tickwork.backoff_seconds(%s, 1)", type)) for _ in range(20)}

    assert len(waits) > 10
    assert all(80 <= wait <= 120 for wait in waits)


def test_retry_after_wins_over_the_policy(world: World) -> None:
    job = world.running_job()

    world.queue.fail_job(job, {"code": "BUSY"}, retry_after_seconds=7200)

    wait = world.value("select extract(epoch from run_at - clock_timestamp()) from jobs")
    assert 7190 < wait <= 7200


@pytest.mark.parametrize("seconds", [-1, 2_592_001, float("nan"), float("inf")])
def test_an_absurd_retry_after_is_refused(world: World, seconds: float) -> None:
    job = world.running_job()
    before = world.row_and_lease(job)

    with pytest.raises(InvalidRequest, match=r"retry_after_seconds: .* is out of range"):
        world.queue.fail_job(job, {"code": "BUSY"}, retry_after_seconds=seconds)

    assert world.row_and_lease(job) == before


def test_the_last_failed_attempt_is_dead(world: World) -> None:
    job = world.running_job(max_attempts=1)

    world.queue.fail_job(job, {"code": "BUSY", "message": "still"})

    dead = world.reload(job)
    assert (dead.status, dead.error_code, dead.error_message) == ("dead", "BUSY", "still")
    assert dead.finished_at is not None


def test_an_error_that_no_retry_can_mend_is_failed_at_once(world: World) -> None:
    job = world.running_job()

    world.queue.fail_job(job, {"code": "BROKEN"}, retryable=False)

    assert (world.reload(job).status, world.reload(job).attempts) == ("failed", 1)


def test_success_after_failure_leaves_no_error_in_the_job(world: World) -> None:
    job = world.running_job()
    world.queue.fail_job(job, {"code": "BUSY"}, retry_after_seconds=0)

    world.queue.complete_job(world.claim())

    assert (world.reload(job).status, world.reload(job).error_code) == ("done", None)
    assert [row["error_code"] for row in world.attempts(job)] == ["BUSY", None]


def test_a_released_job_spends_no_attempt_and_keeps_its_place(world: World) -> None:
    job = world.running_job()
    later = world.job()

    world.queue.release_job(job)

    again = world.claim()
    assert (again.id, again.attempts) == (job.id, 1)
    assert world.attempts(job) == []
    assert world.claim().id == later.id


def test_a_snoozed_job_waits_and_spends_no_attempt(world: World) -> None:
    job = world.running_job()

    world.queue.release_job(job, delay_seconds=600)

    wait = world.value("select extract(epoch from run_at - clock_timestamp()) from jobs")
    assert 590 < wait <= 600
    assert world.reload(job).attempts == 0


@pytest.mark.parametrize("verb", ["fail", "release", "expire"])
def test_a_job_that_was_asked_to_stop_is_cancelled_however_it_stops(world: World, verb: str) -> None:
    job = world.running_job()
    world.service.jobs.cancel_job(job.id)

    match verb:
        case "fail":
            world.queue.fail_job(job, {"code": "BUSY"})
        case "release":
            world.queue.release_job(job)
        case "expire":
            world.expire(job)
            world.service.maintenance.maintain()

    cancelled = world.reload(job)
    assert (cancelled.status, cancelled.attempts) == ("cancelled", 1)
    assert [row["status"] for row in world.attempts(job)] == ["cancelled"]


def test_a_job_that_completes_in_spite_of_cancel_is_done(world: World) -> None:
    job = world.running_job()
    world.service.jobs.cancel_job(job.id)

    world.queue.complete_job(job, {"too": "late"})

    assert world.reload(job).status == "done"


def test_many_outcomes_are_settled_like_single_ones(world: World) -> None:
    done, failed, retried, released = (world.running_job() for _ in range(4))
    world.type("thank_person")

    def outcome(job: Any, status: str, **more: Any) -> dict[str, Any]:
        return {"job_id": str(job.id), "lease_token": str(job.lease_token), "status": status, **more}

    answers = world.queue.settle_jobs(
        [
            outcome(done, "done", result={"n": 1}, follow_ups=[{"type": "thank_person"}], logs="bye"),
            outcome(failed, "failed", error={"code": "BROKEN", "message": "m"}, retryable=False),
            outcome(retried, "failed", error={"code": "BUSY"}, retry_after_seconds=900),
            outcome(released, "released", delay_seconds=30),
        ]
    )

    assert [row["status"] for row in answers] == ["done", "failed", "queued", "queued"]
    assert (world.reload(done).result, world.attempts(done)[0]["logs"]) == ({"n": 1}, "bye")
    assert (world.reload(failed).error_code, world.reload(failed).error_message) == ("BROKEN", "m")
    assert (world.reload(retried).attempts, world.reload(released).attempts) == (1, 0)
    assert world.attempts(released) == []
    assert world.claim().type == "thank_person"


def test_an_attempt_that_went_well_is_told_by_the_job_itself_unless_it_logged_something(world: World) -> None:
    quiet, talkative = world.running_job(), world.running_job()
    world.queue.complete_job(quiet)
    world.queue.complete_job(talkative, logs="read 3 pages")

    told = [(each["number"], each["status"], each["worker_id"], each["logs"]) for each in world.attempts(quiet)]
    assert told == [(1, "done", quiet.worker_id, None)]
    assert [each["logs"] for each in world.attempts(talkative)] == ["read 3 pages"]
    assert world.value("select job_id from tickwork.attempts") == talkative.id
    ended = world.reload(quiet)
    assert world.attempts(quiet)[0]["started_at"] == ended.started_at
    assert world.attempts(quiet)[0]["finished_at"] == ended.finished_at


def test_an_attempt_whose_number_was_used_before_is_told_once(world: World) -> None:
    job = world.running_job()
    world.queue.fail_job(job, {"code": "NO"})
    world.run("update jobs set attempts = 0, run_at = now() where id = %s", job.id)
    world.queue.complete_job(world.claim())

    assert [each["status"] for each in world.attempts(job)] == ["failed"]


def test_each_of_many_done_jobs_has_its_own_result_and_logs(world: World) -> None:
    jobs = [world.running_job() for _ in range(5)]
    random.shuffle(jobs)
    outcomes = [
        {**lease_of(job), "status": "done", "result": {"number": n}, **({"logs": f"log {n}"} if n % 2 else {})}
        for n, job in enumerate(jobs)
    ]

    settled = world.queue.settle_jobs(outcomes)

    assert [(row["job_id"], row["is_held"], row["status"]) for row in settled] == [
        (job.id, True, "done") for job in jobs
    ]
    assert [world.reload(job).result for job in jobs] == [{"number": n} for n in range(5)]
    assert [world.attempts(job)[0]["logs"] for job in jobs] == [None, "log 1", None, "log 3", None]


def test_the_token_of_another_job_of_the_batch_settles_nothing(world: World) -> None:
    one, other = world.running_job(), world.running_job()
    pairs = [(one.id, other.lease_token), (other.id, one.lease_token)]

    settled = world.queue.settle_jobs(
        [{"job_id": str(id), "lease_token": str(token), "status": "done"} for id, token in pairs]
    )

    assert [row["is_held"] for row in settled] == [False, False]
    assert {world.reload(job).status for job in (one, other)} == {"running"}


@pytest.mark.parametrize(
    ("outcomes", "message"),
    [
        ({}, "outcomes: must be an array of objects"),
        (None, "outcomes: must be an array of objects"),
        (["done"], r"outcomes\[0\]: must be an object"),
        ([None, {"status": "done"}], r"outcomes\[0\]: must be an object"),
        ([{"status": "dead"}], "outcomes: status must be done, failed or released"),
        ([{"status": ["done"]}], "outcomes: status must be done, failed or released"),
        ([{}], "outcomes: status must be done, failed or released"),
        ([{"status": "done", "follow_ups": {"type": "x"}}], "outcomes: follow_ups must be an array of objects"),
        ([{"status": "done", "reslut": 1}], r"outcomes\[0\]: unknown field reslut"),
        (
            [{"status": "done", "result": "x" * 262_143}],
            "result: 262145 bytes is too large, the maximum is 262144",
        ),
        ([{"status": "released", "delay_seconds": -1}], "delay_seconds: -1 is out of range"),
    ],
)
def test_outcomes_that_are_none_are_refused(world: World, outcomes: Any, message: str) -> None:
    with pytest.raises(InvalidRequest, match=message):
        world.queue.settle_jobs(outcomes)


@pytest.mark.parametrize(
    ("sent", "message"),
    [
        ({"endings": [{"status": "dead"}]}, "outcomes: status must be done, failed or released"),
        ({"endings": {"status": "done"}}, "outcomes: must be an array of objects"),
        ({"endings": [{"status": "failed", "reason": "x"}]}, r"outcomes\[0\]: unknown field reason"),
        ({"endings": [{"status": "released", "delay_seconds": -1}]}, "delay_seconds: -1 is out of range"),
        ({"result": "x" * 262_143}, "result: 262145 bytes is too large, the maximum is 262144"),
        # Six times as long in its text as it is stored.
        ({"result": "\u0001" * 43_691}, "result: 262148 bytes is too large, the maximum is 262144"),
        ({"max_jobs": 1001}, "max_jobs: 1001 is out of range"),
        ({"max_jobs": -1}, "max_jobs: -1 is out of range"),
        ({"max_jobs": 1, "worker_id": "x" * 201}, "worker_id: 201 bytes is too large"),
        ({"max_jobs": 1, "lease_seconds": 9}, "lease_seconds: 9 is out of range"),
    ],
)
def test_what_a_worker_may_not_send_is_refused_and_settles_nothing(
    world: World, sent: dict[str, Any], message: str
) -> None:
    job = world.running_job()
    given = {"result": None, "endings": None, "worker_id": "w", "max_jobs": 0, "lease_seconds": None, **sent}

    with pytest.raises(psycopg.Error, match=message):
        world.connect_worker().execute(
            "select * from settle_and_claim(array[%(id)s::uuid], array[%(token)s::uuid], array[%(result)s::jsonb], "
            "%(endings)s::jsonb, 'test', %(worker_id)s, %(max_jobs)s, %(lease_seconds)s)",
            {
                **given,
                **{name: None if given[name] is None else Jsonb(given[name]) for name in ("result", "endings")},
                "id": job.id,
                "token": job.lease_token,
            },
        )

    assert world.reload(job).status == "running"


def test_a_job_that_is_due_again_at_once_wakes_its_family(world: World) -> None:
    job = world.running_job()
    listener = world.connect()
    listener.execute("listen tickwork")

    world.queue.release_job(job)

    assert [notice.payload for notice in listener.notifies(timeout=5, stop_after=1)] == ["test"]
