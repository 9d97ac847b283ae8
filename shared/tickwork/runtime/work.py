"""The life of a running job: claim, run beside a heartbeat, settle."""

from __future__ import annotations

import contextvars
import time
from collections.abc import Iterable
from typing import TYPE_CHECKING, assert_never

from tickwork.errors import InvalidRequest, LeaseLost, QueueError, QueueFull, Unavailable
from tickwork.jobs.handler import Handlers
from tickwork.jobs.outcomes import Done, Failed, Json, Lost, Outcome, Released, Report
from tickwork.logs import bind, bound, log, presentable, text_of
from tickwork.queue import Queue, lease_of
from tickwork.runtime.attempt import Attempt, Hand, outcome_of, within_range

if TYPE_CHECKING:
    from tickwork.jobs.rows import ClaimedJob

# How often the runtime looks at a running handler.
LOOK_SECONDS = 0.25
# How long a handler that was asked to stop may take to do so.
STOP_SECONDS = 5.0
# When to try again to reach the database with an outcome.
SETTLE_AGAIN_SECONDS = (0.2, 1.0, 4.0)


class Deadline:
    """How long and how often an invocation may claim, and whether its process is about to end."""

    def __init__(self, seconds: float, max_jobs: int, grace_seconds: float = 8.0) -> None:
        self._started_at = time.monotonic()
        self._ends_at = self._started_at + seconds
        self._jobs_left = max_jobs
        self._grace_seconds = grace_seconds
        self._stopped_at: float | None = None

    def is_far(self) -> bool:
        return self._jobs_left > 0 and not self.is_stopped() and time.monotonic() < self._ends_at

    def wait(self, interval: float) -> bool:
        """Wait for the next full interval since the start; False at once if that is beyond the deadline."""
        past = time.monotonic() - self._started_at
        next_at = self._started_at + (past // interval + 1) * interval
        if not self.is_far() or next_at >= self._ends_at:
            return False
        time.sleep(max(0.0, next_at - time.monotonic()))
        return self.is_far()

    def is_stopped(self) -> bool:
        return self._stopped_at is not None

    def jobs_left(self, at_most: int) -> int:
        return min(self._jobs_left, at_most)

    def count_jobs(self, jobs: int = 1) -> None:
        self._jobs_left -= jobs

    def stop(self) -> None:
        """Claim no more; the running job has the grace period to finish."""
        self._stopped_at = self._stopped_at or time.monotonic()

    def grace_is_over(self) -> bool:
        return self._stopped_at is not None and time.monotonic() >= self._stopped_at + self._grace_seconds


def work(queue: Queue, family: str, handlers: Handlers, deadline: Deadline) -> Report:
    """Claim, run and settle jobs of one family, one at a time, until none is due or time is short."""
    shift = Shift(queue, family, handlers, deadline)
    job = shift.claim()
    while job:
        job = watch(shift, Hand(shift.work_off, job))
    return shift.report


class Shift:
    """What a hand works off, job after job, while the caller looks at it now and then."""

    def __init__(self, queue: Queue, family: str, handlers: Handlers, deadline: Deadline) -> None:
        self.queue = queue
        self.family = family
        self.handlers = handlers
        self.deadline = deadline
        self.report = Report(family)
        self.attempt: Attempt | None = None
        self._is_closed = False

    def work_off(self, job: ClaimedJob | None) -> None:
        """Work until none is due, unless this thread is left behind."""
        while job:
            attempt = self.attempt = Attempt(self.queue, job)
            # What is bound for one job is not there for the next one, nor what its handler sets for itself.
            context = contextvars.copy_context()
            if not context.run(self._handle, attempt):
                return
            job = context.run(self.settle, attempt) or self.claim()

    def settle(self, attempt: Attempt) -> ClaimedJob | None:
        """Settle it; the job that was claimed in one go with that, if there was one."""
        ending, job = settle_and_claim(attempt, self.handlers if self._may_claim() else None)
        self.report.add(ending)
        return job

    def go_on_without(self, attempt: Attempt) -> ClaimedJob | None:
        """Settle it without its handler, and answer the job that is next."""
        with bound(**attempt.labels()):
            log("leave_handler", "WARNING", reason=repr(attempt.outcome()))
            job = self.settle(attempt)
        return job or self.claim()

    def claim(self) -> ClaimedJob | None:
        if not self._may_claim():
            return None
        try:
            return self.queue.claim_next_job(self.family, types=self.handlers)
        except QueueError as error:
            if self.report.claimed == 0:
                raise
            # What was done so far is worth reporting; the next wake-up sees for itself.
            log("fail_to_claim", "WARNING", reason=str(error))
            return None

    def close(self) -> None:
        """Claim no more: nobody looks any longer."""
        self._is_closed = True

    def _may_claim(self) -> bool:
        return self.deadline.is_far() and not self._is_closed

    def _handle(self, attempt: Attempt) -> bool:
        bind(attempt.labels)
        log("claim")
        self.deadline.count_jobs()
        return attempt.handle(self.handlers)


def watch(shift: Shift, hand: Hand) -> ClaimedJob | None:
    """Look after a hand until it has come to its end; if it has to be left behind, the job for another one."""
    try:
        while not hand.wait(LOOK_SECONDS):
            attempt = shift.attempt
            # One that is finished is being settled.
            if attempt is None or attempt.is_finished():
                continue
            if attempt.is_to_be_left() and attempt.leave():
                return shift.go_on_without(attempt)
            with bound(**attempt.labels()):
                beat([attempt])
                look(attempt, shift.deadline)
        return None
    except BaseException:
        shift.close()
        raise


def beat(attempts: Iterable[Attempt]) -> None:
    """Keep leases alive, and hear which handlers have to stop."""
    due = {str(attempt.job.id): attempt for attempt in attempts if attempt.beat_is_due()}
    if not due:
        return
    try:
        answers = next(iter(due.values())).queue.heartbeat_jobs([attempt.heartbeat() for attempt in due.values()])
    except QueueError as error:
        log("miss_heartbeat", "WARNING", reason=str(error))
        # Bearable, for as long as the lease lasts.
        for attempt in due.values():
            if attempt.lease_is_over():
                attempt.interrupt(Lost(), 0)
        return
    for answer in answers:
        attempt = due[str(answer["job_id"])]
        attempt.note_beat()
        if not answer["is_held"]:
            attempt.interrupt(Lost(), 0)
        elif answer["cancel_requested"]:
            attempt.interrupt(Failed("CANCELLED", "It was cancelled on request", retryable=False), STOP_SECONDS)


def look(attempt: Attempt, deadline: Deadline) -> None:
    """Find out whether the handler has had its time."""
    if attempt.tools.seconds_left() < 0:
        message = f"It ran longer than the {attempt.job.timeout_seconds} seconds that its type allows"
        attempt.interrupt(Failed("TIMEOUT", message), STOP_SECONDS)
    if deadline.grace_is_over():
        attempt.interrupt(Released(), 0)


def settle_and_claim(attempt: Attempt, types: Iterable[str] | None) -> tuple[str, ClaimedJob | None]:
    """Settle the job and claim the next one of these types in one go where that can be; otherwise settle it alone."""
    queue, job, outcome = attempt.queue, attempt.job, attempt.outcome()
    if types is not None and not is_to_be_settled_alone(outcome):
        try:
            settled, claimed = queue.settle_and_claim([as_json(attempt)], job.family, types=types)
            ending = ending_of(outcome, settled[0]["status"])
            note_ending(ending, outcome)
            return ending, (claimed[0] if claimed else None)
        except Exception as error:
            # What is wrong is found out, and said, when it is settled alone.
            log("miss_settle", "WARNING", reason=text_of(error))
    return settle(attempt), None


def is_to_be_settled_alone(outcome: Outcome) -> bool:
    return isinstance(outcome, Lost) or (isinstance(outcome, Done) and bool(outcome.writes))


def as_json(attempt: Attempt) -> Json:
    """The outcome as `settle_jobs` takes it."""
    outcome = attempt.outcome()
    given = lease_of(attempt.job)
    if logs := attempt.tools.logs():
        given["logs"] = logs
    match outcome:
        case Done():
            given["status"] = "done"
            if outcome.result is not None:
                given["result"] = outcome.result.model_dump(mode="json")
            if outcome.follow_ups:
                given["follow_ups"] = [each.model_dump(mode="json") for each in outcome.follow_ups]
            return given
        case Failed():
            error = {"code": outcome.code, "message": presentable(outcome.message)}
            delay = None if outcome.delay is None else within_range(outcome.delay)
            return {
                **given,
                "status": "failed",
                "error": error,
                "retryable": outcome.retryable,
                "retry_after_seconds": delay,
            }
        case Released():
            return {**lease_of(attempt.job), "status": "released", "delay_seconds": within_range(outcome.delay)}
        case Lost():
            raise LeaseLost("the lease was lost while the handler ran")
        case _:
            assert_never(outcome)


def ending_of(outcome: Outcome, status: str | None) -> str:
    """How the attempt ended, in the words of the report: `lost` if somebody else has the job."""
    match outcome, status:
        case Failed(), "queued":
            return "retried"
        case Released(), "queued":
            return "released"
        case _:
            return status or "lost"


def note_ending(ending: str, outcome: Outcome) -> None:
    log("settle", "WARNING" if ending == "lost" else "INFO", ending=ending, error_code=code_of(outcome))


def settle(attempt: Attempt) -> str:
    """Write the outcome under the lease and answer how the attempt ended; `lost` if somebody else has the job."""
    outcome = attempt.outcome()
    for pause in (*SETTLE_AGAIN_SECONDS, None):
        try:
            ending = write(attempt.queue, attempt.job, outcome, attempt.tools.logs())
        except LeaseLost:
            ending = "lost"
        except QueueError as error:
            log("miss_settle", "WARNING", reason=str(error))
            if pause is not None:
                time.sleep(pause)
                continue
            ending = "lost"
        note_ending(ending, outcome)
        return ending
    raise AssertionError("the last round returns")


def write(queue: Queue, job: ClaimedJob, outcome: Outcome, logs: str | None) -> str:
    match outcome:
        case Done():
            try:
                result = None if outcome.result is None else outcome.result.model_dump(mode="json")
                follow_ups = [each.model_dump(mode="json") for each in outcome.follow_ups]
                done = {"status": "done", "result": result, "follow_ups": follow_ups, "logs": logs}
                (row,) = queue.settle_jobs([{**lease_of(job), **done}], outcome.writes)
                return row["status"] or "lost"
            except (LeaseLost, Unavailable):
                raise
            except QueueFull:
                message = "The tenant has too many jobs queued for those that should follow"
                return write(queue, job, Failed("QUEUE_FULL", message), logs)
            except InvalidRequest as refusal:
                message = f"The queue refused what the handler returned: {refusal}"
                return write(queue, job, Failed("REFUSED", message, retryable=False), logs)
            except Exception as failure:
                return write(queue, job, outcome_of(failure), logs)
        case Failed():
            error = {"code": outcome.code, "message": presentable(outcome.message)}
            delay = None if outcome.delay is None else within_range(outcome.delay)
            return ending_of(outcome, queue.fail_job(job, error, outcome.retryable, delay, logs).status)
        case Released():
            return ending_of(outcome, queue.release_job(job, within_range(outcome.delay)).status)
        case Lost():
            raise LeaseLost("the lease was lost while the handler ran")
        case _:
            assert_never(outcome)


def code_of(outcome: Outcome) -> str | None:
    return outcome.code if isinstance(outcome, Failed) else None
