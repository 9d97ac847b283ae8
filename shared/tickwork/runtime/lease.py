"""The lease of an attempt: for how long the job is its own, and what it may do at the queue meanwhile."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tickwork.database.connection import Connection
from tickwork.errors import QueueError
from tickwork.jobs.outcomes import Json
from tickwork.logs import log
from tickwork.queue import Queue, lease_of

if TYPE_CHECKING:
    from tickwork.jobs.rows import ClaimedJob

# How many heartbeats there are to a lease: one that gets lost is no harm.
BEATS_PER_LEASE = 3
# How often progress is worth a heartbeat of its own.
PROGRESS_SECONDS = 1.0
MAX_DELAY_SECONDS = 30 * 86_400.0


class Lease:
    """It knows neither the attempt nor its tools: such a circle would be left to the garbage collector, which would
    take a fifth of the time of small jobs."""

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
            self.queue.hold_lane_of_job(self.job, bounded_delay(seconds), reason)
        except QueueError as error:
            log("miss_hold", "WARNING", reason=str(error))

    def begin_settling(self) -> None:
        """From now on the job's row belongs to the transaction that settles it."""
        self._is_settling = True

    def transaction(self, work: Callable[[Connection], Any]) -> Any:
        """Run something in a transaction that holds the job."""
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


def bounded_delay(delay: float) -> float:
    # A date of long ago in a Retry-After header is a negative delay; what is no number is none at all.
    return min(delay, MAX_DELAY_SECONDS) if delay > 0 else 0.0
