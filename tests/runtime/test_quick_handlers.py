"""Many jobs at a time, whose handlers are so quick that one thread runs them all."""

import threading
import time
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from typing import Any

import pytest
from pydantic import BaseModel, ConfigDict

from tests.world import World
from tests.world.waiting import until
from tickwork.database.connection import Database
from tickwork.errors import Permanent, Retryable
from tickwork.jobs.handler import Handler, Handlers, Tools
from tickwork.jobs.outcomes import Done, Report
from tickwork.jobs.rows import FollowUp, Job
from tickwork.queue import Queue
from tickwork.runtime import exchange, lease, settle, threads, watch
from tickwork.runtime.deadline import Deadline
from tickwork.runtime.work import work


class Anything(BaseModel):
    model_config = ConfigDict(extra="allow")


class Number(BaseModel):
    n: int


Run = Callable[[Any, Tools], BaseModel | Done | None]


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watch, "LOOK_SECONDS", 0.01)
    monkeypatch.setattr(lease, "PROGRESS_SECONDS", 0.01)
    monkeypatch.setattr(watch, "STOP_SECONDS", 0.2)
    monkeypatch.setattr(settle, "SETTLE_AGAIN_SECONDS", (0.01,))


@pytest.fixture
def one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    """However long a handler takes, it counts as quick."""
    monkeypatch.setattr(threads, "QUICK_SECONDS", 3600)


def handled_by(run: Run) -> Handlers:
    return {"greet_person": Handler(Anything, run)}


def work_off(world: World, run: Run, concurrency: int = 10, deadline: Deadline | None = None) -> Report:
    return work(world.queue, "test", handled_by(run), deadline or Deadline(60, 1000), concurrency=concurrency)


def statuses(world: World, jobs: list[Job]) -> list[str]:
    return [world.reload(job).status for job in jobs]


def test_all_due_jobs_are_worked_off(world: World) -> None:
    jobs = [world.job(payload={"n": n}) for n in range(25)]

    report = work_off(world, lambda payload, tools: Number(n=payload.n * 2))

    assert report.as_json() == {"family": "test", "claimed": 25, "done": 25}
    assert [world.reload(job).result for job in jobs] == [{"n": 2 * n} for n in range(25)]
    assert {len(world.attempts(job)) for job in jobs} == {1}


def test_never_more_jobs_are_held_than_wanted_nor_more_worked_off_than_allowed(world: World) -> None:
    jobs = [world.job() for _ in range(12)]
    held = []

    def run(payload: Anything, tools: Tools) -> None:
        held.append(world.value("select count(*) from jobs where status = 'running'"))

    report = work_off(world, run, concurrency=4, deadline=Deadline(60, 10))

    assert max(held) <= 4
    assert report.claimed == 10
    assert statuses(world, jobs).count("queued") == 2


def test_what_is_finished_is_settled_and_replaced_while_the_rest_runs(world: World) -> None:
    jobs = [world.job(payload={"n": n}) for n in range(6)]

    def run(payload: Any, tools: Tools) -> None:
        if payload.n == 3:
            until(lambda: statuses(world, jobs) == ["done"] * 3 + ["running"] + ["done"] * 2)

    work_off(world, run, concurrency=4)

    assert statuses(world, jobs) == ["done"] * 6


def test_jobs_that_write_are_held_in_the_same_number(world: World) -> None:
    for _ in range(12):
        world.job()
    held = []

    def look(connection: Any) -> None:
        held.append(world.value("select count(*) from jobs where status = 'running'"))

    report = work_off(world, lambda payload, tools: Done(writes=[look]), concurrency=4)

    assert report.ended == {"done": 12}
    assert max(held) <= 4


def test_each_job_ends_in_its_own_way(world: World) -> None:
    world.type("thank_person")
    world.type("greet_person")
    jobs = [world.job("greet_person", payload={"n": n}) for n in range(5)]
    world.run("create table notes (n int)")
    world.run("grant insert on notes to tickwork_worker")

    def run(payload: Any, tools: Tools) -> Done | None:
        tools.log(f"number {payload.n}")
        match payload.n:
            case 0:
                raise Permanent("no such person", code="UNKNOWN")
            case 1:
                raise Retryable("not at home", delay=900)
            case 2:
                return Done(Number(n=2), writes=[lambda connection: connection.execute("insert into notes values (2)")])
            case 3:
                return Done(follow_ups=[FollowUp(type="thank_person", idempotency_key="k")])
        return None

    report = work(world.queue, "test", {"greet_person": Handler(Anything, run)}, Deadline(60, 5), concurrency=10)

    assert statuses(world, jobs) == ["failed", "queued", "done", "done", "done"]
    assert report.ended == {"failed": 1, "retried": 1, "done": 3}
    assert world.reload(jobs[0]).error_code == "UNKNOWN"
    assert world.value("select n from notes") == 2
    assert world.value("select source_ref from jobs where type = 'thank_person'") == str(jobs[3].id)
    assert [world.attempts(job)[0]["logs"] for job in jobs] == [f"number {n}" for n in range(5)]


