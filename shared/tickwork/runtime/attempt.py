"""One attempt at one job: its handler, its tools, and how it ends."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

from tickwork.errors import (
    Interrupted,
    JobError,
    LeaseLost,
    NotYet,
    Permanent,
    Retryable,
    Unavailable,
    UnknownType,
)
from tickwork.jobs.handler import Handlers, Tools
from tickwork.jobs.outcomes import Done, Failed, Json, Lost, Outcome, Released
from tickwork.logs import log_exception, text_of
from tickwork.queue import Queue
from tickwork.runtime.lease import Lease

if TYPE_CHECKING:
    from tickwork.jobs.rows import ClaimedJob


class Attempt:
    def __init__(self, queue: Queue, job: ClaimedJob) -> None:
        self.job = job
        self.queue = queue
        self.lease = Lease(queue, job)
        self.tools = Tools(job, self.lease.transaction)
        self._outcome: Outcome | None = None
        self._is_taken = threading.Lock()
        self._interruption: Outcome | None = None
        self._abandon_at = float("inf")
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

    def run(self, handlers: Handlers) -> bool:
        """Run the handler, here and now, and keep how it ended; false if it was abandoned meanwhile."""
        self.tools.start_clock()
        try:
            outcome: Outcome = run_handler(self.job, handlers, self.tools)
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
            self._abandon_at = time.monotonic() + patience
            self.tools.interrupt(getattr(outcome, "message", type(outcome).__name__.lower()))

    def is_interrupted(self) -> bool:
        return self._interruption is not None

    def is_to_be_abandoned(self) -> bool:
        return time.monotonic() >= self._abandon_at

    def abandon(self) -> bool:
        """End it as was decided, without its handler; false if that has ended meanwhile."""
        return self._finish(self._interruption or Lost())

    def release(self) -> None:
        """It has not been started, and will not be here."""
        self.interrupt(Released(), 0)
        self.abandon()

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
        """The queue has received it."""
        self.lease.note_beat()
        self._sent_progress = self._told_progress

    def _finish(self, outcome: Outcome) -> bool:
        # The handler's thread and the one that abandons it may come at the same moment: the first one settles.
        if not self._is_taken.acquire(blocking=False):
            return False
        if isinstance(outcome, Done):
            self.lease.begin_settling()
        self._outcome = outcome
        return True


def run_handler(job: ClaimedJob, handlers: Handlers, tools: Tools) -> Done:
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
