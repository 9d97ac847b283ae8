"""Many small jobs at a time: half of them are settled and replaced in one statement while the other half runs."""

import contextvars
import threading
import time
from collections import Counter, deque
from collections.abc import Sequence
from queue import Empty, SimpleQueue

from tickwork.jobs.handler import Handlers
from tickwork.jobs.outcomes import Report
from tickwork.jobs.rows import ClaimedJob
from tickwork.logs import bind, bound, log, log_exception, text_of
from tickwork.queue import Queue, SettleAndClaim
from tickwork.runtime import work
from tickwork.runtime.attempt import Attempt, Hand
from tickwork.runtime.work import Deadline, as_json, beat, ending_of, is_to_be_settled_alone, look, note_ending, settle


def work_many(queue: Queue, family: str, handlers: Handlers, deadline: Deadline, batch_size: int) -> Report:
    """As `work`, with up to so many jobs held at a time, until none is due or time is short."""
    batch = Batch(queue, family, handlers, deadline, batch_size)
    if deadline.is_far():
        batch.add(queue.claim_jobs(family, deadline.jobs_left(batch_size), types=handlers))
    if batch.held():
        work_off(batch)
    return batch.report


def work_off(batch: "Batch") -> None:
    """Settle and claim for the hand that runs the handlers, and look at it now and then."""
    hand = Hand(batch.run_all)
    look_at = time.monotonic() + work.LOOK_SECONDS
    try:
        while not batch.is_over:
            if parcel := batch.next_to_send(work.LOOK_SECONDS):
                send(batch, parcel)
            if time.monotonic() >= look_at:
                hand = look_after(batch, hand)
                look_at = time.monotonic() + work.LOOK_SECONDS
    finally:
        batch.close()


class Parcel:
    """Finished attempts that are settled together, and the jobs that are claimed in their place."""

    def __init__(self, attempts: list[Attempt]) -> None:
        self.unsettled = attempts
        self.alone: list[Attempt] = []
        self.together: list[Attempt] = []
        self.request = SettleAndClaim([])
        # How many jobs are held by it: before it is sent what is to be settled, afterwards what may have been claimed.
        self.jobs = len(attempts)
        self.is_answered = threading.Event()

    def write(self) -> None:
        """Make the text that is sent of it, so that who sends it has nothing else to do."""
        for attempt in self.unsettled:
            (self.alone if is_to_be_settled_alone(attempt.outcome()) else self.together).append(attempt)
        try:
            self.request = SettleAndClaim([as_json(attempt) for attempt in self.together])
        except Exception as error:
            self.miss(error)

    def miss(self, error: Exception) -> None:
        # What is wrong is found out, and said, when each is settled alone.
        log("miss_settle", "WARNING", reason=text_of(error))
        self.alone, self.together = [*self.alone, *self.together], []


