"""The life of a running job: claim, run beside a heartbeat, settle."""

import contextvars
import threading
import time
from collections.abc import Callable
from typing import Any, assert_never

from tickwork.database import Connection
from tickwork.errors import (
    Interrupted,
    InvalidRequest,
    JobError,
    LeaseLost,
    NotYet,
    Permanent,
    QueueError,
    Retryable,
    Unavailable,
    UnknownType,
)
from tickwork.handler import Handlers, Tools
from tickwork.jobs import Done, Failed, Job, Lost, Outcome, Released, Report
from tickwork.logs import bound, log, log_exception, presentable, text_of
from tickwork.queue import Queue

# How often the runtime looks at a running handler.
LOOK_SECONDS = 0.25
# How often progress is worth a heartbeat of its own.
PROGRESS_SECONDS = 1.0
# How long a handler that was asked to stop may take to do so.
STOP_SECONDS = 5.0
# When to try again to reach the database with an outcome.
SETTLE_AGAIN_SECONDS = (0.2, 1.0, 4.0)
LONGEST_DELAY_SECONDS = 30 * 86_400.0


class Deadline:
    """How long and how often an invocation may claim, and whether its process is about to end."""

    def __init__(self, seconds: float, max_jobs: int, grace_seconds: float = 8.0) -> None:
        self._ends_at = time.monotonic() + seconds
        self._jobs_left = max_jobs
        self._grace_seconds = grace_seconds
        self._stopped_at: float | None = None

    def is_far(self) -> bool:
        return self._jobs_left > 0 and self._stopped_at is None and time.monotonic() < self._ends_at

    def count_job(self) -> None:
        self._jobs_left -= 1

    def stop(self) -> None:
        """Claim no more; the running job has the grace period to finish."""
        self._stopped_at = self._stopped_at or time.monotonic()

    def grace_is_over(self) -> bool:
        return self._stopped_at is not None and time.monotonic() >= self._stopped_at + self._grace_seconds


def work(queue: Queue, family: str, handlers: Handlers, deadline: Deadline) -> Report:
    """Claim, run and settle jobs of one family, one at a time, until none is due or time is short."""
    report = Report(family)
    while deadline.is_far() and (job := claim(queue, family, report)):
        deadline.count_job()
        with bound(**labels(job)):
            log("claim")
            attempt = Attempt(queue, job)
            outcome = run(attempt, handlers, deadline)
            report.add(settle(queue, job, outcome, attempt.tools.logs()))
    return report


def claim(queue: Queue, family: str, report: Report) -> Job | None:
    try:
        return queue.claim_next_job(family)
    except QueueError as error:
        if report.claimed == 0:
            raise
        # What was done so far is worth reporting; the next wake-up sees for itself.
        log("fail_to_claim", "WARNING", reason=str(error))
        return None


def labels(job: Job) -> dict[str, object]:
    return {
        "job_id": job.id,
        "tenant_id": job.tenant_id,
        "family": job.family,
        "type": job.type,
        "attempt": job.attempts,
        "worker_id": job.worker_id,
    }


def run(attempt: "Attempt", handlers: Handlers, deadline: Deadline) -> Outcome:
    """Run the job's handler with its heartbeat beside it, and say how it ended."""
    attempt.start(handlers)
    while not attempt.wait(LOOK_SECONDS) and not attempt.is_to_be_left():
        look(attempt, deadline)
    return attempt.outcome()


def look(attempt: "Attempt", deadline: Deadline) -> None:
    """Keep the lease alive, and find out whether the handler has to stop."""
    try:
        if attempt.beat_is_due() and attempt.beat():
            attempt.interrupt(Failed("CANCELLED", "It was cancelled on request", retryable=False), STOP_SECONDS)
    except LeaseLost:
        attempt.interrupt(Lost(), 0)
    if attempt.tools.seconds_left() < 0:
        message = f"It ran longer than the {attempt.job.timeout_seconds} seconds that its type allows"
        attempt.interrupt(Failed("TIMEOUT", message), STOP_SECONDS)
    if deadline.grace_is_over():
        attempt.interrupt(Released(), 0)


