"""One attempt at one job: its lease, its tools, and how it ends."""

from __future__ import annotations

import threading
import time
from functools import lru_cache
from typing import TYPE_CHECKING

from tickwork import traces
from tickwork.errors import JobError, LeaseLost, NotYet, Permanent, Retryable, Unavailable
from tickwork.jobs.handler import Tools
from tickwork.jobs.outcomes import Failed, Json, Lost, Outcome, Released
from tickwork.logs import LABELS, Labels, bind, exception_text, log_exception, members, text_of, trace_members
from tickwork.queue import Queue
from tickwork.runtime import recorded
from tickwork.runtime.lease import Lease
from tickwork.traces import Trace, trace_of_job

if TYPE_CHECKING:
    from opentelemetry.trace import Span

    from tickwork.jobs.worked_job import WorkedJob


# Held while an attempt ends: its handler's thread and the one that abandons it may come at the same moment.
ENDING = threading.Lock()


class Attempt(Labels):
    """Its log lines have it as their labels."""

    # What most attempts never have of their own.
    _trace: Trace | None = None
    _span: Span | None = None
    _interruption: Outcome | None = None
    _abandon_at = float("inf")
    _sent_progress: tuple[float, str | None] | None = None
    _told_progress: tuple[float, str | None] | None = None
    _outcome: Outcome | None = None
    _ended_at: float | None = None
    # Whether its handler has returned, and what that wants written is being written.
    is_writing = False
    # How it ended, in the words of the report, once that is in the database; `lost` if somebody else has the job.
    ending: str | None = None

    def __init__(self, queue: Queue, job: WorkedJob) -> None:
        self.job = job
        self.queue = queue
        self.lease = Lease(queue, job)
        self.tools = Tools(job, self.lease.transaction)

    def trace(self) -> Trace:
        """Its place in the trace of the job: what its log lines and outgoing requests say."""
        if self._trace is None:
            self._trace = trace_of_job(self.job.id, self.job.trace)
        return self._trace

    def enter(self) -> None:
        """What runs in this context from now on belongs to it."""
        self._span = recorded.started_span(self.job)
        if self._span:
            self._trace = recorded.trace_of(self._span)
        bind(self)
        traces.enter(self.trace)

    def text(self) -> str:
        """What every log line says of it."""
        if self._text is None:
            job, trace = self.job, self.trace()
            same = same_labels(job.family, job.type, self.queue.worker_id, job.correlation_id)
            self._text = (
                f'"{LABELS}": {{"job_id": "{job.id}", "tenant_id": "{job.tenant_id}", "attempt": "{job.attempts}", '
                f'"trace_id": "{trace.trace_id}", "span_id": "{trace.span_id}", {same}}}, {trace_members(trace)}'
            )
            self.has_trace = True
        return self._text

    def interrupt(self, outcome: Outcome, patience: float) -> None:
        """Ask the handler to stop, and decide how the attempt ends if it does, or does not in time."""
        # Without a lease the job may also have been settled just now, by the transaction that writes. That finds out.
        if isinstance(outcome, Lost) and self.is_writing:
            return
        if self._interruption is None or isinstance(outcome, Lost):
            self._interruption = outcome
            self._abandon_at = time.monotonic() + patience
            self.tools.interrupt(getattr(outcome, "message", type(outcome).__name__.lower()))

    def interruption(self) -> Outcome | None:
        """How it is to end, if it was asked to stop."""
        return self._interruption

    def is_to_be_abandoned(self) -> bool:
        return time.monotonic() >= self._abandon_at

    def abandon(self) -> bool:
        """End it as was decided, without its handler; false if that has ended meanwhile."""
        if not self.finish(self._interruption or Lost()):
            return False
        self.lease.give_up()
        return True

    def release(self) -> None:
        """It has not been started, and will not be here."""
        self.interrupt(Released(), 0)
        self.abandon()

    def finish(self, outcome: Outcome, ending: str | None = None) -> bool:
        """Keep how it ended, and whether that is in the database already; false if it has ended before."""
        with ENDING:
            if self._outcome is not None:
                return False
            self._outcome = outcome
        self.ending = "lost" if isinstance(outcome, Lost) else ending
        self._ended_at = time.monotonic()
        if self._span:
            recorded.end(self._span, outcome)
        return True

    def note_settled(self, outcome: Outcome, ending: str) -> None:
        """It is in the database, with this outcome: that of the handler, or why that was refused."""
        self._outcome = outcome
        self.ending = ending

    def has_run_for(self, seconds: float) -> bool:
        began_at = self.tools.began_at
        return began_at is not None and (self._ended_at or time.monotonic()) - began_at > seconds

    def duration_ms(self) -> int | None:
        """How long its handler ran, with what it wanted written; None if it never started."""
        if self._ended_at is None or self.tools.began_at is None:
            return None
        return round((self._ended_at - self.tools.began_at) * 1000)

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


@lru_cache(256)
def same_labels(family: str, type: str, worker_id: str, correlation_id: str | None) -> str:
    """Those that many attempts have in common."""
    labels = {"family": family, "type": type, "worker_id": worker_id, "correlation_id": correlation_id}
    return members(labels)


def outcome_of(error: BaseException) -> Outcome:
    """How an attempt ends that was left by an exception."""
    match error:
        case NotYet():
            return Released(error.delay)
        case Permanent():
            return Failed(error.code, text_of(error), retryable=False, exception=told_to_operator(error))
        case Retryable():
            return Failed(error.code, text_of(error), delay=error.delay, exception=told_to_operator(error))
        case JobError():
            return Failed(error.code, text_of(error), exception=told_to_operator(error))
        case LeaseLost():
            return Lost()
        case Unavailable():
            return Failed("DATABASE_UNAVAILABLE", "The database could not be reached")
        case _:
            # Nobody wrote its text for the tenant: it may hold a path, a query or a secret.
            log_exception("handler_raised", error)
            words = f"{type(error).__name__} in the handler. The operator sees more with `tickwork job ID --operator`"
            return Failed("UNEXPECTED", words, exception=exception_text(error))


def told_to_operator(error: JobError) -> str | None:
    """What there is to know beyond its message, which the tenant reads."""
    if error.for_operator is None and error.__cause__ is not None:
        return exception_text(error)
    return error.for_operator
