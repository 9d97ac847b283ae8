"""Finished jobs of a batch on their way into the database, and the jobs that come back in their place."""

import threading
from collections import Counter
from collections.abc import Iterable
from contextlib import suppress

from tickwork.errors import QueueError, Unavailable
from tickwork.jobs.outcomes import Lost, Report
from tickwork.jobs.rows import ClaimedJob
from tickwork.logs import bound, log, text_of
from tickwork.queue import Queue, SettleAndClaim
from tickwork.runtime.attempt import Attempt
from tickwork.runtime.recorded import settling
from tickwork.runtime.settle import claimed_with, encoded_outcome, ending_of, log_ending, write


class FinishedJobs:
    """Attempts that are settled together, and what was claimed with that. Encoded and decoded by the worker thread, so
    that the thread that sends it has nothing else to do."""

    def __init__(self, attempts: list[Attempt]) -> None:
        self._attempts = attempts
        self._to_settle = self.unsettled()
        self._request: SettleAndClaim | None = None
        # How many jobs it stands for: before it is sent what is to be settled, afterwards what may have been claimed.
        self.jobs = len(attempts)
        self.is_sent = threading.Event()

    def unsettled(self) -> list[Attempt]:
        return [attempt for attempt in self._attempts if attempt.ending is None]

    def encode(self) -> None:
        """Do now what would take time when it is sent."""
        # If that fails, it fails again when it is sent.
        with suppress(Exception):
            self._request = self._encoded()

    def send(self, queue: Queue, family: str, max_jobs: int, types: Iterable[str]) -> None:
        """Settle them, and claim so many jobs of these types. Raises Unavailable if the database cannot be reached."""
        try:
            self._send_together(queue, family, max_jobs, types)
        except Unavailable:
            raise
        except Exception as error:
            # One that is refused must not keep the others from being settled.
            log("miss_settle", "WARNING", reason=text_of(error))
            self._settle_one_by_one()
            self._claim(queue, family, max_jobs, types)

    def give_up(self) -> None:
        """The database cannot be reached: the leases expire, and somebody else gets the jobs."""
        for attempt in self.unsettled():
            attempt.note_settled(attempt.outcome(), "lost")

    def report_to(self, report: Report, log_each_job: bool) -> None:
        """Count how they have ended."""
        for ending, count in Counter(str(attempt.ending) for attempt in self._attempts).items():
            report.add(ending, count)
        for attempt in self._to_settle:
            # Of those that went well one line for all is enough, unless somebody wants one for each.
            if log_each_job or attempt.ending != "done":
                with bound(**attempt.labels()):
                    log_ending(attempt)

    def claimed(self) -> list[ClaimedJob]:
        return claimed_with(self._request) if self._request else []

    def _encoded(self) -> SettleAndClaim:
        for attempt in self.unsettled():
            if isinstance(attempt.outcome(), Lost):
                attempt.note_settled(attempt.outcome(), "lost")
        return SettleAndClaim([encoded_outcome(each, each.outcome()) for each in self.unsettled()])

    def _send_together(self, queue: Queue, family: str, max_jobs: int, types: Iterable[str]) -> None:
        request = self._request = self._request or self._encoded()
        with settling(self.unsettled()):
            if max_jobs:
                request.send(queue, family, max_jobs, types=types)
            else:
                request.settle(queue)
        for attempt, status in zip(self.unsettled(), request.statuses(), strict=True):
            attempt.note_settled(attempt.outcome(), ending_of(attempt.outcome(), status))

    def _settle_one_by_one(self) -> None:
        self._request = None
        for attempt in self.unsettled():
            with bound(**attempt.labels()):
                try:
                    attempt.note_settled(*write(attempt, attempt.outcome()))
                except Unavailable:
                    raise
                except QueueError as error:
                    log("miss_settle", "WARNING", reason=str(error))
                    attempt.note_settled(attempt.outcome(), "lost")

    def _claim(self, queue: Queue, family: str, max_jobs: int, types: Iterable[str]) -> None:
        try:
            self._send_together(queue, family, max_jobs, types)
        except QueueError as error:
            # What is held is worth going on with; the next claim sees for itself.
            log("fail_to_claim", "WARNING", reason=str(error))