class Attempt:
    """One try at one job: the handler's thread, its tools, and the lease that it runs under."""

    def __init__(self, queue: Queue, job: Job) -> None:
        self.job = job
        self.tools = Tools(job, self._under_lease)
        self._queue = queue
        self._finished = threading.Event()
        self._outcome: Outcome | None = None
        self._interruption: Outcome | None = None
        self._leave_at = float("inf")
        self._lease_seconds = job.lease_seconds or 60
        self._last_beat = self._leased_at = time.monotonic()
        self._sent_progress: tuple[float, str | None] | None = None
        self._holder: int | None = None

    def start(self, handlers: Handlers) -> None:
        # A thread of its own, so that a handler that hangs or will not stop can be left behind.
        # What it does from then on is lost: only an outcome that is returned in time gets written.
        context = contextvars.copy_context()
        threading.Thread(target=context.run, args=(self._handle, handlers), daemon=True).start()

    def wait(self, seconds: float) -> bool:
        return self._finished.wait(seconds)

    def interrupt(self, outcome: Outcome, patience: float) -> None:
        """Ask the handler to stop, and decide how the attempt ends if it does, or does not in time."""
        if self._interruption is None or isinstance(outcome, Lost):
            self._interruption = outcome
            self._leave_at = time.monotonic() + patience
            self.tools.interrupt(getattr(outcome, "message", type(outcome).__name__.lower()))

    def is_to_be_left(self) -> bool:
        return time.monotonic() >= self._leave_at

    def outcome(self) -> Outcome:
        if self._finished.is_set() and self._outcome:
            return self._outcome
        log("leave_handler", "WARNING", reason=repr(self._interruption))
        return self._interruption or Lost()

    def beat_is_due(self) -> bool:
        passed = time.monotonic() - self._last_beat
        has_news = self.tools.latest_progress != self._sent_progress
        return passed > self._lease_seconds / 3 or (has_news and passed > PROGRESS_SECONDS)

    def beat(self) -> bool:
        """Renew the lease; True if cancel was asked for. Raises LeaseLost once it cannot be held any longer."""
        progress = self.tools.latest_progress
        self._last_beat = time.monotonic()
        try:
            is_cancelled = self._queue.heartbeat_job(self.job, *(progress or (None, None)))
        except LeaseLost:
            raise
        except QueueError as error:
            log("miss_heartbeat", "WARNING", reason=str(error))
            if time.monotonic() > self._leased_at + self._lease_seconds:
                raise LeaseLost("no heartbeat reached the database for the length of the lease") from error
            return False
        self._leased_at, self._sent_progress = self._last_beat, progress
        return is_cancelled

    def _handle(self, handlers: Handlers) -> None:
        try:
            self._outcome = handle(self.job, handlers, self.tools)
        except Interrupted as error:
            self._outcome = self._interruption or Failed(error.code, text_of(error))
        except BaseException as error:
            self._outcome = outcome_of(error)
        finally:
            self._finished.set()

    def _under_lease(self, work: Callable[[Connection], Any]) -> Any:
        # The second transaction would wait for the job's row, which the first one holds, for ever.
        if self._finished.is_set() or self._holder == threading.get_ident():
            raise RuntimeError("a transaction under this lease is open already: use its connection")

        def held(connection: Connection) -> Any:
            self._queue.hold_job(self.job, connection)
            self._holder = threading.get_ident()
            try:
                return work(connection)
            finally:
                self._holder = None

        return self._queue.database.transaction(held)


def handle(job: Job, handlers: Handlers, tools: Tools) -> Done:
    handler = handlers.get(job.type)
    if handler is None:
        raise UnknownType(f"The function of the family {job.family!r} has no handler for the type {job.type!r}")
    return handler(job.payload, tools)


def outcome_of(error: BaseException) -> Outcome:
    """How an attempt ends that was left by an exception."""
    match error:
        case NotYet():
            return Released(error.delay)
        case Permanent():
            return Failed(error.code, text_of(error), retryable=False)
        case Retryable():
            return Failed(error.code, text_of(error), delay=error.delay)
        case JobError():
            return Failed(error.code, text_of(error))
        case LeaseLost():
            return Lost()
        case Unavailable():
            return Failed("DATABASE_UNAVAILABLE", "The database could not be reached")
        case _:
            # Nobody wrote its text for the tenant: it may hold a path, a query or a secret.
            log_exception("handler_raised", error)
            return Failed("UNEXPECTED", f"{type(error).__name__} in the handler: the log of its function has more")


def settle(queue: Queue, job: Job, outcome: Outcome, logs: str | None = None) -> str:
    """Write the outcome under the lease and answer how the attempt ended; `lost` if somebody else has the job."""
    for pause in (*SETTLE_AGAIN_SECONDS, None):
        try:
            ending = write(queue, job, outcome, logs)
        except LeaseLost:
            ending = "lost"
        except QueueError as error:
            log("miss_settle", "WARNING", reason=str(error))
            if pause is not None:
                time.sleep(pause)
                continue
            ending = "lost"
        log("settle", "WARNING" if ending == "lost" else "INFO", ending=ending, error_code=code_of(outcome))
        return ending
    raise AssertionError("the last round returns")


def write(queue: Queue, job: Job, outcome: Outcome, logs: str | None) -> str:
    match outcome:
        case Done():
            try:
                result = None if outcome.result is None else outcome.result.model_dump(mode="json")
                return queue.complete_job(job, result, outcome.follow_ups, outcome.writes, logs).status
            except (LeaseLost, Unavailable):
                raise
            except InvalidRequest as refusal:
                message = f"The queue refused what the handler returned: {refusal}"
                return write(queue, job, Failed("REFUSED", message, retryable=False), logs)
            except Exception as failure:
                return write(queue, job, outcome_of(failure), logs)
        case Failed():
            error = {"code": outcome.code, "message": presentable(outcome.message)}
            delay = None if outcome.delay is None else within_range(outcome.delay)
            status = queue.fail_job(job, error, outcome.retryable, delay, logs).status
            return "retried" if status == "queued" else status
        case Released():
            status = queue.release_job(job, within_range(outcome.delay)).status
            return "released" if status == "queued" else status
        case Lost():
            raise LeaseLost("the lease was lost while the handler ran")
        case _:
            assert_never(outcome)


def within_range(delay: float) -> float:
    # A date of long ago in a Retry-After header is a negative delay; what is no number is none at all.
    return min(delay, LONGEST_DELAY_SECONDS) if delay > 0 else 0.0


def code_of(outcome: Outcome) -> str | None:
    return outcome.code if isinstance(outcome, Failed) else None
