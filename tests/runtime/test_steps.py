"""Handlers that run in steps, through the real queue: what is stored is not done again."""

import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from pydantic import BaseModel

from tests.database.test_handler_writes import make_notes, note
from tests.world import World
from tests.world.receivers import emit
from tests.world.waiting import PATIENCE
from tickwork.errors import Retryable, Unavailable
from tickwork.jobs.handler import Handler, Tools
from tickwork.jobs.outcomes import Done
from tickwork.jobs.rows import FollowUp, Job
from tickwork.jobs.steps import Event
from tickwork.runtime.deadline import Deadline
from tickwork.runtime.work import work

Flow = Callable[[Tools], Any]


class Payload(BaseModel):
    pass


class Reply(BaseModel):
    amount: int


def run(world: World, flow: Flow) -> dict[str, int]:
    """Run what is due with this handler; how the attempts ended."""
    handler = Handler(Payload, lambda _, tools: flow(tools))
    return work(world.queue, "test", {"greet_person": handler}, Deadline(float("inf"), 100)).ended


def let_pass(world: World, time: timedelta) -> None:
    """Let so much time pass for jobs and waits, without waiting for it."""
    world.run("update tickwork.waits set ends_at = ends_at - %s", time)
    world.run("update jobs set run_at = run_at - %s where status = 'queued'", time)


def wait_for_payment(tools: Tools) -> Reply | None:
    event = tools.wait_for("invoice.paid", "$.event.id == 7", timeout=3600)
    if event is None:
        return Reply(amount=0)
    assert (event.type, event.aggregate) == ("invoice.paid", "invoice:1")
    assert abs(event.occurred_at - datetime.now(UTC)) < timedelta(hours=1)
    return Reply(amount=event.payload["amount"])


def nap(tools: Tools) -> Event | None:
    return tools.wait_for("nobody.says", timeout=60)


def waiting_job(world: World, flow: Flow = wait_for_payment) -> Job:
    job = world.job()
    assert run(world, flow) == {"released": 1}
    return world.reload(job)


def failing_once() -> Flow:
    """A handler whose second step fails the first time, and whose steps are noted."""
    ran: list[str] = []

    def second() -> list[str]:
        ran.append("second")
        if ran.count("second") == 1:
            raise Retryable("not yet", delay=0)
        return ran

    def flow(tools: Tools) -> None:
        tools.step("first", lambda: ran.append("first"))
        assert tools.step("second", second) == ["first", "second", "second"]

    return flow


@pytest.mark.parametrize("is_batch", [False, True])
def test_a_step_that_is_stored_is_not_run_again(world: World, is_batch: bool) -> None:
    job = world.job()
    flow = failing_once()
    handlers = {"greet_person": Handler(Payload, lambda _, tools: flow(tools))}
    deadline = Deadline(float("inf"), 100)

    if is_batch:
        ended = work(world.queue, "test", handlers, deadline, concurrency=4).ended
    else:
        ended = work(world.queue, "test", handlers, deadline).ended

    assert ended == {"retried": 1, "done": 1}
    assert world.reload(job).attempts == 2
    assert [(row["number"], row["name"], row["attempt"]) for row in world.service.jobs.list_steps(job.id)] == [
        (1, "first", 1),
        (2, "second", 2),
    ]


def test_a_step_returns_the_same_the_first_time_and_later(world: World) -> None:
    world.job()
    seen: list[Any] = []

    def flow(tools: Tools) -> None:
        seen.append(tools.step("plain", lambda: {"pair": (1, 2), 7: 1e2, "word": "ß"}))
        seen.append(tools.step("nothing", lambda: None))
        seen.append(tools.step("model", lambda: Reply(amount=5)))
        seen.append(tools.step("same model", lambda: Reply(amount=5), Reply))
        if tools.attempt == 1:
            raise Retryable("once more", delay=0)

    assert run(world, flow) == {"retried": 1, "done": 1}

    assert seen[:4] == seen[4:] == [{"pair": [1, 2], "7": 100, "word": "ß"}, None, {"amount": 5}, Reply(amount=5)]
    assert [type(value) for value in seen[0].values()] == [type(value) for value in seen[4].values()]