def test_one_result_that_the_queue_refuses_spoils_no_other(world: World) -> None:
    jobs = [world.job(payload={"n": n}) for n in range(3)]

    class Huge(BaseModel):
        text: str

    report = work_off(world, lambda payload, tools: Huge(text="x" * 300_000) if payload.n == 1 else Number(n=0))

    assert statuses(world, jobs) == ["done", "failed", "done"]
    assert world.reload(jobs[1]).error_code == "REFUSED"
    assert report.ended == {"done": 2, "failed": 1}


@pytest.mark.usefixtures("one_thread")
def test_leases_of_waiting_and_finished_jobs_are_kept_alive(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lease, "BEATS_PER_LEASE", 100_000)
    jobs = [world.job(payload={"n": n}) for n in range(3)]
    go_on = threading.Event()

    def run(payload: Any, tools: Tools) -> None:
        if payload.n == 1:
            go_on.wait(60)

    thread = threading.Thread(target=work_off, args=(world, run))
    thread.start()
    until(lambda: world.reload(jobs[1]).status == "running")
    before = [world.reload(job).lease_expires_at for job in jobs]
    until(lambda: all(world.reload(job).lease_expires_at != was for job, was in zip(jobs, before, strict=True)))
    go_on.set()
    thread.join(60)
    assert statuses(world, jobs) == ["done"] * 3


@pytest.mark.usefixtures("one_thread")
def test_a_lost_lease_is_dropped_and_the_others_go_on(world: World) -> None:
    jobs = [world.job(payload={"n": n}) for n in range(3)]
    ran: list[int] = []

    def run(payload: Any, tools: Tools) -> None:
        ran.append(payload.n)
        if payload.n == 0:
            world.expire(jobs[1])
            world.service.maintenance.maintain()
            assert world.other_queue.claim_next_job("test").id == jobs[1].id  # type: ignore[union-attr]

    report = work_off(world, run)

    assert statuses(world, jobs) == ["done", "running", "done"]
    assert report.ended == {"done": 2, "lost": 1}


