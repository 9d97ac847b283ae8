"""How long an invocation may claim jobs, and how long its process has left."""

import time

# How long a process that has been told to stop may take, after its grace period, to settle what it holds.
SETTLE_SECONDS = 5.0
# How soon a pause notices that the process has to end.
STOP_LOOK_SECONDS = 0.25


class Deadline:
    """How long and how often an invocation may claim, and whether its process is about to end."""

    def __init__(self, seconds: float, max_jobs: int, grace_seconds: float = 8.0) -> None:
        self._started_at = time.monotonic()
        self._ends_at = self._started_at + seconds
        self._jobs_left = max_jobs
        self._grace_seconds = grace_seconds
        self._stopped_at: float | None = None

    def allows_claims(self) -> bool:
        return self._jobs_left > 0 and not self.is_stopped() and time.monotonic() < self._ends_at

    def wait(self, interval: float) -> bool:
        """Wait for the next full interval since the start; False at once if that is beyond the deadline."""
        past = time.monotonic() - self._started_at
        next_at = self._started_at + (past // interval + 1) * interval
        if not self.allows_claims() or next_at >= self._ends_at:
            return False
        time.sleep(max(0.0, next_at - time.monotonic()))
        return self.allows_claims()

    def jobs_left(self, at_most: int) -> int:
        return min(self._jobs_left, at_most)

    def count_jobs(self, jobs: int = 1) -> None:
        self._jobs_left -= jobs

    def stop(self) -> None:
        """Claim no more; the running job has the grace period to finish."""
        self._stopped_at = self._stopped_at or time.monotonic()

    def is_stopped(self) -> bool:
        return self._stopped_at is not None

    def grace_is_over(self) -> bool:
        return self._seconds_since_stop() >= self._grace_seconds

    def process_must_end(self) -> bool:
        """Whether the process has had its grace period, and the time to settle."""
        return self._seconds_since_stop() >= self._grace_seconds + SETTLE_SECONDS

    def pause(self, seconds: float) -> bool:
        """Sleep, but not past the grace period; false if that is over."""
        until = time.monotonic() + seconds
        while not self.grace_is_over():
            left = until - time.monotonic()
            if left <= 0:
                return True
            time.sleep(min(left, STOP_LOOK_SECONDS))
        return False

    def _seconds_since_stop(self) -> float:
        return float("-inf") if self._stopped_at is None else time.monotonic() - self._stopped_at