def test_writes_of_a_step_commit_with_its_result_or_not_at_all(world: World) -> None:
    make_notes(world)
    world.job()

    def flow(tools: Tools) -> None:
        tools.step("good", lambda: Done(Reply(amount=1), writes=[note(tools.tenant_id, "good")]))
        writes = [note(tools.tenant_id, "half"), note(None if tools.attempt == 1 else tools.tenant_id)]
        tools.step("bad", lambda: Done(writes=writes))

    assert run(world, flow) == {"retried": 1}
    assert [row["text"] for row in world.rows("select text from notes")] == ["good"]
    assert world.value("select count(*) from tickwork.steps") == 1

    let_pass(world, timedelta(hours=1))

    assert run(world, flow) == {"done": 1}
    assert [row["text"] for row in world.rows("select text from notes")] == ["good", "half", "hello"]


def test_a_commit_whose_response_is_lost_writes_once(world: World) -> None:
    make_notes(world)
    world.job()

    def flow(tools: Tools) -> None:
        under_lease, tries = tools._under_lease, iter([False, True, False])

        def unsure(work: Callable[[Any], Any]) -> Any:
            result = under_lease(work)
            if next(tries):
                raise Unavailable("the connection was lost")
            return result

        tools._under_lease = unsure
        assert tools.step("only", lambda: Done(Reply(amount=1), writes=[note(tools.tenant_id)])) == {"amount": 1}

    assert run(world, flow) == {"done": 1}

    assert world.value("select count(*) from notes") == 1


