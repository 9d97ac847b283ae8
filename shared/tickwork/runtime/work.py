"""Runs handlers side by side, each in a thread, while the caller watches them."""

from __future__ import annotations

import contextvars
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from tickwork.jobs.handler import Handlers
from tickwork.jobs.outcomes import Done, Report
from tickwork.queue import Queue
from tickwork.runtime import watch
from tickwork.runtime.attempt import Attempt
from tickwork.runtime.deadline import Deadline
from tickwork.runtime.exchange import Exchange
from tickwork.runtime.run import run
from tickwork.runtime.settle import settle_alone

if TYPE_CHECKING:
    from tickwork.runtime.presence import Presence

# How long a job may wait for the threads that are there before there is one more.
HURRY_SECONDS = 0.003
# How long a thread without a job stays.
REST_SECONDS = 1.0


def work(
    queue: Queue,
    family: str,
    handlers: Handlers,
    deadline: Deadline,
    presence: Presence | None = None,
    concurrency: int = 1,
    log_each_job: bool = False,
) -> Report:
    """Claim, run and settle jobs of one family, up to so many at a time, until none is due or time is short."""
    loop = Loop(queue, {family: handlers}, deadline, concurrency, log_each_job)
    try:
        loop.claim()
        while loop.is_busy():
            loop.watch(watch.LOOK_SECONDS)
            if presence:
                presence.note()
    finally:
        loop.close()
    return loop.exchange.report


class HandlerThread:
    """A thread that runs handlers, one at a time."""

    attempt: Attempt | None = None
    has_run = True