@pytest.mark.usefixtures("one_thread")
def test_a_stopping_worker_gives_back_what_it_has_not_started(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    jobs = [world.job(payload={"n": n}) for n in range(5)]
    deadline = Deadline(60, 1000, grace_seconds=60)

    def run(payload: Any, tools: Tools) -> None:
        if payload.n == 1:
            deadline.stop()
            # From now on, another thread does not wait for this one.
            monkeypatch.setattr(threads, "QUICK_SECONDS", 0)
            until(lambda: world.reload(jobs[4]).status == "queued")

    report = work_off(world, run, deadline=deadline)

    assert statuses(world, jobs) == ["done", "done", "queued", "queued", "queued"]
    assert [world.reload(job).attempts for job in jobs] == [1, 1, 0, 0, 0]
    assert report.ended == {"done": 2, "released": 3}


def test_a_handler_that_hangs_is_left_behind_and_the_rest_goes_on(world: World) -> None:
    world.type("greet_person", timeout_seconds=1)
    jobs = [world.job(payload={"n": n}) for n in range(3)]
    release = threading.Event()

    def run(payload: Any, tools: Tools) -> None:
        if payload.n == 0:
            release.wait(60)

    report = work_off(world, run, deadline=Deadline(60, 3))
    release.set()

    assert statuses(world, jobs) == ["queued", "done", "done"]
    assert world.reload(jobs[0]).error_code == "TIMEOUT"
    assert report.ended == {"retried": 1, "done": 2}


@pytest.mark.usefixtures("one_thread")
def test_a_thread_that_was_left_behind_does_not_go_on_beside_the_other(world: World) -> None:
    world.type("greet_person", timeout_seconds=1)
    jobs = [world.job(payload={"n": n}) for n in range(4)]
    release = threading.Event()
    used: list[threading.Thread] = []

    def run(payload: Any, tools: Tools) -> None:
        used.append(threading.current_thread())
        if payload.n == 0:
            release.wait(60)
        if payload.n == 1:
            release.set()
            used[0].join(30)

    report = work_off(world, run)

    assert report.ended == {"retried": 1, "done": 3}
    assert statuses(world, jobs) == ["queued", "done", "done", "done"]
    assert [thread is used[0] for thread in used] == [True, False, False, False]


@pytest.mark.usefixtures("one_thread")
def test_who_is_not_watched_any_more_starts_no_handler(world: World) -> None:
    runs: list[Anything] = []
    looked_away = threading.Event()
    others = threading.enumerate()

    class Interrupted(Deadline):
        def is_stopped(self) -> bool:
            if runs:
                raise KeyboardInterrupt
            return super().is_stopped()

    def run(payload: Anything, tools: Tools) -> None:
        runs.append(payload)
        looked_away.wait(10)

    for _ in range(10):
        world.job()
    with pytest.raises(KeyboardInterrupt):
        work_off(world, run, deadline=Interrupted(60, 1000))
    looked_away.set()
    for thread in threading.enumerate():
        if thread not in others:
            thread.join(10)

    assert len(runs) == 1


def test_a_job_that_cannot_be_read_costs_no_other_its_result(world: World) -> None:
    jobs = [world.job() for _ in range(2)]
    world.job()
    # Past the checks, as no client can: a payload that is no object.
    world.run("update jobs set payload = '[]' where id <> all(%s)", [job.id for job in jobs])

    report = work_off(world, lambda payload, tools: None, concurrency=2)

    assert report.ended == {"done": 2, "failed": 1}
    assert statuses(world, jobs) == ["done", "done"]


def test_a_claim_that_fails_later_costs_nothing_that_is_held(world: World) -> None:
    jobs = [world.job() for _ in range(6)]

    def run(payload: Any, tools: Tools) -> None:
        world.queue.worker_id = ""

    report = work_off(world, run, concurrency=4)

    assert report.ended == {"done": 4}
    assert sorted(statuses(world, jobs)) == ["done"] * 4 + ["queued"] * 2


def test_the_end_of_the_last_job_is_noticed_at_once(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watch, "LOOK_SECONDS", 60)
    for _ in range(3):
        world.job()
    began_at = time.monotonic()

    work_off(world, lambda payload, tools: None)

    assert time.monotonic() - began_at < 30


def test_jobs_that_were_claimed_while_a_handler_takes_long_keep_their_leases(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lease, "BEATS_PER_LEASE", 100_000)
    jobs = [world.job(payload={"n": n}) for n in range(4)]
    may_end = threading.Event()

    def run(payload: Any, tools: Tools) -> None:
        if payload.n == 1:
            until(lambda: world.reload(jobs[2]).status == "running")
            before = world.reload(jobs[2]).lease_expires_at
            until(lambda: world.reload(jobs[2]).lease_expires_at != before)
            may_end.set()
        if payload.n == 2:
            may_end.wait(60)

    work_off(world, run, concurrency=2)

    assert statuses(world, jobs) == ["done"] * 4


def test_what_a_handler_sets_for_itself_is_not_there_for_the_next_one(world: World) -> None:
    whose: ContextVar[str] = ContextVar("whose", default="nobody's")
    found: list[str] = []
    for _ in range(2):
        world.job()

    def run(payload: Any, tools: Tools) -> None:
        found.append(whose.get())
        whose.set("mine")

    work_off(world, run)

    assert found == ["nobody's"] * 2


@pytest.mark.usefixtures("one_thread")
def test_a_cancelled_job_that_waits_is_not_started(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lease, "BEATS_PER_LEASE", 100_000)
    jobs = [world.job(payload={"n": n}) for n in range(2)]
    ran: list[int] = []

    def run(payload: Any, tools: Tools) -> None:
        ran.append(payload.n)
        if payload.n == 0:
            world.service.jobs.cancel_job(jobs[1].id)
            asked_at = world.reload(jobs[1]).updated_at
            until(lambda: world.reload(jobs[1]).updated_at > asked_at)
            # Two more looks, so that the answer to that heartbeat has been heard.
            tools.wait(0.1)

    work_off(world, run)

    assert ran == [0]
    assert statuses(world, jobs) == ["done", "cancelled"]


def within_the_handler(hold: Callable[[Any], None], tools: Tools) -> None:
    tools.under_lease(hold)


def with_the_completion(hold: Callable[[Any], None], tools: Tools) -> Done:
    return Done(writes=[hold])


@pytest.mark.usefixtures("one_thread")
@pytest.mark.parametrize("transaction", [within_the_handler, with_the_completion])
def test_a_long_transaction_of_one_job_costs_no_other_its_lease(
    world: World, monkeypatch: pytest.MonkeyPatch, transaction: Callable[..., Done | None]
) -> None:
    monkeypatch.setattr(lease, "BEATS_PER_LEASE", 100_000)
    jobs = [world.job(payload={"n": n}) for n in range(4)]

    def hold(connection: Any) -> None:
        before = [world.reload(job).lease_expires_at for job in jobs]
        until(
            lambda: all(world.reload(job).lease_expires_at != was for job, was in zip(jobs, before, strict=True)),
            "a lease was not extended",
        )

    def run(payload: Any, tools: Tools) -> Done | None:
        return transaction(hold, tools) if payload.n == 0 else None

    report = work_off(world, run)

    assert report.ended == {"done": 4}
    assert {world.reload(job).attempts for job in jobs} == {1}


class SpiedQueue(Queue):
    """Notes which thread settles how many jobs."""

    def __init__(self, database: Database) -> None:
        super().__init__(database, "worker-1")
        self.settled: list[tuple[int, int]] = []

    def settle_and_claim(self, job_ids: Sequence[str], *arguments: Any, **options: Any) -> Any:
        self.settled.append((threading.get_ident(), len(job_ids)))
        return super().settle_and_claim(job_ids, *arguments, **options)


@pytest.mark.usefixtures("one_thread")
def test_one_thread_runs_quick_handlers_and_what_has_ended_is_settled_together(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watch, "LOOK_SECONDS", 3600)
    monkeypatch.setattr(exchange, "TOGETHER_SECONDS", 3600)
    world.job()
    tenant = world.value("select id from organizations")
    world.service.jobs.enqueue_jobs([{"tenant_id": str(tenant), "type": "greet_person"}] * 399)
    queue, used = SpiedQueue(world.queue.database), set[int]()

    def run(payload: Any, tools: Tools) -> None:
        used.add(threading.get_ident())

    report = work(queue, "test", handled_by(run), Deadline(60, 1000), concurrency=200)

    assert report.ended == {"done": 400}
    assert len(used) == 1
    assert len(queue.settled) <= 40


def test_after_handlers_that_took_long_one_thread_runs_the_quick_ones_again(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    for n in range(60):
        world.job(payload={"n": n})
    runs: list[int] = []

    def count_as_quick() -> None:
        monkeypatch.setattr(threads, "QUICK_SECONDS", 3600)
        monkeypatch.setattr(exchange, "TOGETHER_SECONDS", 3600)

    everybody = threading.Barrier(10, count_as_quick)

    def run(payload: Any, tools: Tools) -> None:
        if payload.n < 10:
            everybody.wait(60)
        else:
            runs.append(threading.get_ident())

    report = work_off(world, run, concurrency=10)

    assert report.ended == {"done": 60}
    assert len(runs) == 50
    assert len(set(runs)) == 1


def test_where_no_more_threads_can_be_started_one_runs_all_handlers(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    jobs = [world.job(payload={"n": n}) for n in range(6)]
    used: set[int] = set()
    real_start = threading.Thread.start

    def start(self: threading.Thread) -> None:
        if used:
            raise RuntimeError("can't start new thread")
        real_start(self)

    def run(payload: Any, tools: Tools) -> None:
        used.add(threading.get_ident())
        # The thread that watches has noticed that this one is slow.
        tools.wait(0.05)

    monkeypatch.setattr(threading.Thread, "start", start)
    report = work_off(world, run, concurrency=3)

    assert report.ended == {"done": 6}
    assert statuses(world, jobs) == ["done"] * 6
    assert len(used) == 1


def test_a_lone_job_is_settled_by_the_thread_that_ran_it(world: World) -> None:
    for _ in range(5):
        world.job()
    queue, used = SpiedQueue(world.queue.database), set[int]()

    def run(payload: Any, tools: Tools) -> None:
        used.add(threading.get_ident())

    work(queue, "test", handled_by(run), Deadline(60, 1000))

    assert {thread for thread, jobs in queue.settled if jobs} == used
    assert [jobs for _, jobs in queue.settled] == [0, 1, 1, 1, 1, 1]


def test_results_that_are_settled_together_arrive_as_they_were(
    world: World, capsys: pytest.CaptureFixture[str]
) -> None:
    texts = ['"quoted"', "\\back\\", "{a,b}", "null", "", "ä\n\u2028", "\x00nothing"]
    jobs = [world.job(payload={"n": n}) for n in range(len(texts) + 1)]

    class Text(BaseModel):
        text: str

    report = work_off(world, lambda payload, tools: Text(text=texts[payload.n]) if payload.n < len(texts) else None)

    assert report.ended == {"done": len(jobs)}
    found = [world.reload(job).result for job in jobs]
    # Else each was settled alone.
    assert "miss_settle" not in capsys.readouterr().out
    assert found == [*({"text": text.replace("\x00", "")} for text in texts), None]
