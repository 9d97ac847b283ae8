"""The lease of an attempt: for how long the job is its own, and what it may do at the queue meanwhile."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import closing
from typing import Any

from tickwork import traces
from tickwork.database.breakable import Breakable
from tickwork.database.connection import Connection
from tickwork.errors import LeaseLost, QueueError
from tickwork.jobs.outcomes import Json
from tickwork.logs import log
from tickwork.queue import Leased, Queue, lease_of

# How many heartbeats there are to a lease: one that gets lost does no harm.
BEATS_PER_LEASE = 3
# How often progress is worth a heartbeat of its own.
PROGRESS_SECONDS = 1.0
# Held while a transaction is added to those of its lease, or removed from them.
OPENING = threading.Lock()
MAX_DELAY_SECONDS = 30 * 86_400.0


class Lease:
    """It refers neither to the attempt nor to its tools: such a cycle would be left to the garbage collector, which
    would take a fifth of the time of small jobs."""

    # The transactions that are open under it. Neither a list nor a lock of its own: the garbage collector would run
    # half as often again.
    _open: tuple[Breakable, ...] = ()
    is_given_up = False

    def __init__(self, queue: Queue, job: Leased) -> None:
        self.queue = queue
        self.job = job
        self._seconds = job.lease_seconds or 60
        self._last_beat = self._leased_at = time.monotonic()

    def beat_is_due(self, has_news: bool) -> bool:
        passed = time.monotonic() - self._last_beat
        return passed > self._beat_seconds() or (has_news and passed > PROGRESS_SECONDS)

    def begin_beat(self) -> Json:
        self._last_beat = time.monotonic()
        return lease_of(self.job)

    def note_beat(self) -> None:
        self._leased_at = self._last_beat

    def is_over(self) -> bool:
        return time.monotonic() > self._leased_at + self._seconds

    def hold_lane(self, seconds: float, reason: str) -> None:
        # Before the job is settled, so that no other job of the lane starts in between.
        try:
            self.queue.hold_lane_of_job(self.job, bounded_delay(seconds), reason)
        except QueueError as error:
            log("miss_hold", "WARNING", reason=str(error))

    def transaction(self, work: Callable[[Connection], Any]) -> Any:
        """Run something in a transaction that holds the job."""
        # The second transaction might wait for rows that the first one has locked, for ever.
        if any(each.thread == threading.get_ident() for each in self._open):
            raise RuntimeError("a transaction under this lease is open already: use its connection")

        def held(connection: Connection) -> Any:
            with closing(Breakable(connection)) as transaction:
                self._begin(transaction)
                try:
                    self.queue.hold_job(self.job, connection, str(traces.current() or ""))
                    return work(connection)
                finally:
                    self._end(transaction)

        return self.queue.database.transaction(held)

    def give_up(self) -> None:
        """End the transactions that are open, and open no more: the job is settled without its handler."""
        with OPENING:
            self.is_given_up = True
        for transaction in self._open:
            transaction.break_off()

    def _beat_seconds(self) -> float:
        wanted = self.queue.heartbeat_seconds
        # A type may have a shorter lease than the one that the setting was made for.
        return self._seconds / BEATS_PER_LEASE if wanted is None else min(wanted, self._seconds / 2)

    def _begin(self, transaction: Breakable) -> None:
        with OPENING:
            if self.is_given_up:
                raise LeaseLost("this attempt was abandoned")
            self._open = (*self._open, transaction)

    def _end(self, transaction: Breakable) -> None:
        with OPENING:
            self._open = tuple(each for each in self._open if each is not transaction)


def bounded_delay(delay: float) -> float:
    # A date of long ago in a Retry-After header is a negative delay; what is no number is none at all.
    return min(delay, MAX_DELAY_SECONDS) if delay > 0 else 0.0
