"""The life of a running job, through the real queue."""

import threading
import time
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from functools import partial
from typing import Any, LiteralString

import pytest
from pydantic import BaseModel, ConfigDict

from tests.world import World
from tests.world.waiting import until
from tickwork.database import breakable
from tickwork.database.connection import Connection
from tickwork.errors import (
    Interrupted,
    InvalidRequest,
    JobError,
    NotYet,
    Permanent,
    RateLimited,
    Retryable,
    Unavailable,
)
from tickwork.jobs.handler import Handler, Handlers, Tools
from tickwork.jobs.outcomes import Done, Failed, Lost, Report
from tickwork.jobs.rows import FollowUp, Job
from tickwork.queue import Queue
from tickwork.runtime import lease, settle, watch
from tickwork.runtime.attempt import Attempt
from tickwork.runtime.deadline import Deadline
from tickwork.runtime.run import run as run_attempt
from tickwork.runtime.work import work
from tickwork.runtime.worker_thread import WorkerThread
from tickwork.tools.outbound.errors import Blocked


class Person(BaseModel):
    name: str = "Ada"


class Greeting(BaseModel):
    text: str


class Share(BaseModel):
    model_config = ConfigDict(ser_json_inf_nan="constants")

    value: float


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same runtime, with less patience: nothing here depends on how long it is."""
    monkeypatch.setattr(watch, "LOOK_SECONDS", 0.01)
    monkeypatch.setattr(lease, "PROGRESS_SECONDS", 0.01)
    monkeypatch.setattr(watch, "STOP_SECONDS", 0.2)
    monkeypatch.setattr(settle, "SETTLE_AGAIN_SECONDS", (0.01, 0.01, 0.01))


def handlers(run: Callable[[Person, Tools], Any]) -> Handlers:
    return {"greet_person": Handler(Person, run)}


def work_off(world: World, run: Callable[[Person, Tools], Any], *, max_jobs: int = 10) -> Report:
    return work(world.queue, "test", handlers(run), Deadline(60, max_jobs))


def ended(world: World, job: Job) -> tuple[str, str | None]:
    reloaded = world.reload(job)
    return reloaded.status, reloaded.error_code


def greet(person: Person, tools: Tools) -> Greeting:
    return Greeting(text=f"Hello {person.name}")


def test_jobs_are_worked_off_until_none_is_due(world: World) -> None:
    jobs = [world.job(payload={"name": name}) for name in ("Ada", "Grace", "Lynn")]

    report = work_off(world, greet)

    assert report.as_json() == {"family": "test", "claimed": 3, "done": 3}
    assert [world.reload(job).result for job in jobs] == [{"text": f"Hello {n}"} for n in ("Ada", "Grace", "Lynn")]


def test_no_more_jobs_are_claimed_than_allowed(world: World) -> None:
    for _ in range(3):
        world.job()

    report = work_off(world, greet, max_jobs=2)

    assert report.claimed == 2
    assert world.value("select count(*) from jobs where status = 'queued'") == 1


@pytest.mark.parametrize(
    ("error", "attempts"),
    [
        (RateLimited("the provider says 429", delay=60, hold=60), 1),
        (NotYet("the endpoint is down", delay=60, hold=60), 0),
    ],
)
def test_a_handler_can_hold_the_lane_of_its_job(world: World, error: Exception, attempts: int) -> None:
    job = world.job(lane="connector:1")
    neighbour = world.job(lane="connector:1")
    other = world.job(lane="connector:2")

    def run(person: Person, tools: Tools) -> None:
        if tools.job_id != other.id:
            raise error

    report = work_off(world, run)

    assert report.claimed == 2
    assert (world.reload(job).status, world.reload(job).attempts) == ("queued", attempts)
    assert (world.reload(neighbour).attempts, world.reload(other).status) == (0, "done")
    assert str(error) in world.service.jobs.explain_job(neighbour.id)


def test_a_job_in_no_lane_holds_nobody(world: World) -> None:
    job, neighbour = world.job(), world.job()

    def run(person: Person, tools: Tools) -> None:
        if tools.job_id == job.id:
            raise RateLimited("the provider says 429", delay=60, hold=60)

    work_off(world, run)

    assert (ended(world, job), ended(world, neighbour)) == (("queued", "RATE_LIMITED"), ("done", None))


def test_a_shorter_hold_does_not_end_a_longer_one(world: World) -> None:
    first, second = world.job(lane="connector:1"), world.job(lane="connector:1")
    delays = {first.id: 3600.0, second.id: 10.0}
    claimed = [world.claim(), world.claim()]

    for job in claimed:
        world.queue.hold_lane_of_job(job, delays[job.id], "told to wait")

    left = world.value("select held_until - clock_timestamp() > interval '30 minutes' from tickwork.lane_rules")
    assert left


def test_nothing_is_claimed_when_time_is_short(world: World) -> None:
    job = world.job()

    report = work(world.queue, "test", handlers(greet), Deadline(0, 10))

    assert (report.claimed, world.reload(job).status) == (0, "queued")


def raising(error: BaseException) -> Callable[[Person, Tools], Any]:
    def run(person: Person, tools: Tools) -> Any:
        raise error

    return run


@pytest.mark.parametrize(
    ("error", "status", "code", "ending"),
    [
        (Retryable("busy"), "queued", "TRY_AGAIN", "retried"),
        (RateLimited("slow down", delay=90), "queued", "RATE_LIMITED", "retried"),
        (Retryable("busy", code="BUSY"), "queued", "BUSY", "retried"),
        (Permanent("broken"), "failed", "FAILED_FOR_GOOD", "failed"),
        (Permanent("broken", code="ENCRYPTED_PDF"), "failed", "ENCRYPTED_PDF", "failed"),
        (NotYet("later", delay=90), "queued", None, "released"),
        (ZeroDivisionError("/srv/secret.py"), "queued", "UNEXPECTED", "retried"),
        (SystemExit(1), "queued", "UNEXPECTED", "retried"),
        (MemoryError(), "queued", "UNEXPECTED", "retried"),
    ],
)
def test_each_error_ends_the_attempt_in_its_own_way(
    world: World, error: BaseException, status: str, code: str | None, ending: str
) -> None:
    job = world.job()

    report = work_off(world, raising(error))

    assert ended(world, job) == (status, code)
    assert report.ended == {ending: 1}
    assert world.reload(job).attempts == (0 if ending == "released" else 1)


def caused(error: JobError) -> JobError:
    error.__cause__ = OSError("postgresql://worker:hunter2@db.internal is closed")
    return error


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (Retryable("busy"), None),
        (Blocked("nowhere.internal cannot be resolved"), "nowhere.internal cannot be resolved"),
        (caused(Permanent("broken")), "OSError: postgresql://***@db.internal is closed"),
        (ZeroDivisionError("/srv/secret.py"), "ZeroDivisionError: /srv/secret.py"),
        (ZeroDivisionError("x" * 100_000), "x (100"),
    ],
)
def test_what_a_handler_raised_is_kept_for_the_operator(world: World, error: BaseException, told: str | None) -> None:
    job = world.job()

    work_off(world, raising(error))

    kept = world.service.jobs.exceptions(job.id)
    assert kept.keys() == ({1} if told else set())
    assert (told or "") in kept.get(1, "").replace("… ", "")
    assert len(kept.get(1, "")) < 10_000
    shown = str([world.reload(job).error_message, world.attempts(job)])
    assert not [secret for secret in ("internal", "srv", "hunter2", "xxx") if secret in shown]
    assert "hunter2" not in str(kept)


class Wordless(Exception):
    def __str__(self) -> str:
        raise ValueError("no words")


def its_own_cause() -> Exception:
    error = ValueError("round and round")
    error.__cause__ = error
    return error


@pytest.mark.parametrize("error", [Wordless(), its_own_cause(), Interrupted("by myself")])
def test_odd_errors_end_the_attempt_like_any_other(world: World, error: Exception) -> None:
    job = world.job()

    report = work_off(world, raising(error))

    assert report.ended == {"retried": 1}
    assert world.reload(job).attempts == 1


@pytest.mark.parametrize("delay", [-1.0, float("nan"), float("inf"), 1e12])
@pytest.mark.parametrize("kind", [RateLimited, NotYet])
def test_an_absurd_delay_is_brought_within_range(world: World, kind: Any, delay: float) -> None:
    job = world.job()

    work_off(world, raising(kind("x", delay=delay)), max_jobs=1)

    wait = world.value("select extract(epoch from run_at - clock_timestamp()) from jobs where id = %s", job.id)
    assert world.reload(job).status == "queued"
    assert wait <= 30 * 86_400


def test_the_delay_of_an_error_wins_over_the_policy(world: World) -> None:
    world.job()

    work_off(world, raising(RateLimited("slow down", delay=5000)))

    wait = world.value("select extract(epoch from run_at - clock_timestamp()) from jobs")
    assert 4900 < wait <= 5000


def test_the_text_of_an_unexpected_error_stays_in_the_log(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    job = world.job()

    work_off(world, raising(ValueError("postgresql://me:hunter2@host /srv/app.py")))

    message = world.reload(job).error_message or ""
    output = capsys.readouterr().out
    assert "ValueError" in message
    assert "hunter2" not in message + output
    assert "/srv/app.py" not in message
    assert "/srv/app.py" in output


def test_the_log_of_an_unexpected_error_quotes_no_payload(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    world.job(payload={"name": "hunter2"})

    def run(person: Person, tools: Tools) -> None:
        tools.log(f"calling postgresql://me:{person.name}@host/db")
        Greeting.model_validate({"text": [person.name]})

    work_off(world, run)

    output = capsys.readouterr().out + str(world.rows("select logs from job_attempts"))
    assert "ValidationError" in output
    assert "text" in output
    assert "hunter" not in output


def test_a_type_without_a_handler_is_left_to_those_who_have_one(world: World) -> None:
    job = world.job()
    other = world.job(world.type("wave_hand"))

    work_off(world, greet)

    assert world.reload(job).status == "done"
    assert (world.reload(other).status, world.reload(other).attempts) == ("queued", 0)


def test_a_job_claimed_by_whoever_names_no_types_fails_without_a_handler_and_says_so(world: World) -> None:
    world.job()
    attempt = Attempt(world.queue, world.worked_job())

    assert run_attempt(attempt, {}) == Failed(
        "UNKNOWN_TYPE", "The function of the family 'test' has no handler for the type 'greet_person'", retryable=False
    )


def test_a_payload_that_does_not_fit_fails_and_names_the_field_but_not_its_value(world: World) -> None:
    job = world.job(payload={"name": ["hunter2"]})

    work_off(world, greet)

    assert ended(world, job) == ("failed", "INVALID_PAYLOAD")
    assert world.reload(job).error_message == "name: Input should be a valid string"


def test_follow_ups_and_writes_commit_with_the_completion(world: World) -> None:
    world.type("thank_person", family="other")
    job = world.job()
    world.run("create table notes (text text)")
    world.run("grant insert on notes to tickwork_worker")

    def note(connection: Connection) -> None:
        connection.execute("insert into notes values ('hello')")

    work_off(world, lambda person, tools: Done(Greeting(text="x"), [note], [FollowUp(type="thank_person")]))

    assert ended(world, job) == ("done", None)
    assert world.value("select text from notes") == "hello"
    assert world.value("select status from jobs where type = 'thank_person'") == "queued"


@pytest.mark.parametrize("statement", ["select 1/0", "insert into jobs default values", "nonsense"])
def test_a_write_that_fails_is_a_failed_attempt(world: World, statement: LiteralString) -> None:
    job = world.job()

    work_off(world, lambda person, tools: Done(None, [lambda connection: connection.execute(statement)]))

    assert ended(world, job) == ("queued", "UNEXPECTED")
    assert str(world.reload(job).error_message).startswith("WriteFailed in the handler. The operator sees more with ")


def test_a_result_that_the_queue_refuses_fails_for_good(world: World) -> None:
    too_big, bad_follow_up = world.job(), world.job()
    outcomes = iter([Done(Greeting(text="x" * 300_000)), Done(None, (), [FollowUp(type="unknown")])])

    work_off(world, lambda person, tools: next(outcomes))

    assert [ended(world, job) for job in (too_big, bad_follow_up)] == [("failed", "REFUSED")] * 2
    assert "result: 300012 bytes is too large" in (world.reload(too_big).error_message or "")
    assert "there is no job type 'unknown'" in (world.reload(bad_follow_up).error_message or "")


@pytest.mark.parametrize("payload", [{"a": "\ud800"}, {"a": float("nan")}, {"a": {1, 2}}, {"a": b"x"}])
def test_a_payload_that_is_no_json_is_refused_by_name(world: World, payload: Any) -> None:
    with pytest.raises(InvalidRequest, match="payload: is not JSON"):
        world.job(payload=payload)


def test_a_payload_may_hold_tuples(world: World) -> None:
    assert world.job(payload={"a": (1, 2)}).payload == {"a": [1, 2]}


def test_a_result_that_is_no_json_fails_for_good(world: World) -> None:
    job = world.job()

    work_off(world, lambda person, tools: Done(Share(value=float("nan"))))

    assert ended(world, job) == ("failed", "REFUSED")


def test_odd_progress_costs_nobody_the_lease(world: World) -> None:
    job = world.job()

    def run(person: Person, tools: Tools) -> None:
        for done in (float("nan"), -5, 7):
            tools.progress(done, 123)  # type: ignore[arg-type]
            until(lambda: world.reload(job).progress_message == "123")

    assert work_off(world, run).ended == {"done": 1}


def test_progress_and_log_lines_reach_the_job(world: World) -> None:
    job = world.job()
    seen: list[tuple[Any, ...]] = []

    def run(person: Person, tools: Tools) -> None:
        tools.log("page read", page=3)
        tools.progress(0.5, "3 of 6")
        until(lambda: world.reload(job).progress == 0.5)
        seen.append((world.reload(job).progress_message, tools.seconds_left() > 200))

    work_off(world, run)

    assert seen == [("3 of 6", True)]
    assert world.attempts(job)[0]["logs"] == "page read page=3"


@pytest.mark.parametrize(
    ("wanted", "lease_seconds", "due_after"), [(None, 3600, 1200), (300, 3600, 300), (300, 200, 100)]
)
def test_a_heartbeat_is_due_as_set_and_never_later_than_half_of_the_lease(
    world: World, wanted: float | None, lease_seconds: int, due_after: float
) -> None:
    world.job()
    queue = Queue(world.queue.database, "worker-1", heartbeat_seconds=wanted)
    held = lease.Lease(queue, world.claim(lease_seconds=lease_seconds))

    held._last_beat -= due_after / 2
    assert not held.beat_is_due(has_news=False)
    held._last_beat -= due_after / 2
    assert held.beat_is_due(has_news=False)


@pytest.mark.parametrize("work_all", [work, partial(work, concurrency=10)], ids=["one", "many"])
def test_every_claim_is_for_the_lease_that_is_set(world: World, work_all: Callable[..., Any]) -> None:
    jobs = [world.job(world.type("short", lease_seconds=10))]
    jobs += [world.job("short") for _ in range(25)]
    queue = Queue(world.queue.database, "worker-1", lease_seconds=600)

    work_all(queue, "test", {"short": Handler(Person, lambda payload, tools: None)}, Deadline(60, 100))

    leased = world.rows("select distinct lease_seconds from jobs where status = 'done'")
    assert [row["lease_seconds"] for row in leased] == [600]


def test_a_long_job_keeps_its_lease_by_heartbeats(world: World) -> None:
    job = world.job()
    renewed: list[bool] = []

    def run(person: Person, tools: Tools) -> None:
        before = world.reload(job).lease_expires_at
        # A heartbeat is due after a third of the lease; here the clock of the attempt is a lease ahead.
        attempt_of(tools)._last_beat -= 60
        until(lambda: world.reload(job).lease_expires_at != before)
        renewed.append(True)

    report = work_off(world, run)

    assert renewed == [True]
    assert report.ended == {"done": 1}


def test_the_result_of_a_lost_lease_is_dropped_and_counted(world: World) -> None:
    job = world.job()

    def run(person: Person, tools: Tools) -> Done:
        # A zombie: it slept past its lease, and somebody else did the work meanwhile.
        world.expire(job)
        other = world.other_queue.claim_next_job("test")
        assert other is not None
        world.other_queue.complete_job(other, {"text": "right"})
        return Done(Greeting(text="wrong"))

    report = work_off(world, run, max_jobs=1)

    assert report.as_json() == {"family": "test", "claimed": 1, "lost": 1}
    assert world.reload(job).result == {"text": "right"}


def test_a_handler_is_told_when_its_lease_is_lost(world: World) -> None:
    job = world.job()
    told = threading.Event()

    def run(person: Person, tools: Tools) -> None:
        world.expire(job)
        assert world.other_queue.claim_next_job("test") is not None
        attempt_of(tools)._last_beat -= 60
        try:
            while True:
                tools.wait(0.01)
        except Interrupted:
            told.set()
            raise

    report = work_off(world, run, max_jobs=1)

    assert told.wait(10)
    assert report.ended == {"lost": 1}
    assert world.reload(job).worker_id == "worker-2"


def test_a_cancelled_job_stops_at_its_next_checkpoint(world: World) -> None:
    job = world.job()

    def run(person: Person, tools: Tools) -> None:
        world.service.jobs.cancel_job(job.id)
        attempt_of(tools)._last_beat -= 60
        while True:
            tools.wait(0.01)

    report = work_off(world, run)

    assert ended(world, job) == ("cancelled", "CANCELLED")
    assert report.ended == {"cancelled": 1}


def test_a_handler_that_ignores_cancel_is_left_behind(world: World) -> None:
    job = world.job()
    release = threading.Event()

    def run(person: Person, tools: Tools) -> Done:
        world.service.jobs.cancel_job(job.id)
        attempt_of(tools)._last_beat -= 60
        release.wait(30)
        return Done(Greeting(text="too late"))

    report = work_off(world, run)
    release.set()

    assert report.ended == {"cancelled": 1}
    assert (world.reload(job).status, world.reload(job).result) == ("cancelled", None)


def test_a_thread_that_was_left_behind_settles_and_claims_no_more(world: World) -> None:
    world.type(timeout_seconds=1)
    job = world.job()
    release = threading.Event()
    threads: list[threading.Thread] = []

    def run(person: Person, tools: Tools) -> Greeting:
        threads.append(threading.current_thread())
        release.wait(30)
        return Greeting(text="too late")

    report = work_off(world, run)
    other = world.job()
    release.set()
    threads[0].join(30)

    assert report.ended == {"retried": 1}
    assert ended(world, job) == ("queued", "TIMEOUT")
    assert (world.reload(other).status, len(world.attempts(job)), report.claimed) == ("queued", 1, 1)


def test_an_attempt_that_was_left_is_not_its_handlers_to_settle(world: World) -> None:
    world.job()
    trial = Attempt(world.queue, world.worked_job())

    def run(person: Person, tools: Tools) -> Greeting:
        assert trial.abandon()
        return Greeting(text="too late")

    assert not trial.finish(run_attempt(trial, handlers(run)))
    assert trial.outcome() == Lost()


def test_an_attempt_whose_handler_has_returned_is_not_left(world: World) -> None:
    world.job()
    trial = Attempt(world.queue, world.worked_job())

    assert trial.finish(run_attempt(trial, handlers(greet)))
    assert not trial.abandon()
    assert trial.outcome() == Done(Greeting(text="Hello Ada"))


def test_what_ends_a_thread_reaches_whoever_waits_for_it() -> None:
    with pytest.raises(ZeroDivisionError):
        WorkerThread(lambda: 1 / 0).wait(30)  # type: ignore[arg-type]


def test_nothing_due_starts_no_thread(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threading.Thread, "start", lambda thread: pytest.fail("a thread was started"))

    assert work_off(world, greet).claimed == 0


def test_the_end_of_the_last_job_is_noticed_at_once(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watch, "LOOK_SECONDS", 60)
    world.job()
    began_at = time.monotonic()

    work_off(world, greet)

    assert time.monotonic() - began_at < 30


def test_what_a_handler_sets_for_itself_is_not_there_for_the_next_one(world: World) -> None:
    whose: ContextVar[str] = ContextVar("whose", default="nobody's")
    found: list[str] = []
    for _ in range(2):
        world.job()

    def run(person: Person, tools: Tools) -> None:
        found.append(whose.get())
        whose.set("mine")

    work_off(world, run)

    assert found == ["nobody's"] * 2


def test_a_handler_that_overruns_its_time_is_stopped_and_retried(world: World) -> None:
    world.type(timeout_seconds=1)
    job = world.job()

    def run(person: Person, tools: Tools) -> None:
        while True:
            tools.wait(0.01)

    work_off(world, run)

    assert ended(world, job) == ("queued", "TIMEOUT")
    assert world.reload(job).error_message == "It ran longer than the 1 seconds that its type allows"


def test_a_stopped_process_gives_its_job_back_after_the_grace_period(world: World) -> None:
    job = world.job()
    deadline = Deadline(60, 10, grace_seconds=0)

    def run(person: Person, tools: Tools) -> None:
        deadline.stop()
        while True:
            tools.wait(0.01)

    report = work(world.queue, "test", handlers(run), deadline)

    assert report.ended == {"released": 1}
    assert (world.reload(job).status, world.reload(job).attempts) == ("queued", 0)


def test_a_stopped_process_lets_its_job_finish_and_claims_no_other(world: World) -> None:
    job, other = world.job(), world.job()
    deadline = Deadline(60, 10, grace_seconds=30)

    def run(person: Person, tools: Tools) -> Greeting:
        deadline.stop()
        return Greeting(text="finished")

    report = work(world.queue, "test", handlers(run), deadline)

    assert report.ended == {"done": 1}
    assert [world.reload(each).status for each in (job, other)] == ["done", "queued"]


def test_a_handler_reads_its_tenants_rows_under_the_lease(world: World) -> None:
    job = world.job()
    world.run("create table notes (tenant_id uuid, text text)")
    world.run("alter table notes enable row level security")
    world.run("create policy p on notes to tickwork_worker using (tenant_id = (select tickwork.held_tenant()))")
    world.run("grant select on notes to tickwork_worker")
    world.run("insert into notes values (%s, 'own'), (gen_random_uuid(), 'foreign')", job.tenant_id)

    def run(person: Person, tools: Tools) -> Greeting:
        rows = tools.under_lease(lambda connection: connection.execute("select text from notes").fetchall())
        return Greeting(text=str([row["text"] for row in rows]))

    work_off(world, run)

    assert world.reload(job).result == {"text": "['own']"}


def idle(connection: Connection) -> None:
    RELEASED.wait()


def busy(connection: Connection) -> None:
    connection.execute("select pg_sleep(86400)")


def within_the_handler(hang: Callable[[Connection], None], tools: Tools) -> None:
    tools.under_lease(hang)


def with_the_completion(hang: Callable[[Connection], None], tools: Tools) -> Done:
    return Done(writes=[hang])


RELEASED = threading.Event()


@pytest.fixture
def without_timeouts(world: World) -> Iterator[None]:
    """The server ends no transaction by itself, as it would after a minute."""
    name = world.value("select current_database()")
    for timeout in ("statement_timeout", "idle_in_transaction_session_timeout"):
        world.admin.execute(f"alter role tickwork_worker in database {name} set {timeout} = 0")
    RELEASED.clear()
    others = threading.enumerate()
    yield
    RELEASED.set()
    for thread in threading.enumerate():
        if thread not in others:
            thread.join(30)


@pytest.mark.usefixtures("without_timeouts")
@pytest.mark.parametrize("hang", [idle, busy])
@pytest.mark.parametrize("transaction", [within_the_handler, with_the_completion])
class TestATransactionThatHangs:
    def test_is_left_when_its_time_is_over(self, world: World, hang: Any, transaction: Any) -> None:
        world.type(timeout_seconds=1)
        job, other = world.job(), world.job()

        def run(person: Person, tools: Tools) -> Any:
            # The next transaction does not get the connection of this one.
            return transaction(hang if tools.job_id == job.id else lambda connection: None, tools)

        report = work_off(world, run)

        assert report.ended == {"retried": 1, "done": 1}
        assert (ended(world, job), ended(world, other)) == (("queued", "TIMEOUT"), ("done", None))

    def test_is_left_when_it_is_cancelled(self, world: World, hang: Any, transaction: Any) -> None:
        job = world.job()

        def run(person: Person, tools: Tools) -> Any:
            world.service.jobs.cancel_job(job.id)
            attempt_of(tools)._last_beat -= 60
            return transaction(hang, tools)

        work_off(world, run)

        assert ended(world, job) == ("cancelled", "CANCELLED")

    def test_is_left_when_the_grace_period_is_over(self, world: World, hang: Any, transaction: Any) -> None:
        job = world.job()
        deadline = Deadline(60, 10, grace_seconds=0)

        def run(person: Person, tools: Tools) -> Any:
            deadline.stop()
            return transaction(hang, tools)

        report = work(world.queue, "test", handlers(run), deadline)

        assert report.ended == {"released": 1}
        assert (world.reload(job).status, world.reload(job).attempts) == ("queued", 0)


@pytest.mark.usefixtures("without_timeouts")
def test_a_statement_ends_although_the_request_to_cancel_it_came_too_early(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(breakable, "cancel", lambda connection: None)
    job = world.job()
    deadline = Deadline(60, 10, grace_seconds=0)
    sleeps = (
        "select count(*) from pg_stat_activity where datname = current_database() and query like 'select pg_sleep%%'"
    )

    def stop_and_hang(connection: Connection) -> None:
        deadline.stop()
        busy(connection)

    def run(person: Person, tools: Tools) -> None:
        tools.under_lease(stop_and_hang)

    assert work(world.queue, "test", handlers(run), deadline).ended == {"released": 1}
    assert world.reload(job).status == "queued"
    until(lambda: world.value(sleeps) == 0)


def test_writes_that_were_broken_off_do_not_settle_the_job(world: World) -> None:
    job = world.job()
    attempt = Attempt(world.queue, world.worked_job())

    def be_abandoned(connection: Connection) -> None:
        attempt.lease.give_up()
        raise RuntimeError("broken off")

    settled = settle.settle(attempt, Done(writes=[be_abandoned]), Deadline(60, 1))

    assert settled[1] == "lost"
    assert world.reload(job).status == "running"


def test_a_transaction_within_a_transaction_is_refused_at_once(world: World) -> None:
    nested, in_a_write = world.job(), world.job()

    def run(person: Person, tools: Tools) -> Done:
        if tools.job_id == nested.id:
            tools.under_lease(lambda connection: tools.under_lease(lambda inner: None))
        return Done(None, [lambda connection: tools.under_lease(lambda inner: None)])

    work_off(world, run)

    for job in (nested, in_a_write):
        assert ended(world, job) == ("queued", "UNEXPECTED")
        assert "RuntimeError" in (world.reload(job).error_message or "")


def test_heartbeats_do_not_wait_for_a_neighbours_transaction(world: World) -> None:
    slow, quick = world.job(), world.job()
    opened, beaten = threading.Event(), threading.Event()

    def run(person: Person, tools: Tools) -> None:
        if tools.job_id == slow.id:
            tools.under_lease(lambda connection: opened.set() or beaten.wait(30))  # type: ignore[func-returns-value]
        else:
            opened.wait(30)
            attempt_of(tools)._last_beat -= 60
            before = world.reload(quick).lease_expires_at
            until(lambda: world.reload(quick).lease_expires_at != before)
            beaten.set()

    threads = [threading.Thread(target=work_off, args=(world, run), kwargs={"max_jobs": 1}) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)

    assert [world.reload(job).status for job in (slow, quick)] == ["done", "done"]


def test_a_claim_that_fails_later_leaves_the_report_of_what_was_done(world: World) -> None:
    job = world.job()

    def run(person: Person, tools: Tools) -> None:
        world.queue.worker_id = ""

    report = work_off(world, run)

    assert report.ended == {"done": 1}
    assert world.reload(job).status == "done"


def test_a_connection_that_breaks_while_the_handler_runs_is_healed(world: World) -> None:
    job = world.job()

    def run(person: Person, tools: Tools) -> Greeting:
        world.run(
            "select pg_terminate_backend(pid) from pg_stat_activity "
            "where datname = current_database() and pid <> pg_backend_pid()"
        )
        return Greeting(text="still here")

    report = work_off(world, run)

    assert report.ended == {"done": 1}
    assert world.reload(job).result == {"text": "still here"}


def test_a_database_that_is_away_at_settling_loses_the_job_only_for_now(world: World) -> None:
    job = world.job()
    name = world.value("select current_database()")
    elsewhere = world.connect()
    elsewhere.execute("select 1")

    def run(person: Person, tools: Tools) -> Greeting:
        world.run(f"alter database {name} with connection limit 0")
        world.run(
            "select pg_terminate_backend(pid) from pg_stat_activity "
            "where datname = current_database() and usename = 'tickwork_worker'"
        )
        return Greeting(text="nobody hears")

    report = work_off(world, run, max_jobs=1)
    world.run(f"alter database {name} with connection limit -1")
    world.expire(job)
    until(lambda: is_reachable(world))
    second = work_off(world, greet)

    assert (report.ended, second.ended) == ({"lost": 1}, {"done": 1})
    assert world.reload(job).attempts == 2


def test_a_database_that_a_handler_could_not_reach_is_asked_again(world: World) -> None:
    job = world.job()

    def run(person: Person, tools: Tools) -> None:
        raise Unavailable("connection refused by 10.1.2.3")

    work_off(world, run, max_jobs=1)

    failed = world.reload(job)
    assert (failed.status, failed.error_code, failed.attempts) == ("queued", "DATABASE_UNAVAILABLE", 1)
    assert failed.error_message == "The database could not be reached"
    assert failed.run_at > failed.created_at


def is_reachable(world: World) -> bool:
    # A pooler remembers an outage for a while.
    try:
        return world.queue.heartbeat_jobs([]) == []
    except Unavailable:
        return False


def attempt_of(tools: Tools) -> Any:
    return tools._under_lease.__self__  # type: ignore[attr-defined]