class Batch:
    """The jobs held at a time: those that wait, the one that runs, those that are to be settled, and what is on its
    way between this process and the database."""

    def __init__(self, queue: Queue, family: str, handlers: Handlers, deadline: Deadline, size: int) -> None:
        self.queue = queue
        self.family = family
        self.deadline = deadline
        self.report = Report(family)
        self.is_over = False
        self.handlers = handlers
        self._size = size
        self._waiting: deque[Attempt] = deque()
        self._running: Attempt | None = None
        self._finished: list[Attempt] = []
        self._under_way: list[Parcel] = []
        self._to_send: SimpleQueue[Parcel | None] = SimpleQueue()
        self._lock = threading.RLock()

    def run_all(self) -> None:
        """Run one handler after the other until no job is left, unless this thread is left behind with one."""
        while not self.is_over:
            while attempt := self._next():
                if not contextvars.copy_context().run(self._handle, attempt):
                    return
            if parcel := self.pack():
                self._to_send.put(parcel)
            if not self._waiting and not self._await_answer():
                self.close()

    def pack(self) -> Parcel | None:
        """What is finished, ready to be sent."""
        with self._lock:
            if not self._finished:
                return None
            parcel = Parcel(self._finished)
            self._finished = []
            self._under_way.append(parcel)
        parcel.write()
        return parcel

    def next_to_send(self, seconds: float) -> Parcel | None:
        try:
            return self._to_send.get(timeout=seconds)
        except Empty:
            return None

    def make_room(self, parcel: Parcel) -> int:
        """How many jobs may be claimed in place of those that are settled with it."""
        with self._lock:
            others = sum(each.jobs for each in self._under_way if each is not parcel)
            room = self._size - len(self._waiting) - bool(self._running) - len(self._finished) - others
            parcel.jobs = self.deadline.jobs_left(room) if self.deadline.is_far() else 0
            self.deadline.count_jobs(parcel.jobs)
            return parcel.jobs

    def read_answers(self) -> None:
        """Count what has been settled, and add what was claimed."""
        with self._lock:
            while self._under_way and self._under_way[0].is_answered.is_set():
                parcel = self._under_way.pop(0)
                self.note_endings(parcel)
                self.deadline.count_jobs(-parcel.jobs)
                self.add(claimed_by(parcel))

    def note_endings(self, parcel: Parcel) -> None:
        statuses = parcel.request.statuses() if parcel.together else []
        endings = [ending_of(each.outcome(), status) for each, status in zip(parcel.together, statuses, strict=True)]
        for ending, count in Counter(endings).items():
            self.report.add(ending, count)
        for attempt, ending in zip(parcel.together, endings, strict=True):
            # Of those that went well one line for all is enough.
            if ending != "done":
                with bound(**attempt.labels()):
                    note_ending(ending, attempt.outcome())

    def note_ending(self, ending: str) -> None:
        with self._lock:
            self.report.add(ending)

    def add(self, jobs: Sequence[ClaimedJob]) -> None:
        if jobs:
            log("claim_jobs", family=self.family, worker_id=self.queue.worker_id, jobs=len(jobs))
            with self._lock:
                self.deadline.count_jobs(len(jobs))
                self._waiting.extend(Attempt(self.queue, job) for job in jobs)

    def held(self) -> list[Attempt]:
        with self._lock:
            running = [self._running] if self._running else []
            under_way = [attempt for parcel in self._under_way for attempt in parcel.unsettled]
            return [*self._waiting, *running, *self._finished, *under_way]

    def stop_waiting(self) -> None:
        """What has not been started is given back."""
        with self._lock:
            for attempt in self._waiting:
                attempt.release()
            self._finished.extend(self._waiting)
            self._waiting.clear()

    def leave_running(self) -> Attempt | None:
        """Go on without the handler that runs, if it has had its time."""
        with self._lock:
            attempt = self._running
            if attempt is None:
                return None
            look(attempt, self.deadline)
            if not attempt.is_to_be_left() or not attempt.leave():
                return None
            self._running = None
            self._finished.append(attempt)
            return attempt

    def close(self) -> None:
        self.is_over = True
        self._to_send.put(None)
        with self._lock:
            for parcel in self._under_way:
                parcel.is_answered.set()

    def _next(self) -> Attempt | None:
        """Put away what has been run and take what is next; none if half is to be settled, none waits or it is over."""
        with self._lock:
            if self._running:
                self._finished.append(self._running)
                self._running = None
            while self._waiting and 2 * len(self._finished) < self._size and not self.is_over:
                attempt = self._waiting.popleft()
                if not attempt.is_interrupted():
                    self._running = attempt
                    return attempt
                attempt.leave()
                self._finished.append(attempt)
            return None

    def _handle(self, attempt: Attempt) -> bool:
        bind(attempt.labels)
        return attempt.handle(self.handlers)

    def _await_answer(self) -> bool:
        """Wait for what is claimed in place of settled jobs; false if there are no jobs any more."""
        with self._lock:
            if self.is_over or not self._under_way:
                return bool(self._waiting or self._finished)
            parcel = self._under_way[0]
        parcel.is_answered.wait()
        if not self.is_over:
            self.read_answers()
        return True


def send(batch: Batch, parcel: Parcel) -> None:
    """Settle what is in it, and claim as many jobs as there is room for then."""
    jobs = len(parcel.unsettled)
    settle_alone(batch, parcel)
    try:
        if max_jobs := batch.make_room(parcel):
            parcel.request.send(batch.queue, batch.family, max_jobs, types=batch.handlers)
        elif parcel.together:
            parcel.request.settle(batch.queue)
    except Exception as error:
        parcel.miss(error)
        settle_alone(batch, parcel)
    parcel.unsettled = []
    parcel.is_answered.set()
    log("settle_jobs", family=batch.family, worker_id=batch.queue.worker_id, jobs=jobs)


def settle_alone(batch: Batch, parcel: Parcel) -> None:
    while parcel.alone:
        attempt = parcel.alone.pop(0)
        with bound(**attempt.labels()):
            batch.note_ending(settle(attempt))
        parcel.unsettled.remove(attempt)
        # What it wrote may have taken long.
        beat(batch.held())


def claimed_by(parcel: Parcel) -> list[ClaimedJob]:
    try:
        return parcel.request.claimed()
    except Exception as error:
        # One job that cannot even be read must not keep the others from being settled.
        log_exception("fail_to_claim", error)
        return []


def look_after(batch: Batch, hand: Hand) -> Hand:
    """What has to happen even if a handler takes long; the hand that goes on, which is another one if it hangs."""
    hand.wait(0)
    batch.read_answers()
    if batch.deadline.is_stopped():
        batch.stop_waiting()
    beat(batch.held())
    if left := batch.leave_running():
        log("leave_handler", "WARNING", job_id=left.job.id, reason=repr(left.outcome()))
        hand = Hand(batch.run_all)
    # Who waits for a result need not wait for the others.
    if parcel := batch.pack():
        send(batch, parcel)
    return hand
