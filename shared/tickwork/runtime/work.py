"""The life of a running job: claim, run, settle; one job at a time."""

from __future__ import annotations

import contextvars
from typing import TYPE_CHECKING

from tickwork.errors import QueueError
from tickwork.jobs.handler import Handlers
from tickwork.jobs.outcomes import Lost, Report
from tickwork.logs import bind, bound, log
from tickwork.queue import Queue
from tickwork.runtime import watch
from tickwork.runtime.attempt import Attempt
from tickwork.runtime.deadline import Deadline
from tickwork.runtime.run import run
from tickwork.runtime.settle import settle, settle_and_claim
from tickwork.runtime.worker_thread import WorkerThread

if TYPE_CHECKING:
    from tickwork.jobs.rows import ClaimedJob


def work(queue: Queue, family: str, handlers: Handlers, deadline: Deadline) -> Report:
    """Claim, run and settle jobs of one family, one at a time, until none is due or time is short."""
    loop = Loop(queue, family, handlers, deadline)
    job = loop.claim()
    while job:
        job = watch_thread(loop, WorkerThread(loop.work_from, job))
    return loop.report


class Loop:
    """Runs in a worker thread, while the caller watches it."""

    def __init__(self, queue: Queue, family: str, handlers: Handlers, deadline: Deadline) -> None:
        self.deadline = deadline
        self.report = Report(family)
        self.attempt: Attempt | None = None
        self._queue = queue
        self._family = family
        self._handlers = handlers
        self._is_closed = False

    def work_from(self, job: ClaimedJob | None) -> None:
        """Run and settle this job, claim the next one, and so on until none is due or this thread is abandoned."""
        while job:
            attempt = self.attempt = Attempt(self._queue, job)
            # What is bound for one job is not there for the next one, nor what its handler sets for itself.
            context = contextvars.copy_context()
            if not context.run(self._run, attempt):
                return
            job = context.run(self._settle, attempt) or self.claim()

    def claim(self) -> ClaimedJob | None:
        if not self._may_claim():
            return None
        try:
            return self._queue.claim_next_job(self._family, types=self._handlers)
        except QueueError as error:
            if self.report.claimed == 0:
                raise
            # What was done so far is worth reporting; the next wake-up sees for itself.
            log("fail_to_claim", "WARNING", reason=str(error))
            return None

    def go_on_without(self, attempt: Attempt) -> ClaimedJob | None:
        """Settle an abandoned attempt; returns the job that is next."""
        with bound(**attempt.labels()):
            log("leave_handler", "WARNING", reason=repr(attempt.outcome()))
            job = self._settle(attempt)
        return job or self.claim()

    def close(self) -> None:
        """Claim no more: nobody watches any longer."""
        self._is_closed = True

    def _run(self, attempt: Attempt) -> bool:
        bind(attempt.labels)
        log("claim")
        self.deadline.count_jobs()
        return run(attempt, self._handlers, self.deadline)

    def _settle(self, attempt: Attempt) -> ClaimedJob | None:
        """Settle it, unless its writes have done so; returns the job that was claimed with that, if there was one."""
        job = None
        if attempt.ending is None and self._may_claim() and not isinstance(attempt.outcome(), Lost):
            job = settle_and_claim(attempt, self._handlers)
        if attempt.ending is None:
            settle(attempt, self.deadline)
        self.report.add(str(attempt.ending))
        return job

    def _may_claim(self) -> bool:
        return self.deadline.allows_claims() and not self._is_closed


def watch_thread(loop: Loop, thread: WorkerThread) -> ClaimedJob | None:
    """Watch a worker thread until it ends; if it has to be abandoned, returns the job for another one."""
    try:
        while not thread.wait(watch.LOOK_SECONDS):
            attempt = loop.attempt
            if attempt is None or attempt.ending:
                continue
            if attempt.is_to_be_abandoned() and attempt.abandon():
                return loop.go_on_without(attempt)
            with bound(**attempt.labels()):
                watch.keep_leases([attempt])
                watch.stop_in_time(attempt, loop.deadline)
        return None
    except BaseException:
        loop.close()
        raise