class Loop:
    """One thread runs what waits, as long as its handlers are quick; there are more, up to the concurrency, if jobs
    wait for it. A thread that finds nothing to run settles what is finished and claims the next jobs itself."""

    def __init__(
        self,
        queue: Queue,
        families: Mapping[str, Handlers],
        deadline: Deadline,
        concurrency: int = 1,
        log_each_job: bool = False,
    ) -> None:
        self.exchange = Exchange(queue, families, deadline, concurrency, log_each_job)
        # Set when there is something to do for the thread that watches.
        self.wake = threading.Event()
        self._families = families
        self._deadline = deadline
        self._concurrency = concurrency
        self._threads: set[HandlerThread] = set()
        self._resting = 0
        self._rested = threading.Condition()
        self._taken = 0
        self._taken_before = (0, 0.0)
        self._look_at = 0.0
        self._helper_called = threading.Event()
        self._has_helper = False
        self._oldest_finished: Attempt | None = None
        self._errors: deque[BaseException] = deque()

    def announce(self, *families: str) -> None:
        """They may have due jobs: to be called by any thread."""
        self.exchange.turns.announce(*families)
        self.wake.set()

    def claim(self) -> None:
        """Look for jobs, if there is room for any."""
        if not self.exchange.may_get_more():
            return
        # While others are watched, nothing may be waited for here.
        if self.is_busy():
            self._call_helper()
        elif self.exchange.run():
            self._wake_others(0)
            self._start_threads()

    def is_busy(self) -> bool:
        return self.exchange.held > 0 or self.exchange.is_running()

    def watch(self, seconds: float) -> None:
        """Wait until there is something to do, at most for so long, and do it. Raises what has ended a thread."""
        is_hurried = self.exchange.waiting or (self.exchange.finished and self._concurrency > 1)
        self.wake.wait(min(seconds, HURRY_SECONDS) if is_hurried else seconds)
        self.wake.clear()
        if self._errors:
            raise self._errors.popleft()
        if time.monotonic() >= self._look_at:
            self._look_at = time.monotonic() + watch.LOOK_SECONDS
            self._look()
        self._settle_in_time()
        self._start_threads()

    def close(self) -> None:
        """Start and claim no more: nobody watches any longer."""
        self.exchange.is_closed = True
        self._helper_called.set()
        with self._rested:
            self._rested.notify_all()

    def _look(self) -> None:
        for thread in list(self._threads):
            attempt = thread.attempt
            if attempt and attempt.is_to_be_abandoned() and attempt.abandon():
                attempt.log("leave_handler", "WARNING", reason=repr(attempt.outcome()))
                self._threads.discard(thread)
                self.exchange.finished.append(attempt)
        if self._deadline.is_stopped():
            self.exchange.release_waiting()
        running = [thread.attempt for thread in list(self._threads) if thread.attempt]
        exchange = self.exchange
        held = [*exchange.waiting.copy(), *running, *exchange.finished.copy(), *exchange.under_way]
        watch.keep_leases([attempt for attempt in held if attempt.ending is None])
        for attempt in running:
            watch.stop_in_time(attempt, self._deadline)
        # Nobody else may be there to settle what has been released or abandoned.
        if exchange.finished and not (self._concurrency == 1 and self._threads):
            self._call_helper()

    def _settle_in_time(self) -> None:
        """Who waits for a result need not wait for other jobs."""
        finished = self.exchange.finished
        oldest = next(iter(finished.copy()), None) if self._concurrency > 1 else None
        if oldest and oldest is self._oldest_finished and not self.exchange.is_running():
            self._call_helper()
        self._oldest_finished = oldest

    def _start_threads(self) -> None:
        """One at first; twice as many whenever nobody has taken a job for a while."""
        waiting = len(self.exchange.waiting)
        if not waiting or (self._threads and self._are_quick()):
            return
        self._taken_before = (self._taken, time.monotonic())
        if self._resting:
            with self._rested:
                self._rested.notify(waiting)
            return
        for _ in range(min(waiting, max(1, len(self._threads)), self._concurrency - len(self._threads))):
            thread = HandlerThread()
            self._threads.add(thread)
            self._start(self._work, thread)

    def _are_quick(self) -> bool:
        taken, since = self._taken_before
        if taken == self._taken:
            return time.monotonic() < since + HURRY_SECONDS
        self._taken_before = (self._taken, time.monotonic())
        return True

    def _start(self, target: Callable[..., None], *arguments: HandlerThread) -> None:
        context = contextvars.copy_context()
        threading.Thread(target=context.run, args=(self._guarded, target, *arguments), daemon=True).start()

    def _guarded(self, target: Callable[..., None], *arguments: HandlerThread) -> None:
        try:
            target(*arguments)
        except BaseException as error:
            self._errors.append(error)
        for thread in arguments:
            self._threads.discard(thread)
        self.wake.set()

    def _work(self, thread: HandlerThread) -> None:
        """Run what waits, settle and claim, until nothing waits for a while or this thread is abandoned."""
        while self._run_waiting(thread) and (self._exchange() or self._rest(thread)):
            pass

    def _run_waiting(self, thread: HandlerThread) -> bool:
        exchange = self.exchange
        while not exchange.is_closed:
            try:
                attempt = exchange.waiting.popleft()
            except IndexError:
                return True
            thread.attempt = attempt
            thread.has_run = True
            self._taken += 1
            # What is bound for one job is not there for the next one, nor what its handler sets for itself.
            if not contextvars.copy_context().run(self._run, attempt):
                return False
            exchange.finished.append(attempt)
            thread.attempt = None
            if exchange.has_enough():
                self._call_helper()
        return False

    def _run(self, attempt: Attempt) -> bool:
        """Run it, and keep how it ended; false if it was abandoned meanwhile."""
        if attempt.interruption():
            return attempt.abandon()
        attempt.enter()
        if self.exchange.has_lines:
            attempt.log("claim")
        outcome = run(attempt, self._families[attempt.job.family])
        if isinstance(outcome, Done) and outcome.writes:
            # Here, because that may take as long as the handler: it can be abandoned in the same way.
            attempt.is_writing = True
            return attempt.finish(*settle_alone(attempt, outcome, self._deadline))
        return attempt.finish(outcome)

    def _exchange(self) -> bool:
        if not self.exchange.is_due() or not self.exchange.run():
            return False
        self._wake_others(1)
        return True

    def _wake_others(self, own: int) -> None:
        """Wake those who can take what waits beyond one's own, or settle what has been finished meanwhile."""
        others = len(self.exchange.waiting) - own
        if others > 0:
            self.wake.set()
        if self._resting and (others > 0 or self.exchange.finished):
            with self._rested:
                self._rested.notify(max(1, others))

    def _rest(self, thread: HandlerThread) -> bool:
        """Wait for something to do; false if there was nothing for a while, or others were quicker."""
        if self.exchange.held == 0:
            self.wake.set()
        with self._rested:
            is_over = not thread.has_run
            thread.has_run = False
            self._resting += 1
            try:
                while not self.exchange.is_closed:
                    if self.exchange.waiting or (self.exchange.finished and not self.exchange.is_running()):
                        return True
                    if is_over:
                        return False
                    is_over = not self._rested.wait(REST_SECONDS)
                return False
            finally:
                self._resting -= 1

    def _call_helper(self) -> None:
        """Let another thread settle and claim, while this one goes on."""
        with self._rested:
            if not self._has_helper:
                self._has_helper = True
                self._start(self._help)
        self._helper_called.set()

    def _help(self) -> None:
        while not self.exchange.is_closed:
            self._helper_called.wait()
            self._helper_called.clear()
            while self._exchange_for_others() and self.exchange.has_enough():
                pass

    def _exchange_for_others(self) -> bool:
        if self.exchange.is_closed or not self.exchange.is_due() or not self.exchange.run():
            return False
        self._wake_others(0)
        return True
