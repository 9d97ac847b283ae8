"""Many small jobs at a time: half of them are settled and replaced in one statement while the other half runs."""

import contextvars
import threading
import time
from collections import deque
from collections.abc import Sequence
from queue import Empty, SimpleQueue

from tickwork.jobs.handler import Handlers
from tickwork.jobs.outcomes import Report
from tickwork.jobs.rows import ClaimedJob
from tickwork.logs import bind, bound, log
from tickwork.queue import Queue
from tickwork.runtime import watch
from tickwork.runtime.attempt import Attempt
from tickwork.runtime.deadline import Deadline
from tickwork.runtime.settle import settle
from tickwork.runtime.settlement import Settlement
from tickwork.runtime.worker_thread import WorkerThread


def work_many(queue: Queue, family: str, handlers: Handlers, deadline: Deadline, batch_size: int) -> Report:
    """As `work`, with up to so many jobs held at a time, until none is due or time is short."""
    batch = Batch(queue, family, handlers, deadline, batch_size)
    if deadline.is_far():
        batch.add(queue.claim_jobs(family, deadline.jobs_left(batch_size), types=handlers))
    if batch.held():
        settle_for(batch)
    return batch.report


def settle_for(batch: "Batch") -> None:
    """Settle and claim for the thread that runs the handlers, and look at it now and then."""
    thread = WorkerThread(batch.run_all)
    look_at = time.monotonic() + watch.LOOK_SECONDS
    try:
        while not batch.is_over:
            if settlement := batch.next_to_send(watch.LOOK_SECONDS):
                send(batch, settlement)
            if time.monotonic() >= look_at:
                thread = look_after(batch, thread)
                look_at = time.monotonic() + watch.LOOK_SECONDS
    finally:
        batch.close()


class Batch:
    """The jobs held at a time: those that wait, the one that runs, those that are finished, and the settlements on
    their way between this process and the database."""

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
        self._under_way: list[Settlement] = []
        self._to_send: SimpleQueue[Settlement | None] = SimpleQueue()
        self._lock = threading.RLock()

    def run_all(self) -> None:
        """Run one handler after the other until no job is left, unless this thread is abandoned with one."""
        while not self.is_over:
            while attempt := self._next():
                if not contextvars.copy_context().run(self._run, attempt):
                    return
            if settlement := self.take_finished():
                self._to_send.put(settlement)
            if not self._waiting and not self._await_jobs():
                self.close()

    def take_finished(self) -> Settlement | None:
        """What is finished, ready to be sent."""
        with self._lock:
            if not self._finished:
                return None
            settlement = Settlement(self._finished)
            self._finished = []
            self._under_way.append(settlement)
        settlement.encode()
        return settlement

    def next_to_send(self, seconds: float) -> Settlement | None:
        try:
            return self._to_send.get(timeout=seconds)
        except Empty:
            return None

    def make_room(self, settlement: Settlement) -> int:
        """How many jobs may be claimed in place of those that are settled with it."""
        with self._lock:
            others = sum(each.jobs for each in self._under_way if each is not settlement)
            room = self._size - len(self._waiting) - bool(self._running) - len(self._finished) - others
            settlement.jobs = self.deadline.jobs_left(room) if self.deadline.is_far() else 0
            self.deadline.count_jobs(settlement.jobs)
            return settlement.jobs

    def take_sent(self) -> None:
        """Count what has been settled, and add what was claimed."""
        with self._lock:
            while self._under_way and self._under_way[0].is_sent.is_set():
                settlement = self._under_way.pop(0)
                settlement.report_to(self.report)
                self.deadline.count_jobs(-settlement.jobs)
                self.add(settlement.claimed())

    def settle_alone(self, settlement: Settlement) -> None:
        while settlement.alone:
            attempt = settlement.alone.pop(0)
            with bound(**attempt.labels()):
                ending = settle(attempt)
            with self._lock:
                self.report.add(ending)
            settlement.unsettled.remove(attempt)
            # What it wrote may have taken long.
            watch.keep_leases(self.held())

    def add(self, jobs: Sequence[ClaimedJob]) -> None:
        if jobs:
            log("claim_jobs", family=self.family, worker_id=self.queue.worker_id, jobs=len(jobs))
            with self._lock:
                self.deadline.count_jobs(len(jobs))
                self._waiting.extend(Attempt(self.queue, job) for job in jobs)

    def held(self) -> list[Attempt]:
        with self._lock:
            running = [self._running] if self._running else []
            under_way = [attempt for settlement in self._under_way for attempt in settlement.unsettled]
            return [*self._waiting, *running, *self._finished, *under_way]

    def release_waiting(self) -> None:
        """What has not been started is given back."""
        with self._lock:
            for attempt in self._waiting:
                attempt.release()
            self._finished.extend(self._waiting)
            self._waiting.clear()

    def abandon_running(self) -> Attempt | None:
        """Go on without the handler that runs, if it has had its time."""
        with self._lock:
            attempt = self._running
            if attempt is None:
                return None
            watch.stop_in_time(attempt, self.deadline)
            if not attempt.is_to_be_abandoned() or not attempt.abandon():
                return None
            self._running = None
            self._finished.append(attempt)
            return attempt

    def close(self) -> None:
        self.is_over = True
        self._to_send.put(None)
        with self._lock:
            for settlement in self._under_way:
                settlement.is_sent.set()

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
                attempt.abandon()
                self._finished.append(attempt)
            return None

    def _run(self, attempt: Attempt) -> bool:
        bind(attempt.labels)
        return attempt.run(self.handlers)

    def _await_jobs(self) -> bool:
        """Wait for what is claimed in place of settled jobs; false if there are no jobs any more."""
        with self._lock:
            if self.is_over or not self._under_way:
                return bool(self._waiting or self._finished)
            settlement = self._under_way[0]
        settlement.is_sent.wait()
        if not self.is_over:
            self.take_sent()
        return True


def send(batch: Batch, settlement: Settlement) -> None:
    """Settle what is in it, and claim as many jobs as there is room for then."""
    jobs = len(settlement.unsettled)
    batch.settle_alone(settlement)
    try:
        if max_jobs := batch.make_room(settlement):
            settlement.request.send(batch.queue, batch.family, max_jobs, types=batch.handlers)
        elif settlement.together:
            settlement.request.settle(batch.queue)
    except Exception as error:
        settlement.fall_back(error)
        batch.settle_alone(settlement)
    settlement.unsettled = []
    settlement.is_sent.set()
    log("settle_jobs", family=batch.family, worker_id=batch.queue.worker_id, jobs=jobs)


def look_after(batch: Batch, thread: WorkerThread) -> WorkerThread:
    """What has to happen even if a handler takes long. Returns the thread that goes on: another one if it hangs."""
    thread.wait(0)
    batch.take_sent()
    if batch.deadline.is_stopped():
        batch.release_waiting()
    watch.keep_leases(batch.held())
    if abandoned := batch.abandon_running():
        log("leave_handler", "WARNING", job_id=abandoned.job.id, reason=repr(abandoned.outcome()))
        thread = WorkerThread(batch.run_all)
    # Who waits for a result need not wait for the others.
    if settlement := batch.take_finished():
        send(batch, settlement)
    return thread
