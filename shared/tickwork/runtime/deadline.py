"""How long an invocation may work."""

import time


class Deadline:
    """How long and how often an invocation may claim, and whether its process is about to end."""

    def __init__(self, seconds: float, max_jobs: int, grace_seconds: float = 8.0) -> None:
        self._started_at = time.monotonic()
        self._ends_at = self._started_at + seconds
        self._jobs_left = max_jobs
        self._grace_seconds = grace_seconds
        self._stopped_at: float | None = None

    def is_far(self) -> bool:
        return self._jobs_left > 0 and not self.is_stopped() and time.monotonic() < self._ends_at

    def wait(self, interval: float) -> bool:
        """Wait for the next full interval since the start; False at once if that is beyond the deadline."""
        past = time.monotonic() - self._started_at
        next_at = self._started_at + (past // interval + 1) * interval
        if not self.is_far() or next_at >= self._ends_at:
            return False
        time.sleep(max(0.0, next_at - time.monotonic()))
        return self.is_far()

    def is_stopped(self) -> bool:
        return self._stopped_at is not None

    def jobs_left(self, at_most: int) -> int:
        return min(self._jobs_left, at_most)

    def count_jobs(self, jobs: int = 1) -> None:
        self._jobs_left -= jobs

    def stop(self) -> None:
        """Claim no more; the running job has the grace period to finish."""
        self._stopped_at = self._stopped_at or time.monotonic()

    def grace_is_over(self) -> bool:
        return self._stopped_at is not None and time.monotonic() >= self._stopped_at + self._grace_seconds
