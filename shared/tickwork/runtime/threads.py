"""The threads that run handlers. One of them leads: it does everything, as long as its handlers are quick."""

from __future__ import annotations

import contextvars
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

from tickwork.jobs.outcomes import Done
from tickwork.runtime.run import run
from tickwork.runtime.settle import settle

if TYPE_CHECKING:
    from tickwork.runtime.attempt import Attempt
    from tickwork.runtime.exchange import Exchange

# A handler that takes longer is slow: meanwhile another thread leads.
QUICK_SECONDS = 0.003
# How long a thread without anything to do stays.
IDLE_SECONDS = 1.0


class HandlerThread:
    """A thread that runs handlers, one at a time."""

    attempt: Attempt | None = None

    def __init__(self) -> None:
        self.woken = threading.Event()


class Threads:
    """The thread that leads runs what waits, and settles and claims in between. If that takes long, another one leads
    meanwhile; who comes back leads again if nobody else does, and else is idle until it is needed. So as many handlers
    run side by side as wait for something, and where none does, no two threads contend for the interpreter."""

    def __init__(self, exchange: Exchange, tell: Callable[[], None]) -> None:
        """`tell` is called when those who watch may have to do something: something waits, or nothing is left."""
        self.errors: list[BaseException] = []
        self._exchange = exchange
        self._tell = tell
        self._context = contextvars.copy_context()
        self._threads: set[HandlerThread] = set()
        self._idle: list[HandlerThread] = []
        self._leader: HandlerThread | None = None
        # Held while that changes.
        self._changing = threading.Lock()
        # Types whose latest handler was slow: another thread leads at once.
        self._slow_types: set[str] = set()

    def is_led(self) -> bool:
        return self._leader is not None

    def running(self) -> list[tuple[HandlerThread, Attempt]]:
        return [(thread, thread.attempt) for thread in list(self._threads) if thread.attempt]

    def keep_led(self) -> None:
        """Let another thread lead if nobody does, or if the handler of the one that leads is slow."""
        leader = self._leader
        attempt = leader and leader.attempt
        if attempt and not attempt.has_run_for(QUICK_SECONDS):
            return
        if attempt:
            self._slow_types.add(attempt.job.type)
        self.lead_at_once()

    def lead_at_once(self) -> None:
        """Let another thread lead if nobody does, or if the one that leads is inside a handler."""
        leader = self._leader
        if not leader or leader.attempt:
            self._lead_instead_of(leader)

    def abandon(self, thread: HandlerThread) -> None:
        """It runs nothing any more."""
        with self._changing:
            self._threads.discard(thread)
            if self._leader is thread:
                self._leader = None

    def close(self) -> None:
        with self._changing:
            self._exchange.is_closed = True
            self._leader = None
            while self._idle:
                self._idle.pop().woken.set()

    def _lead_instead_of(self, leader: HandlerThread | None) -> None:
        with self._changing:
            if self._leader is not leader or self._exchange.is_closed:
                return
            if self._idle:
                self._leader = self._idle.pop()
                self._leader.woken.set()
                return
            thread = HandlerThread()
            context = self._context.copy()
            try:
                threading.Thread(target=context.run, args=(self._work, thread), daemon=True).start()
            except RuntimeError:
                # The machine allows no more of them: the one that leads goes on, if there is one.
                if not leader:
                    raise
                return
            self._threads.add(thread)
            self._leader = thread

    def _work(self, thread: HandlerThread) -> None:
        try:
            while self._is_to_lead(thread):
                self._lead(thread)
        except BaseException as error:
            self.errors.append(error)
        self.abandon(thread)
        self._tell()

    def _is_to_lead(self, thread: HandlerThread) -> bool:
        """Wait until this thread leads; false if it is not needed any more."""
        with self._changing:
            if self._exchange.is_closed or thread not in self._threads:
                return False
            if self._leader in (None, thread):
                # Something may have come up since this thread has looked.
                self._leader = thread if self._exchange.has_work() else None
                if self._leader:
                    return True
            self._idle.append(thread)
            thread.woken.clear()
        self._tell()
        thread.woken.wait(IDLE_SECONDS)
        with self._changing:
            if thread in self._idle:
                self._idle.remove(thread)
                return False
        return not self._exchange.is_closed

    def _lead(self, thread: HandlerThread) -> None:
        """Until there is nothing to do, or somebody else leads."""
        exchange = self._exchange
        while self._leader is thread:
            if exchange.waiting and not exchange.is_urgent():
                self._run_next(thread)
                continue
            if exchange.waiting:
                self._lead_instead_of(thread)
            if not exchange.is_due() or not exchange.settle_and_claim():
                return
            if len(exchange.waiting) > 1:
                self._tell()

    def _run_next(self, thread: HandlerThread) -> None:
        exchange = self._exchange
        attempt = thread.attempt = exchange.next_waiting()
        if not attempt:
            return
        if attempt.job.type in self._slow_types and (exchange.waiting or exchange.finished):
            self._lead_instead_of(thread)
        # What is bound for one job is not there for the next one, nor what its handler sets for itself.
        if not contextvars.copy_context().run(self._run, attempt):
            self.abandon(thread)
            return
        exchange.add_finished(attempt)
        thread.attempt = None
        if attempt.has_run_for(QUICK_SECONDS):
            self._slow_types.add(attempt.job.type)
        elif self._slow_types:
            self._slow_types.discard(attempt.job.type)

    def _run(self, attempt: Attempt) -> bool:
        """Run it, and keep how it ended; false if it was abandoned meanwhile."""
        if attempt.interruption():
            return attempt.abandon()
        attempt.enter()
        exchange = self._exchange
        if exchange.has_lines:
            attempt.log("claim")
        outcome = run(attempt, exchange.families[attempt.job.family])
        if isinstance(outcome, Done) and outcome.writes:
            # Here, because that may take as long as the handler: it can be abandoned in the same way.
            attempt.is_writing = True
            return attempt.finish(*settle(attempt, outcome, exchange.deadline))
        return attempt.finish(outcome)
