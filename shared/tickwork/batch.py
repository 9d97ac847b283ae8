"""Many small jobs at a time: claimed and settled in one statement each, run one after the other."""

import threading
from collections import Counter, deque
from collections.abc import Sequence

from tickwork import runtime
from tickwork.attempt import Attempt, Hand
from tickwork.handler import Handlers
from tickwork.jobs import Done, Job, Lost, Report
from tickwork.logs import bound, log, text_of
from tickwork.queue import Queue
from tickwork.runtime import Deadline, as_json, beat, ending_of, labels, look, note_ending, settle


def work_many(queue: Queue, family: str, handlers: Handlers, deadline: Deadline, batch_size: int) -> Report:
    """As `work`, with up to so many jobs held at a time, until none is due or time is short."""
    report = Report(family)
    jobs = queue.claim_jobs(family, deadline.jobs_left(batch_size)) if deadline.is_far() else []
    while jobs:
        deadline.count_jobs(len(jobs))
        log("claim_jobs", family=family, worker_id=queue.worker_id, jobs=len(jobs))
        batch = Batch(queue, jobs)
        run(batch, handlers, deadline, report)
        jobs = settle_many(batch, report, deadline.jobs_left(batch_size) if deadline.is_far() else 0)
    return report


class Batch:
    """The jobs held at a time: those that wait, the one that runs, and those that are to be settled."""

    def __init__(self, queue: Queue, jobs: Sequence[Job]) -> None:
        self.queue = queue
        self.family = jobs[0].family
        self.waiting = deque(Attempt(queue, job) for job in jobs)
        self.running: Attempt | None = None
        self.finished: list[Attempt] = []
        self.is_over = threading.Event()
        self._lock = threading.Lock()

    def handle_all(self, handlers: Handlers) -> None:
        """Run one handler after the other, unless this thread is left behind with one."""
        while attempt := self._next():
            with bound(**labels(attempt.job)):
                attempt.handle(handlers)
            if not self.put_away(attempt):
                return
        self.is_over.set()

    def put_away(self, attempt: Attempt) -> bool:
        """Go on without it, finished or not; false if somebody else has put it away already."""
        with self._lock:
            if self.running is not attempt:
                return False
            self.running = None
            self.finished.append(attempt)
            return True

    def stop_waiting(self) -> None:
        """What has not been started is given back."""
        with self._lock:
            for attempt in self.waiting:
                attempt.release()
            self.finished.extend(self.waiting)
            self.waiting.clear()

    def held(self) -> list[Attempt]:
        with self._lock:
            return [*self.waiting, *([self.running] if self.running else []), *self.finished]

    def take_finished(self) -> list[Attempt]:
        with self._lock:
            finished, self.finished = self.finished, []
            return finished

    def _next(self) -> Attempt | None:
        with self._lock:
            while self.waiting:
                attempt = self.waiting.popleft()
                if not attempt.is_interrupted():
                    self.running = attempt
                    return attempt
                self.finished.append(attempt)
            return None


def run(batch: Batch, handlers: Handlers, deadline: Deadline, report: Report) -> None:
    """Run the handlers with heartbeats for all that is held beside them."""
    hand = Hand()
    hand.take(batch.handle_all, handlers)
    while not batch.is_over.wait(runtime.LOOK_SECONDS):
        if deadline.is_stopped():
            batch.stop_waiting()
        beat(batch.held())
        if attempt := batch.running:
            look(attempt, deadline)
            if attempt.is_to_be_left() and batch.put_away(attempt):
                log("leave_handler", "WARNING", job_id=attempt.job.id, reason=repr(attempt.outcome()))
                hand = Hand()
                hand.take(batch.handle_all, handlers)
        # Who waits for a result need not wait for the whole batch.
        settle_many(batch, report, 0)
    hand.rest()


def settle_many(batch: Batch, report: Report, max_jobs: int) -> list[Job]:
    """Settle what is finished and claim up to so many more, in one statement."""
    attempts = {str(attempt.job.id): attempt for attempt in batch.take_finished()}
    alone = {key for key, attempt in attempts.items() if is_to_be_settled_alone(attempt)}
    statuses: dict[str, str | None] = {}
    claimed: list[Job] = []
    try:
        outcomes = [as_json(attempt, attempt.outcome()) for key, attempt in attempts.items() if key not in alone]
        if max_jobs:
            settled, claimed = batch.queue.settle_and_claim(outcomes, batch.family, max_jobs)
        else:
            settled = batch.queue.settle_jobs(outcomes) if outcomes else []
        statuses = {str(row["job_id"]): row["status"] for row in settled}
    except Exception as error:
        # What is wrong is found out, and said, when each is settled alone.
        log("miss_settle", "WARNING", reason=text_of(error))
    endings: Counter[str] = Counter()
    for key in list(attempts):
        attempt = attempts.pop(key)
        endings[settled_as(attempt, key, statuses)] += 1
        if key not in statuses:
            # What it wrote may have taken long.
            beat([*batch.held(), *(other for id, other in attempts.items() if id not in statuses)])
    for ending, count in endings.items():
        report.add(ending, count)
    if endings:
        log("settle_jobs", family=batch.family, worker_id=batch.queue.worker_id, **endings)
    return claimed


def is_to_be_settled_alone(attempt: Attempt) -> bool:
    outcome = attempt.outcome()
    return isinstance(outcome, Lost) or (isinstance(outcome, Done) and bool(outcome.writes))


def settled_as(attempt: Attempt, key: str, statuses: dict[str, str | None]) -> str:
    outcome = attempt.outcome()
    ending = ending_of(outcome, statuses.get(key))
    # Of those that went well one line for all is enough.
    if ending == "done":
        return ending
    with bound(**labels(attempt.job)):
        if key not in statuses:
            return settle(attempt.queue, attempt.job, outcome, attempt.tools.logs())
        note_ending(ending, outcome)
        return ending
