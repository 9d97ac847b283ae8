"""The jobs that a process holds: what has ended is settled and replaced by the next jobs, in one statement."""

from __future__ import annotations

import threading
import time
from collections import Counter, deque
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from tickwork.errors import QueueError
from tickwork.jobs.handler import Handlers
from tickwork.jobs.outcomes import Failed, Report
from tickwork.logs import log
from tickwork.queue import Queue
from tickwork.runtime.attempt import Attempt
from tickwork.runtime.deadline import Deadline
from tickwork.runtime.settle import NOTHING, Claim, settle_and_claim
from tickwork.runtime.turns import Turns

if TYPE_CHECKING:
    from tickwork.jobs.worked_job import WorkedJob

# Above this concurrency jobs are taken to be small: those that are done share a line, unless somebody wants one each.
MAX_CONCURRENCY_WITH_LINES = 20
# How long what is finished may wait for the rest, so that they are settled together.
TOGETHER_SECONDS = 0.003


class Exchange:
    """Any thread may take what waits and add what is finished; one thread at a time settles and claims."""

    def __init__(
        self, queue: Queue, families: Mapping[str, Handlers], deadline: Deadline, concurrency: int, log_each_job: bool
    ) -> None:
        self.report = Report(" ".join(families))
        self.turns = Turns(families, concurrency)
        self.waiting: deque[Attempt] = deque()
        self.finished: deque[Attempt] = deque()
        # On their way into the database.
        self.under_way: Sequence[Attempt] = ()
        # How many there are of all kinds, with those that run. Changed only by who settles and claims.
        self.held = 0
        self.is_closed = False
        self.has_lines = log_each_job or concurrency <= MAX_CONCURRENCY_WITH_LINES
        self.families = families
        self.deadline = deadline
        self._queue = queue
        self._concurrency = concurrency
        self._one_at_a_time = threading.Lock()
        # Families that could not be asked for jobs: they are asked again when the next job has ended.
        self._missed: list[str] = []
        # When the first of what is finished had ended.
        self._finished_at = 0.0

    def next_waiting(self) -> Attempt | None:
        """What to run next, if there is anything. A process that has to stop gives back what it has not started."""
        try:
            attempt = self.waiting.popleft()
        except IndexError:
            return None
        if not self.deadline.is_stopped():
            return attempt
        attempt.release()
        self.add_finished(attempt)
        return None

    def add_finished(self, attempt: Attempt) -> None:
        if not self.finished:
            self._finished_at = time.monotonic()
        self.finished.append(attempt)

    def settle_and_claim(self) -> bool:
        """Settle what is finished, and claim as much as there is room for; false if somebody else is about it."""
        if not self._one_at_a_time.acquire(blocking=False):
            return False
        try:
            if self.finished:
                self._replace_finished()
            while (claim := self._next_claim(self.held)) is not NOTHING:
                self._claim(claim)
        finally:
            self.under_way = ()
            self._one_at_a_time.release()
        return True

    def is_urgent(self) -> bool:
        """Whether what is finished has waited long enough for the rest."""
        return bool(self.finished) and time.monotonic() > self._finished_at + TOGETHER_SECONDS and not self._is_at_it()

    def has_work(self) -> bool:
        """Whether a thread would find something to do."""
        return bool(self.waiting) or (self.is_due() and not self._is_at_it())

    def is_behind(self) -> bool:
        """Whether a job that is held waits for a thread."""
        return bool(self.waiting) or (bool(self.finished) and not self._is_at_it())

    def is_due(self) -> bool:
        """Whether there is anything to settle, or may be anything to claim."""
        return bool(self.finished) or self.may_get_more()

    def may_get_more(self) -> bool:
        """Whether there is room for a job, and one may be due."""
        return self.held < self._concurrency and self.turns.is_anybodys() and self._may_claim()

    def _is_at_it(self) -> bool:
        return self._one_at_a_time.locked()

    def _replace_finished(self) -> None:
        attempts = self.under_way = [self.finished.popleft() for _ in range(len(self.finished))]
        if self._missed:
            self.turns.announce(*self._missed)
            self._missed = []
        self.turns.end(counted([attempt.job.family for attempt in attempts]))
        # The writes of a handler have settled its job already, and nobody can settle what is lost.
        unsettled = [attempt for attempt in attempts if attempt.ending is None]
        claim, jobs = NOTHING, None
        if unsettled:
            claim = self._next_claim(self.held - len(attempts), attempts[0].job.family)
            jobs = settle_and_claim(unsettled, self._queue, self.deadline, claim)
        self._hold(claim, jobs, len(attempts))
        self._tell(attempts)

    def _claim(self, claim: Claim) -> None:
        jobs: list[WorkedJob] = []
        try:
            _, jobs = self._queue.settle_and_claim(
                (), (), family=claim.family, max_jobs=claim.max_jobs, types=claim.types
            )
        except QueueError as error:
            if self.report.claimed == 0:
                raise
            # What was done so far is worth reporting; the next wake-up sees for itself.
            log("fail_to_claim", "WARNING", family=claim.family, reason=str(error), hint=error.hint)
            self._missed.append(str(claim.family))
        finally:
            self._hold(claim, jobs)

    def _next_claim(self, held: int, settled_family: str | None = None) -> Claim:
        free = self.deadline.jobs_left(self._concurrency - held)
        if free <= 0 or not self._may_claim():
            return NOTHING
        turn = self.turns.begin(free) or (settled_family and self.turns.begin_with(settled_family, free))
        return Claim(turn[0], self.families[turn[0]], turn[1]) if turn else NOTHING

    def _hold(self, claim: Claim, jobs: Sequence[WorkedJob] | None, settled: int = 0) -> None:
        """Add what was claimed, in place of what was settled; None if nobody knows whether anything is due."""
        self.held += len(jobs or ()) - settled
        if claim.family and jobs is None:
            self.turns.end({claim.family: claim.max_jobs})
        elif claim.family and jobs is not None:
            self.turns.end_claim(claim.family, claim.max_jobs, len(jobs))
        if jobs:
            self.deadline.count_jobs(len(jobs))
            if not self.has_lines:
                log("claim_jobs", family=claim.family, worker_id=self._queue.worker_id, jobs=len(jobs))
            self.waiting.extend([Attempt(self._queue, job) for job in jobs])

    def _tell(self, attempts: Sequence[Attempt]) -> None:
        endings = counted([str(attempt.ending) for attempt in attempts])
        for ending, count in endings.items():
            self.report.add(ending, count)
        if not self.has_lines:
            log("settle_jobs", family=self.report.family, worker_id=self._queue.worker_id, jobs=len(attempts))
        if self.has_lines or endings.keys() != {"done"}:
            for attempt in attempts:
                if self.has_lines or attempt.ending != "done":
                    log_ending(attempt)

    def _may_claim(self) -> bool:
        return self.deadline.allows_claims() and not self.is_closed


def counted(names: list[str]) -> Mapping[str, int]:
    # Most often there is one, and a Counter takes as long as a line of the log.
    return {names[0]: 1} if len(names) == 1 else Counter(names)


def log_ending(attempt: Attempt) -> None:
    outcome = attempt.outcome()
    attempt.log(
        "settle",
        "WARNING" if attempt.ending == "lost" else "INFO",
        ending=attempt.ending,
        error_code=outcome.code if isinstance(outcome, Failed) else None,
        duration_ms=attempt.duration_ms(),
        wait_ms=attempt.job.wait_ms,
    )
