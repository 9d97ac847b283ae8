"""The life of a running job: claim, run, settle; one job at a time in each of one or more threads."""

from __future__ import annotations

import contextvars
import threading
from collections.abc import Mapping
from typing import TYPE_CHECKING

from tickwork.errors import QueueError
from tickwork.jobs.handler import Handlers
from tickwork.jobs.outcomes import Lost, Report
from tickwork.logs import bound, log
from tickwork.queue import Queue
from tickwork.runtime import watch
from tickwork.runtime.attempt import Attempt
from tickwork.runtime.deadline import Deadline
from tickwork.runtime.run import run
from tickwork.runtime.settle import settle, settle_and_claim
from tickwork.runtime.turns import Turns
from tickwork.runtime.worker_thread import WorkerThread

if TYPE_CHECKING:
    from tickwork.jobs.rows import ClaimedJob
    from tickwork.runtime.presence import Presence


def work(queue: Queue, family: str, handlers: Handlers, deadline: Deadline, presence: Presence | None = None) -> Report:
    """Claim, run and settle jobs of one family, one at a time, until none is due or time is short."""
    loop = Loop(queue, {family: handlers}, deadline)
    loop.start_slot()
    try:
        while loop.slots:
            loop.watch(watch.LOOK_SECONDS)
            if presence:
                presence.note()
    except BaseException:
        loop.close()
        raise
    return loop.report


class Slot:
    """Room for one handler at a time, in a thread of its own."""

    def __init__(self) -> None:
        self.attempt: Attempt | None = None
        self.thread: WorkerThread | None = None


class Loop:
    """Runs as many handlers at a time as there is room for, while the caller watches them."""

    def __init__(self, queue: Queue, families: Mapping[str, Handlers], deadline: Deadline, max_slots: int = 1) -> None:
        self.report = Report(" ".join(families))
        self.turns = Turns(families)
        # Those that are in use. Only the thread that watches them changes it.
        self.slots: set[Slot] = set()
        # Set when there is something to do for the thread that watches.
        self.wake = threading.Event()
        self._queue = queue
        self._families = families
        self._deadline = deadline
        self._max_slots = max_slots
        self._is_closed = False
        self._adding = threading.Lock()

    def start_slot(self) -> None:
        """Put one more slot to use, if there is one and a job may be due."""
        if len(self.slots) >= self._max_slots or not self._may_claim() or not self.turns.is_anybodys():
            return
        # While others are watched, nothing may be waited for here.
        if self.slots:
            self._use(Slot(), None)
        elif job := self._claim():
            self._use(Slot(), job)

    def watch(self, seconds: float) -> None:
        """Wait until there is something to do, at most for so long, and do it. Raises what has ended a thread."""
        self.wake.wait(seconds)
        self.wake.clear()
        for slot in list(self.slots):
            if slot.attempt and slot.attempt.is_to_be_abandoned() and slot.attempt.abandon():
                self.slots.remove(slot)
                self._use(Slot(), slot.attempt)
        held = [slot.attempt for slot in self.slots if slot.attempt and not slot.attempt.ending]
        watch.keep_leases(held)
        for attempt in held:
            watch.stop_in_time(attempt, self._deadline)
        self._free_slots()

    def announce(self, *families: str) -> None:
        """They may have due jobs: to be called by any thread."""
        self.turns.announce(*families)
        self.wake.set()

    def close(self) -> None:
        """Claim no more: nobody watches any longer."""
        self._is_closed = True

    def _use(self, slot: Slot, first: ClaimedJob | Attempt | None) -> None:
        self.slots.add(slot)
        slot.thread = WorkerThread(self._work, slot, first, on_end=self.wake.set)

    def _free_slots(self) -> None:
        for slot in list(self.slots):
            assert slot.thread is not None
            try:
                if slot.thread.wait(0):
                    self.slots.remove(slot)
            except BaseException:
                self.slots.remove(slot)
                raise

    def _work(self, slot: Slot, first: ClaimedJob | Attempt | None) -> None:
        """Run and settle this job, claim the next one, and so on until none is due or this thread is abandoned."""
        job = self._go_on_without(first) if isinstance(first, Attempt) else first or self._claim()
        while job:
            # There may be more.
            if len(self.slots) < self._max_slots:
                self.wake.set()
            attempt = slot.attempt = Attempt(self._queue, job)
            # What is bound for one job is not there for the next one, nor what its handler sets for itself.
            context = contextvars.copy_context()
            if not context.run(self._run, attempt):
                return
            job = context.run(self._settle, attempt) or self._claim()

    def _claim(self) -> ClaimedJob | None:
        """The next due job of the family whose turn it is, or of another one."""
        while self._may_claim() and (family := self.turns.begin()):
            job = None
            try:
                job = self._queue.claim_next_job(family, types=self._families[family])
            except QueueError as error:
                if self.report.claimed == 0:
                    raise
                # What was done so far is worth reporting; the next wake-up sees for itself.
                log("fail_to_claim", "WARNING", family=family, reason=str(error), hint=error.hint)
            finally:
                if job is None:
                    self.turns.end_without_job(family)
            if job:
                self.turns.announce(family)
                return job
        return None

    def _go_on_without(self, attempt: Attempt) -> ClaimedJob | None:
        """Settle an abandoned attempt; returns the job that is next."""
        with bound(**attempt.labels()):
            log("leave_handler", "WARNING", reason=repr(attempt.outcome()))
            job = self._settle(attempt)
        return job or self._claim()

    def _run(self, attempt: Attempt) -> bool:
        attempt.enter()
        log("claim")
        self._deadline.count_jobs()
        return run(attempt, self._families[attempt.job.family], self._deadline)

    def _settle(self, attempt: Attempt) -> ClaimedJob | None:
        """Settle it, unless its writes have done so; returns the job that was claimed with that, if there was one."""
        self.turns.end(attempt.job.family)
        job = None
        if attempt.ending is None and self._may_claim() and not isinstance(attempt.outcome(), Lost):
            job = self._settle_and_claim(attempt, self.turns.begin() or self.turns.begin_with(attempt.job.family))
        if attempt.ending is None:
            settle(attempt, self._deadline)
        with self._adding:
            self.report.add(str(attempt.ending))
        return job

    def _settle_and_claim(self, attempt: Attempt, family: str) -> ClaimedJob | None:
        job = settle_and_claim(attempt, family, self._families[family])
        if job:
            self.turns.announce(family)
        else:
            self.turns.end(family)
        return job

    def _may_claim(self) -> bool:
        return self._deadline.allows_claims() and not self._is_closed
