"""Finished attempts on their way into the database, and the jobs that come back in their place."""

import threading
from collections import Counter

from tickwork.jobs.outcomes import Report
from tickwork.jobs.rows import ClaimedJob
from tickwork.logs import bound, log, log_exception, text_of
from tickwork.queue import SettleAndClaim
from tickwork.runtime.attempt import Attempt
from tickwork.runtime.settle import encoded_outcome, ending_of, is_settled_alone, log_ending


class Settlement:
    """Attempts that are settled together, and what was claimed with that. Encoded and decoded by the worker thread, so
    that the thread that sends it has nothing else to do."""

    def __init__(self, attempts: list[Attempt]) -> None:
        self.unsettled = attempts
        self.alone: list[Attempt] = []
        self.together: list[Attempt] = []
        self.request = SettleAndClaim([])
        # How many jobs it stands for: before it is sent what is to be settled, afterwards what may have been claimed.
        self.jobs = len(attempts)
        self.is_sent = threading.Event()

    def encode(self) -> None:
        for attempt in self.unsettled:
            (self.alone if is_settled_alone(attempt.outcome()) else self.together).append(attempt)
        try:
            self.request = SettleAndClaim([encoded_outcome(each, each.outcome()) for each in self.together])
        except Exception as error:
            self.fall_back(error)

    def fall_back(self, error: Exception) -> None:
        """Settle each alone: that finds out what is wrong, and says it."""
        log("miss_settle", "WARNING", reason=text_of(error))
        self.alone, self.together = [*self.alone, *self.together], []

    def report_to(self, report: Report) -> None:
        """Count how those that were settled together have ended."""
        statuses = self.request.statuses() if self.together else []
        endings = [ending_of(each.outcome(), status) for each, status in zip(self.together, statuses, strict=True)]
        for ending, count in Counter(endings).items():
            report.add(ending, count)
        for attempt, ending in zip(self.together, endings, strict=True):
            # Of those that went well one line for all is enough.
            if ending != "done":
                with bound(**attempt.labels()):
                    log_ending(ending, attempt.outcome())

    def claimed(self) -> list[ClaimedJob]:
        try:
            return self.request.claimed()
        except Exception as error:
            # One job that cannot even be read must not keep the others from being settled.
            log_exception("fail_to_claim", error)
            return []