@pytest.mark.parametrize(("count", "when"), [(20, "after"), (4, "within")])
def test_the_effect_of_every_step_is_there_once_however_often_the_process_is_killed(
    world: World, count: int, when: str
) -> None:
    make_notes(world)
    job = world.job(max_attempts=count + 1)
    command = [sys.executable, "-m", "tests.runtime.killed_steps", world.url, world.worker_url, str(count), when]

    ended = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=True)

    assert ended.stdout.splitlines()[-1] == str(count)
    done = world.reload(job)
    assert (done.status, done.attempts, done.result) == ("done", count + 1, {"total": count * (count + 1) // 2})
    assert [row["text"] for row in world.rows("select text from notes")] == [f"step {n + 1}" for n in range(count)]


def test_a_zombie_stores_nothing(world: World) -> None:
    make_notes(world)
    job = world.job()

    def flow(tools: Tools) -> None:
        def slow() -> Done:
            world.expire(job)
            world.service.maintenance.maintain()
            return Done(writes=[note(tools.tenant_id)])

        tools.step("late", slow)

    handler = Handler(Payload, lambda _, tools: flow(tools))
    assert work(world.queue, "test", {"greet_person": handler}, Deadline(float("inf"), 1)).ended == {"lost": 1}

    assert world.value("select count(*) from notes") == 0
    assert world.service.jobs.list_steps(job.id) == []


REFUSED: dict[str, tuple[Flow, str]] = {
    "the same name twice": (lambda tools: [tools.step("a", dict), tools.step("a", dict)], "two steps 'a' in one run"),
    "not JSON": (lambda tools: tools.step("a", lambda: {1, 2}), "not JSON: Object of type set"),
    "no number": (lambda tools: tools.step("a", lambda: float("nan")), "not JSON: Out of range"),
    "a zero byte": (lambda tools: tools.step("a", lambda: "\x00"), "not JSON: it contains"),
    "half a character": (lambda tools: tools.step("a", lambda: "\ud800"), "not JSON"),
    "too large": (
        lambda tools: tools.step("a", lambda: "x" * 65535),
        "result: 65537 bytes is too large, the maximum is 65536",
    ),
    "too large together": (
        lambda tools: [tools.step(str(n), lambda: "x" * 65000) for n in range(65)],
        "the steps of the job would have 4225130 bytes, the maximum is 4194304",
    ),
    "no name": (lambda tools: tools.step("", dict), "name: must not be empty"),
    "a long name": (lambda tools: tools.step("x" * 201, dict), "name: 201 bytes is too large"),
    "follow-ups": (
        lambda tools: tools.step("a", lambda: Done(follow_ups=[FollowUp(type="greet_person")])),
        "returned follow-ups",
    ),
    "a bad condition": (lambda tools: tools.wait_for("a.b", "$.event.a", timeout=1), "condition: is a path"),
    "any event": (lambda tools: tools.wait_for("*", timeout=1), "event_name: must be a type"),
    "the end of a job": (lambda tools: tools.wait_for("job.done", timeout=1), "enqueue a job with after"),
    "no time": (lambda tools: tools.wait_for("a.b", timeout=-1), "timeout_seconds: must be 0 to 31536000"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_a_step_fails_the_job_with_the_reason(world: World, case: str) -> None:
    job = world.job()
    flow, words = REFUSED[case]

    assert run(world, flow) == {"failed": 1}

    failed = world.reload(job)
    assert failed.error_code == "STEP_REFUSED"
    assert words in str(failed.error_message)


def test_a_job_has_a_thousand_steps_at_most(world: World) -> None:
    job = world.job()
    world.run(
        "insert into tickwork.steps (job_id, name, tenant_id, number, kind, bytes, attempt) "
        "select %s, 'step ' || n, %s, n, 'step', 0, 1 from generate_series(1, 1000) as n",
        *(job.id, job.tenant_id),
    )

    assert run(world, lambda tools: tools.step("one more", dict)) == {"failed": 1}

    assert "the job has 1000 steps and waits" in str(world.reload(job).error_message)


def test_a_handler_that_has_changed_goes_on_with_what_it_still_asks_for(world: World) -> None:
    job = waiting_job(world, lambda tools: [tools.step("old", lambda: 1), tools.step("kept", lambda: 2), nap(tools)])
    let_pass(world, timedelta(hours=1))
    seen: list[Any] = []

    assert run(world, lambda tools: seen.extend([tools.step("new", lambda: 3), tools.step("kept", lambda: 4)])) == {
        "done": 1
    }

    assert seen == [3, 2]
    assert "leave_steps unused=['old']" in world.attempts(job)[0]["logs"]


def test_a_name_cannot_become_a_wait(world: World) -> None:
    job = waiting_job(world, lambda tools: [tools.step("thing", dict), nap(tools)])
    let_pass(world, timedelta(hours=1))

    assert run(world, lambda tools: tools.wait_for("thing.done", timeout=60, name="thing")) == {"failed": 1}

    assert "'thing' is stored as a step" in str(world.reload(job).error_message)


def test_an_event_wakes_the_job_that_waits_for_it_without_an_attempt(world: World) -> None:
    job = waiting_job(world)
    assert (job.status, job.attempts) == ("queued", 0)
    assert run(world, wait_for_payment) == {}

    emit(world, job.tenant_id, id=8, amount=1)
    emit(world, job.tenant_id, "invoice.sent", id=7, amount=2)
    emit(world, world.tenant("birch"), id=7, amount=3)
    assert run(world, wait_for_payment) == {}
    emit(world, job.tenant_id, id=7, amount=4)
    emit(world, job.tenant_id, id=7, amount=5)

    assert run(world, wait_for_payment) == {"done": 1}
    done = world.reload(job)
    assert (done.result, done.attempts) == ({"amount": 4}, 1)
    assert world.rows("select from tickwork.waits") == world.rows("select from tickwork.arrivals") == []


def test_the_time_of_a_wait_runs_from_the_first_attempt_on(world: World) -> None:
    job = waiting_job(world)
    let_pass(world, timedelta(minutes=30))
    world.service.jobs.reschedule_job(job.id, datetime.now(UTC))
    assert run(world, wait_for_payment) == {"released": 1}
    assert world.reload(job).run_at < datetime.now(UTC) + timedelta(minutes=31)

    let_pass(world, timedelta(minutes=31))

    assert run(world, wait_for_payment) == {"done": 1}
    assert world.reload(job).result == {"amount": 0}


def test_an_event_after_the_time_is_over_does_not_count(world: World) -> None:
    job = waiting_job(world)
    let_pass(world, timedelta(minutes=61))

    emit(world, job.tenant_id, id=7, amount=1)

    assert run(world, wait_for_payment) == {"done": 1}
    assert world.reload(job).result == {"amount": 0}


def test_only_events_from_the_first_wait_on_count(world: World) -> None:
    emit(world, world.job().tenant_id, id=7, amount=1)

    assert run(world, wait_for_payment) == {"released": 1}
    assert run(world, wait_for_payment) == {}


def test_an_expected_event_counts_although_nobody_waits_for_it_yet(world: World) -> None:
    job = world.job()
    asked: list[int] = []

    def flow(tools: Tools) -> Reply:
        tools.expect("invoice.paid", timeout=60)
        tools.step("ask", lambda: asked.append(emit(world, tools.tenant_id, amount=3).int % 1))
        event = tools.wait_for("invoice.paid", timeout=60)
        assert event is not None
        return Reply(amount=event.payload["amount"])

    assert run(world, flow) == {"done": 1}

    assert world.reload(job).result == {"amount": 3}
    assert len(asked) == 1


def test_an_expected_event_does_not_cut_a_backoff_short(world: World) -> None:
    job = world.job()

    def flow(tools: Tools) -> None:
        tools.expect("invoice.paid", timeout=7200)
        raise Retryable("broken", delay=3600)

    run(world, flow)
    emit(world, job.tenant_id)

    assert run(world, flow) == {}
    assert world.reload(job).run_at > datetime.now(UTC)
    assert [row["name"] for row in world.service.jobs.list_steps(job.id)] == ["invoice.paid"]


def test_a_job_sleeps_without_an_attempt(world: World) -> None:
    job = world.job()
    wake_at = datetime.now(UTC) + timedelta(hours=2)

    def flow(tools: Tools) -> None:
        tools.sleep_for("nap", 3600)
        tools.sleep_until("night", wake_at)
        tools.sleep_until("past", datetime(2020, 1, 1, tzinfo=UTC))

    assert run(world, flow) == {"released": 1}
    assert timedelta(minutes=59) < world.reload(job).run_at - datetime.now(UTC) <= timedelta(hours=1)
    let_pass(world, timedelta(hours=1))
    assert run(world, flow) == {"released": 1}
    assert abs(world.reload(job).run_at - wake_at) < timedelta(minutes=1)
    let_pass(world, timedelta(hours=2))
    assert run(world, flow) == {"done": 1}
    assert world.reload(job).attempts == 1


def test_a_retry_continues_after_the_stored_steps(world: World) -> None:
    job = waiting_job(world)
    world.service.jobs.cancel_job(job.id)
    # What happens meanwhile is not lost, either.
    emit(world, job.tenant_id, id=7, amount=6)
    assert run(world, wait_for_payment) == {}
    assert world.reload(job).status == "cancelled"

    world.service.jobs.retry_job(job.id)

    assert run(world, wait_for_payment) == {"done": 1}
    assert world.reload(job).result == {"amount": 6}


def test_a_job_of_a_paused_tenant_gets_its_event_after_the_pause(world: World) -> None:
    job = waiting_job(world)
    world.service.pauses.pause_jobs(tenant_id=job.tenant_id)

    emit(world, job.tenant_id, id=7, amount=6)
    assert run(world, wait_for_payment) == {}
    assert "Its tenant is paused" in world.service.jobs.explain_job(job.id)
    let_pass(world, timedelta(hours=2))
    world.service.pauses.resume_jobs(tenant_id=job.tenant_id)

    assert run(world, wait_for_payment) == {"done": 1}
    assert world.reload(job).result == {"amount": 6}


def test_explain_and_list_say_what_a_job_waits_for(world: World) -> None:
    job = waiting_job(world, lambda tools: [tools.step("ask", lambda: 1), wait_for_payment(tools)])

    assert "It waits for the event invoice.paid, until" in world.service.jobs.explain_job(job.id)
    first, second = world.service.jobs.list_steps(job.id)
    assert (first["name"], first["kind"], first["is_stored"], first["result"]) == ("ask", "step", True, 1)
    assert (second["name"], second["kind"], second["is_stored"]) == ("invoice.paid", "wait", False)
    assert (second["event_name"], second["ends_at"] > datetime.now(UTC)) == ("invoice.paid", True)

    asleep = world.job(tenant=world.tenant("birch"))
    run(world, lambda tools: tools.sleep_for("nap", 60))
    assert "It waits until" in world.service.jobs.explain_job(asleep.id)


def test_secrets_in_steps_are_shown_to_nobody(world: World) -> None:
    job = world.job()

    def flow(tools: Tools) -> None:
        key = tools.step("sign in", lambda: {"api_key": "tiger-4711", "user": "ada"})["api_key"]
        raise Retryable(f"{key} was refused", delay=0 if tools.attempt == 1 else 3600)

    run(world, flow)

    assert world.service.jobs.list_steps(job.id)[0]["result"] == {"api_key": "[redacted]", "user": "ada"}
    assert [each["error_message"] for each in world.attempts(job)] == ["[redacted] was refused"] * 2


def test_the_steps_go_with_the_job(world: World) -> None:
    job = waiting_job(world, lambda tools: [tools.step("ask", lambda: 1), wait_for_payment(tools)])
    emit(world, job.tenant_id, id=7, amount=6)
    world.service.jobs.cancel_job(job.id)

    world.service.maintenance.purge_jobs(timedelta())

    for table in ("steps", "waits", "arrivals"):
        assert world.admin.execute(f"select from tickwork.{table}".encode()).fetchall() == []


def test_without_events_a_job_can_only_wait_for_a_time(world: World) -> None:
    job = world.job()
    world.run("delete from tickwork.hooks where moment = 'wait'")

    assert run(world, wait_for_payment) == {"failed": 1}

    assert "Add the module: tickwork migrate --with webhooks" in str(world.reload(job).error_message)
