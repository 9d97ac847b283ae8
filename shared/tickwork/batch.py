"""Many small jobs at a time: half of them are settled and replaced in one statement while the other half runs."""

import threading
from collections import deque
from collections.abc import Iterable, Sequence
from typing import Any

from tickwork import runtime
from tickwork.attempt import Attempt, Hand
from tickwork.handler import Handlers
from tickwork.jobs import ClaimedJob, Done, Lost, Report
from tickwork.logs import bound, log, text_of
from tickwork.queue import Queue
from tickwork.runtime import Deadline, as_json, beat, ending_of, labels, look, note_ending, settle


def work_many(queue: Queue, family: str, handlers: Handlers, deadline: Deadline, batch_size: int) -> Report:
    """As `work`, with up to so many jobs held at a time, until none is due or time is short."""
    report = Report(family)
    batch = Batch(queue, family, batch_size)
    if deadline.is_far():
        take_over(batch, queue.claim_jobs(family, deadline.jobs_left(batch_size)), deadline)
    hand = Hand()
    hand.take(batch.handle_all, handlers)
    try:
        while batch.held():
            batch.wait(runtime.LOOK_SECONDS)
            if deadline.is_stopped():
                batch.stop_waiting()
            beat(batch.held())
            if leaves_behind(batch, deadline):
                hand = Hand()
                hand.take(batch.handle_all, handlers)
            take_over(batch, settle_finished(batch, report, deadline), deadline)
    finally:
        batch.close()
        hand.rest()
    return report


class Batch:
    """The jobs held at a time: those that wait, the one that runs, and those that are to be settled."""

    def __init__(self, queue: Queue, family: str, size: int) -> None:
        self.queue = queue
        self.family = family
        self.waiting: deque[Attempt] = deque()
        self.running: Attempt | None = None
        self.finished: list[Attempt] = []
        self._size = size
        self._is_closed = False
        self._change = threading.Condition()

    def add(self, jobs: Iterable[ClaimedJob]) -> None:
        attempts = [Attempt(self.queue, job) for job in jobs]
        with self._change:
            self.waiting.extend(attempts)
            self._change.notify_all()

    def handle_all(self, handlers: Handlers) -> None:
        """Run one handler after the other until closed, unless this thread is left behind with one."""
        while attempt := self._next():
            with bound(**labels(attempt.job)):
                attempt.handle(handlers)
            if not self.put_away(attempt):
                return

    def put_away(self, attempt: Attempt) -> bool:
        """Go on without it, finished or not; false if somebody else has put it away already."""
        with self._change:
            if self.running is not attempt:
                return False
            self.running = None
            self.finished.append(attempt)
            if self._is_worth_a_statement():
                self._change.notify_all()
            return True

    def wait(self, seconds: float) -> None:
        """Until half of it is finished, or all; at the latest for so many seconds: who waits for a result need not wait
        for the others."""
        with self._change:
            self._change.wait_for(self._is_worth_a_statement, seconds)

    def stop_waiting(self) -> None:
        """What has not been started is given back."""
        with self._change:
            for attempt in self.waiting:
                attempt.release()
            self.finished.extend(self.waiting)
            self.waiting.clear()

    def held(self) -> list[Attempt]:
        with self._change:
            return [*self.waiting, *([self.running] if self.running else []), *self.finished]

    def room(self) -> int:
        return self._size - len(self.held())

    def take_finished(self) -> list[Attempt]:
        with self._change:
            finished, self.finished = self.finished, []
            return finished

    def close(self) -> None:
        with self._change:
            self._is_closed = True
            self._change.notify_all()

    def _next(self) -> Attempt | None:
        with self._change:
            while not self._is_closed:
                while self.waiting:
                    attempt = self.waiting.popleft()
                    if not attempt.is_interrupted():
                        self.running = attempt
                        return attempt
                    self.finished.append(attempt)
                self._change.notify_all()
                self._change.wait()
            return None

    def _is_worth_a_statement(self) -> bool:
        return 2 * len(self.finished) >= self._size or not (self.waiting or self.running)


def take_over(batch: Batch, jobs: Sequence[ClaimedJob], deadline: Deadline) -> None:
    if jobs:
        deadline.count_jobs(len(jobs))
        log("claim_jobs", family=batch.family, worker_id=batch.queue.worker_id, jobs=len(jobs))
        batch.add(jobs)


def leaves_behind(batch: Batch, deadline: Deadline) -> bool:
    """Whether the handler that runs has had its time and is left behind, with the thread that it runs in."""
    attempt = batch.running
    if attempt is None:
        return False
    look(attempt, deadline)
    if not attempt.is_to_be_left() or not batch.put_away(attempt):
        return False
    log("leave_handler", "WARNING", job_id=attempt.job.id, reason=repr(attempt.outcome()))
    return True


def settle_finished(batch: Batch, report: Report, deadline: Deadline) -> list[ClaimedJob]:
    """Settle what is finished, and claim as many jobs as there is room for then."""
    finished = batch.take_finished()
    if not finished:
        return []
    together = [attempt for attempt in finished if not is_to_be_settled_alone(attempt)]
    if len(together) < len(finished):
        settle_alone(batch, [attempt for attempt in finished if is_to_be_settled_alone(attempt)], together, report)
    room = deadline.jobs_left(batch.room()) if deadline.is_far() else 0
    missed, claimed = settle_together(batch, together, room, report)
    settle_alone(batch, missed, [], report)
    log("settle_jobs", family=batch.family, worker_id=batch.queue.worker_id, jobs=len(finished))
    return claimed


def is_to_be_settled_alone(attempt: Attempt) -> bool:
    outcome = attempt.outcome()
    return isinstance(outcome, Lost) or (isinstance(outcome, Done) and bool(outcome.writes))


def settle_alone(batch: Batch, attempts: Sequence[Attempt], others: Sequence[Attempt], report: Report) -> None:
    for place, attempt in enumerate(attempts, 1):
        with bound(**labels(attempt.job)):
            report.add(settle(attempt.queue, attempt.job, attempt.outcome(), attempt.tools.logs()))
        # What it wrote may have taken long.
        beat([*batch.held(), *attempts[place:], *others])


def settle_together(
    batch: Batch, attempts: Sequence[Attempt], max_jobs: int, report: Report
) -> tuple[Sequence[Attempt], list[ClaimedJob]]:
    """Settle them and claim up to so many more, in one statement; if that is refused, none is settled."""
    settled: list[dict[str, Any]] = []
    claimed: list[ClaimedJob] = []
    try:
        outcomes = [as_json(attempt, attempt.outcome()) for attempt in attempts]
        if max_jobs:
            settled, claimed = batch.queue.settle_and_claim(outcomes, batch.family, max_jobs)
        elif outcomes:
            settled = batch.queue.settle_jobs(outcomes)
    except Exception as error:
        # What is wrong is found out, and said, when each is settled alone.
        log("miss_settle", "WARNING", reason=text_of(error))
        return attempts, []
    statuses = {str(row["job_id"]): row["status"] for row in settled}
    for attempt, outcome in zip(attempts, outcomes, strict=True):
        ending = ending_of(attempt.outcome(), statuses[outcome["job_id"]])
        report.add(ending)
        # Of those that went well one line for all is enough.
        if ending != "done":
            with bound(**labels(attempt.job)):
                note_ending(ending, attempt.outcome())
    return (), claimed
