"""One try at one job: the handler in a thread of its own, its tools, and the lease that it runs under."""

import contextvars
import threading
import time
from collections.abc import Callable
from queue import SimpleQueue
from typing import Any

from tickwork.database import Connection
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
from tickwork.handler import Handlers, Tools
from tickwork.jobs import ClaimedJob, Done, Failed, Json, Lost, Outcome, Released
from tickwork.logs import log, log_exception, text_of
from tickwork.queue import Queue, lease_of

# How many heartbeats there are to a lease: one that gets lost is no harm.
BEATS_PER_LEASE = 3
# How often progress is worth a heartbeat of its own.
PROGRESS_SECONDS = 1.0
LONGEST_DELAY_SECONDS = 30 * 86_400.0


class Hand:
    """A thread that runs handlers. One that hangs or will not stop is left behind, and its handler with it.

    What that one does from then on is lost: only an outcome that is returned in time gets written.
    """

    def __init__(self) -> None:
        self._tasks: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._is_free = threading.Event()
        threading.Thread(target=self._work, daemon=True).start()

    def take(self, task: Callable[..., None], *arguments: Any) -> None:
        context = contextvars.copy_context()
        self._is_free.clear()
        self._tasks.put(lambda: context.run(task, *arguments))

    def wait(self, seconds: float) -> bool:
        """Whether it has done what it took, at the latest after so many seconds."""
        return self._is_free.wait(seconds)

    def rest(self) -> None:
        """End the thread, as soon as it has nothing more to do."""
        self._tasks.put(None)

    def _work(self) -> None:
        while task := self._tasks.get():
            try:
                task()
            finally:
                self._is_free.set()


class Attempt:
    def __init__(self, queue: Queue, job: ClaimedJob) -> None:
        self.job = job
        self.tools = Tools(job, self._under_lease)
        self.queue = queue
        self._outcome: Outcome | None = None
        self._interruption: Outcome | None = None
        self._leave_at = float("inf")
        self._lease_seconds = job.lease_seconds or 60
        self._last_beat = self._leased_at = time.monotonic()
        self._sent_progress: tuple[float, str | None] | None = None
        self._told_progress: tuple[float, str | None] | None = None
        self._holder: int | None = None

    def handle(self, handlers: Handlers) -> None:
        """Run the handler, here and now, and keep how it ended."""
        self.tools.start_clock()
        try:
            self._outcome = handled(self.job, handlers, self.tools)
        except Interrupted as error:
            self._outcome = self._interruption or Failed(error.code, text_of(error))
        except BaseException as error:
            outcome = outcome_of(error)
            if isinstance(error, Retryable | NotYet) and error.hold and self.job.lane:
                self._hold_lane(error.hold, text_of(error))
            self._outcome = outcome

    def is_finished(self) -> bool:
        return self._outcome is not None

    def interrupt(self, outcome: Outcome, patience: float) -> None:
        """Ask the handler to stop, and decide how the attempt ends if it does, or does not in time."""
        if self._interruption is None or isinstance(outcome, Lost):
            self._interruption = outcome
            self._leave_at = time.monotonic() + patience
            self.tools.interrupt(getattr(outcome, "message", type(outcome).__name__.lower()))

    def release(self) -> None:
        """It has not been started, and will not be here."""
        self.interrupt(Released(), 0)

    def is_interrupted(self) -> bool:
        return self._interruption is not None

    def is_to_be_left(self) -> bool:
        return time.monotonic() >= self._leave_at

    def outcome(self) -> Outcome:
        """How it ended, or, of a handler that is left behind, how that was decided."""
        return self._outcome or self._interruption or Lost()

    def beat_is_due(self) -> bool:
        passed = time.monotonic() - self._last_beat
        has_news = self.tools.latest_progress != self._sent_progress
        return passed > self._lease_seconds / BEATS_PER_LEASE or (has_news and passed > PROGRESS_SECONDS)

    def heartbeat(self) -> Json:
        """What to tell the queue: the lease, and how far the handler has come."""
        self._last_beat = time.monotonic()
        self._told_progress = self.tools.latest_progress
        progress, message = self._told_progress or (None, None)
        return {**lease_of(self.job), "progress": progress, "message": message}

    def note_beat(self) -> None:
        """The queue has heard it."""
        self._leased_at, self._sent_progress = self._last_beat, self._told_progress

    def lease_is_over(self) -> bool:
        return time.monotonic() > self._leased_at + self._lease_seconds

    def _hold_lane(self, seconds: float, reason: str) -> None:
        # Before the job is settled: between the two the lane waits for nothing, the other way round it would not wait.
        try:
            self.queue.hold_lane_of_job(self.job, within_range(seconds), reason)
        except QueueError as error:
            log("miss_hold", "WARNING", reason=str(error))

    def _under_lease(self, work: Callable[[Connection], Any]) -> Any:
        # The second transaction would wait for the job's row, which the first one holds, for ever.
        if self.is_finished() or self._holder == threading.get_ident():
            raise RuntimeError("a transaction under this lease is open already: use its connection")

        def held(connection: Connection) -> Any:
            self.queue.hold_job(self.job, connection)
            self._holder = threading.get_ident()
            try:
                return work(connection)
            finally:
                self._holder = None

        return self.queue.database.transaction(held)


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
