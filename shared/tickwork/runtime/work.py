"""Runs handlers side by side, each in a thread, while the caller watches them."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING

from tickwork.jobs.handler import Handlers
from tickwork.jobs.outcomes import Report
from tickwork.queue import Queue
from tickwork.runtime import watch
from tickwork.runtime.deadline import Deadline
from tickwork.runtime.exchange import Exchange
from tickwork.runtime.threads import QUICK_SECONDS, Threads

if TYPE_CHECKING:
    from tickwork.runtime.presence import Presence


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
        loop.raise_error()
    finally:
        loop.close()
    return loop.exchange.report


class Loop:
    """Watches what the threads run."""

    def __init__(
        self,
        queue: Queue,
        families: Mapping[str, Handlers],
        deadline: Deadline,
        concurrency: int = 1,
        log_each_job: bool = False,
    ) -> None:
        self.exchange = Exchange(queue, families, deadline, concurrency, log_each_job)
        # Set when there is something to do for the thread that watches. While that looks every few milliseconds anyway,
        # nobody takes the time.
        self.wake = threading.Event()
        self._sleeps = False
        self._threads = Threads(self.exchange, self._hear)
        self._deadline = deadline
        self._look_at = 0.0

    def announce(self, *families: str) -> None:
        """They may have due jobs: to be called by any thread."""
        self.exchange.turns.announce(*families)
        self.wake.set()

    def claim(self) -> None:
        """Look for jobs, if there is room for any."""
        if not self.exchange.may_get_more():
            return
        # While others are watched, nothing may be waited for here.
        if self.is_busy() or (self.exchange.settle_and_claim() and self.exchange.held):
            self._threads.lead_at_once()

    def is_busy(self) -> bool:
        return self.exchange.held > 0 or self._threads.is_led()

    def watch(self, seconds: float) -> None:
        """Wait until there is something to do, at most for so long, and do it. Raises what has ended a thread."""
        self._sleeps = True
        if self.exchange.is_behind():
            self._sleeps = False
            seconds = min(seconds, QUICK_SECONDS)
        self.wake.wait(seconds)
        self.wake.clear()
        self.raise_error()
        if time.monotonic() >= self._look_at:
            self._look_at = time.monotonic() + watch.LOOK_SECONDS
            self._look()
        if self.exchange.is_behind():
            self._threads.keep_led()

    def raise_error(self) -> None:
        """What has ended a thread."""
        if self._threads.errors:
            raise self._threads.errors.pop(0)

    def close(self) -> None:
        """Start and claim no more: nobody watches any longer."""
        self._threads.close()

    def _hear(self) -> None:
        if self._sleeps:
            self.wake.set()

    def _look(self) -> None:
        exchange = self.exchange
        for thread, attempt in self._threads.running():
            if attempt.is_to_be_abandoned() and attempt.abandon():
                attempt.log("leave_handler", "WARNING", reason=repr(attempt.outcome()))
                self._threads.abandon(thread)
                exchange.add_finished(attempt)
        running = [attempt for _, attempt in self._threads.running()]
        held = [*exchange.waiting.copy(), *running, *exchange.finished.copy(), *exchange.under_way]
        watch.keep_leases([attempt for attempt in held if attempt.ending is None])
        for attempt in running:
            watch.stop_in_time(attempt, self._deadline)
