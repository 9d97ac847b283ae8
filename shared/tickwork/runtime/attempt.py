"""One try at one job: its handler, the thread that this runs in, its tools, and the lease that it runs under."""

from __future__ import annotations

import contextvars
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tickwork.database.connection import Connection
from tickwork.errors import (
    Interrupted,
    JobError,
    LeaseLost,
    NotYet,
    Permanent,
    QueueError,
    Retryable,
    Unavailable,
    UnknownType,
)
from tickwork.jobs.handler import Handlers, Tools
from tickwork.jobs.outcomes import Done, Failed, Json, Lost, Outcome, Released
from tickwork.logs import log, log_exception, text_of
from tickwork.queue import Queue, lease_of

if TYPE_CHECKING:
    from tickwork.jobs.rows import ClaimedJob

# How many heartbeats there are to a lease: one that gets lost is no harm.
BEATS_PER_LEASE = 3
# How often progress is worth a heartbeat of its own.
PROGRESS_SECONDS = 1.0
LONGEST_DELAY_SECONDS = 30 * 86_400.0


class Hand:
    """A thread that works on its own. One whose handler hangs or will not stop is left behind, and its handler with it.

    What that one does from then on is lost: only an outcome that is there in time gets written.
    """

    def __init__(self, work: Callable[..., None], *arguments: Any) -> None:
        self._error: BaseException | None = None
        context = contextvars.copy_context()
        self._thread = threading.Thread(target=context.run, args=(self._run, work, *arguments), daemon=True)
        self._thread.start()

    def wait(self, seconds: float) -> bool:
        """Whether it has ended, at the latest after so many seconds; raises what it was ended by."""
        self._thread.join(seconds)
        if self._error:
            raise self._error
        return not self._thread.is_alive()

    def _run(self, work: Callable[..., None], *arguments: Any) -> None:
        try:
            work(*arguments)
        except BaseException as error:
            self._error = error


class Lease:
    """What an attempt can do at the queue, for as long as the job is its own.

    It knows neither the attempt nor its tools: such a circle would be left to the garbage collector, which would take a
    fifth of the time of small jobs.
    """

    def __init__(self, queue: Queue, job: ClaimedJob) -> None:
        self.queue = queue
        self.job = job
        self._seconds = job.lease_seconds or 60
        self._last_beat = self._leased_at = time.monotonic()
        self._holder: int | None = None
        self._is_settling = False

    def beat_is_due(self, has_news: bool) -> bool:
        passed = time.monotonic() - self._last_beat
        return passed > self._seconds / BEATS_PER_LEASE or (has_news and passed > PROGRESS_SECONDS)

    def begin_beat(self) -> Json:
        self._last_beat = time.monotonic()
        return lease_of(self.job)

    def note_beat(self) -> None:
        self._leased_at = self._last_beat

    def is_over(self) -> bool:
        return time.monotonic() > self._leased_at + self._seconds

    def hold_lane(self, seconds: float, reason: str) -> None:
        # Before the job is settled: between the two the lane waits for nothing, the other way round it would not wait.
        try:
            self.queue.hold_lane_of_job(self.job, within_range(seconds), reason)
        except QueueError as error:
            log("miss_hold", "WARNING", reason=str(error))

    def begin_settling(self) -> None:
        """From now on the job's row belongs to the transaction that completes it."""
        self._is_settling = True

    def transaction(self, work: Callable[[Connection], Any]) -> Any:
        # The second transaction would wait for the job's row, which the first one holds, for ever.
        if self._is_settling or self._holder == threading.get_ident():
            raise RuntimeError("a transaction under this lease is open already: use its connection")

        def held(connection: Connection) -> Any:
            self.queue.hold_job(self.job, connection)
            self._holder = threading.get_ident()
            try:
                return work(connection)
            finally:
                self._holder = None

        return self.queue.database.transaction(held)


class Attempt:
    def __init__(self, queue: Queue, job: ClaimedJob) -> None:
        self.job = job
        self.queue = queue
        self.lease = Lease(queue, job)
        self.tools = Tools(job, self.lease.transaction)
        self._outcome: Outcome | None = None
        self._is_taken = threading.Lock()
        self._interruption: Outcome | None = None
        self._leave_at = float("inf")
        self._sent_progress: tuple[float, str | None] | None = None
        self._told_progress: tuple[float, str | None] | None = None

    def labels(self) -> dict[str, object]:
        """What every log line says of it."""
        return {
            "job_id": self.job.id,
            "tenant_id": self.job.tenant_id,
            "family": self.job.family,
            "type": self.job.type,
            "attempt": self.job.attempts,
            "worker_id": self.job.worker_id,
        }

    def handle(self, handlers: Handlers) -> bool:
        """Run the handler, here and now, and keep how it ended; false if it was left behind meanwhile."""
        self.tools.start_clock()
        try:
            outcome: Outcome = handled(self.job, handlers, self.tools)
        except Interrupted as error:
            outcome = self._interruption or Failed(error.code, text_of(error))
        except BaseException as error:
            outcome = outcome_of(error)
            if isinstance(error, Retryable | NotYet) and error.hold and self.job.lane:
                self.lease.hold_lane(error.hold, text_of(error))
        return self._finish(outcome)

    def interrupt(self, outcome: Outcome, patience: float) -> None:
        """Ask the handler to stop, and decide how the attempt ends if it does, or does not in time."""
        if self._interruption is None or isinstance(outcome, Lost):
            self._interruption = outcome
            self._leave_at = time.monotonic() + patience
            self.tools.interrupt(getattr(outcome, "message", type(outcome).__name__.lower()))

    def is_interrupted(self) -> bool:
        return self._interruption is not None

    def is_to_be_left(self) -> bool:
        return time.monotonic() >= self._leave_at

    def leave(self) -> bool:
        """End it as was decided, without its handler; false if that has come to its end meanwhile."""
        return self._finish(self._interruption or Lost())

    def release(self) -> None:
        """It has not been started, and will not be here."""
        self.interrupt(Released(), 0)
        self.leave()

    def is_finished(self) -> bool:
        return self._outcome is not None

    def outcome(self) -> Outcome:
        """How it ended."""
        assert self._outcome is not None
        return self._outcome

    def beat_is_due(self) -> bool:
        return self.lease.beat_is_due(self.tools.latest_progress != self._sent_progress)

    def heartbeat(self) -> Json:
        """What to tell the queue: the lease, and how far the handler has come."""
        self._told_progress = self.tools.latest_progress
        progress, message = self._told_progress or (None, None)
        return {**self.lease.begin_beat(), "progress": progress, "message": message}

    def note_beat(self) -> None:
        """The queue has heard it."""
        self.lease.note_beat()
        self._sent_progress = self._told_progress

    def lease_is_over(self) -> bool:
        return self.lease.is_over()

    def _finish(self, outcome: Outcome) -> bool:
        # The handler's thread and the one that leaves it behind may come at the same moment: the first one settles.
        if not self._is_taken.acquire(blocking=False):
            return False
        if isinstance(outcome, Done):
            self.lease.begin_settling()
        self._outcome = outcome
        return True


def handled(job: ClaimedJob, handlers: Handlers, tools: Tools) -> Done:
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


def within_range(delay: float) -> float:
    # A date of long ago in a Retry-After header is a negative delay; what is no number is none at all.
    return min(delay, LONGEST_DELAY_SECONDS) if delay > 0 else 0.0
