"""Many small jobs at a time: half of them are settled and replaced in one statement while the other half runs."""

import contextvars
import threading
import time
from collections import deque
from collections.abc import Sequence
from queue import Empty, SimpleQueue

from tickwork.errors import Unavailable
from tickwork.jobs.handler import Handlers
from tickwork.jobs.outcomes import Report
from tickwork.jobs.rows import ClaimedJob
from tickwork.logs import log
from tickwork.queue import Queue
from tickwork.runtime import settle, watch
from tickwork.runtime.attempt import Attempt
from tickwork.runtime.deadline import Deadline
from tickwork.runtime.finished_jobs import FinishedJobs
from tickwork.runtime.presence import Presence
from tickwork.runtime.run import run
from tickwork.runtime.worker_thread import WorkerThread


def work_many(
    queue: Queue,
    family: str,
    handlers: Handlers,
    deadline: Deadline,
    batch_size: int,
    presence: Presence | None = None,
    log_each_job: bool = False,
) -> Report:
    """As `work`, with up to so many jobs held at a time, until none is due or time is short."""
    batch = Batch(queue, family, handlers, deadline, batch_size, presence, log_each_job)
    if deadline.allows_claims():
        batch.add(queue.claim_jobs(family, deadline.jobs_left(batch_size), types=handlers))
    if batch.held():
        settle_for(batch)
    return batch.report


def settle_for(batch: "Batch") -> None:
    """Settle and claim for the thread that runs the handlers, and watch it."""
    batch.start_thread()
    look_at = time.monotonic() + watch.LOOK_SECONDS
    try:
        while not batch.is_over:
            if finished := batch.next_to_send(watch.LOOK_SECONDS):
                send(batch, finished)
            if time.monotonic() >= look_at:
                watch_batch(batch)
                # Who waits for a result need not wait for the others.
                if finished := batch.take_finished():
                    send(batch, finished)
                look_at = time.monotonic() + watch.LOOK_SECONDS
    finally:
        batch.close()


class Batch:
    """The jobs held at a time: those that wait, the one that runs, those that are finished, and those on their way
    into the database."""

    def __init__(
        self,
        queue: Queue,
        family: str,
        handlers: Handlers,
        deadline: Deadline,
        size: int,
        presence: Presence | None = None,
        log_each_job: bool = False,
    ) -> None:
        self.queue = queue
        self.presence = presence
        self.log_each_job = log_each_job
        self.family = family
        self.deadline = deadline
        self.report = Report(family)
        self.is_over = False
        self.handlers = handlers
        self._size = size
        self._thread: WorkerThread | None = None
        self._waiting: deque[Attempt] = deque()
        self._running: Attempt | None = None
        self._finished: list[Attempt] = []
        self._under_way: list[FinishedJobs] = []
        self._to_send: SimpleQueue[FinishedJobs | None] = SimpleQueue()
        self._lock = threading.RLock()

    def start_thread(self) -> None:
        """Run the handlers in another thread; in place of the one that hangs, if there is one."""
        self._thread = WorkerThread(self.run_all)

    def check_thread(self) -> None:
        """Raise what the thread was ended by, if anything."""
        assert self._thread is not None
        self._thread.wait(0)

    def run_all(self) -> None:
        """Run one handler after the other until no job is left, unless this thread is abandoned with one."""
        while not self.is_over:
            while attempt := self._next():
                if not contextvars.copy_context().run(self._run, attempt):
                    return
            if finished := self.take_finished():
                self._to_send.put(finished)
            if not self._waiting and not self._await_jobs():
                self.close()

    def take_finished(self) -> FinishedJobs | None:
        """What is finished, ready to be sent."""
        with self._lock:
            if not self._finished:
                return None
            finished = FinishedJobs(self._finished)
            self._finished = []
            self._under_way.append(finished)
        finished.encode()
        return finished

    def next_to_send(self, seconds: float) -> FinishedJobs | None:
        try:
            return self._to_send.get(timeout=seconds)
        except Empty:
            return None

    def make_room(self, finished: FinishedJobs) -> int:
        """How many jobs may be claimed in place of those that are settled with it."""
        with self._lock:
            others = sum(each.jobs for each in self._under_way if each is not finished)
            room = self._size - len(self._waiting) - bool(self._running) - len(self._finished) - others
            finished.jobs = self.deadline.jobs_left(room) if self.deadline.allows_claims() else 0
            self.deadline.count_jobs(finished.jobs)
            return finished.jobs

    def take_sent(self) -> None:
        """Count what has been settled, and add what was claimed."""
        with self._lock:
            while self._under_way and self._under_way[0].is_sent.is_set():
                finished = self._under_way.pop(0)
                finished.report_to(self.report, self.log_each_job)
                self.deadline.count_jobs(-finished.jobs)
                self.add(finished.claimed())

    def add(self, jobs: Sequence[ClaimedJob]) -> None:
        if jobs:
            log("claim_jobs", family=self.family, worker_id=self.queue.worker_id, jobs=len(jobs))
            with self._lock:
                self.deadline.count_jobs(len(jobs))
                self._waiting.extend(Attempt(self.queue, job) for job in jobs)

    def held(self) -> list[Attempt]:
        with self._lock:
            running = [self._running] if self._running else []
            finished = [attempt for attempt in self._finished if attempt.ending is None]
            under_way = [attempt for each in self._under_way for attempt in each.unsettled()]
            return [*self._waiting, *running, *finished, *under_way]

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
            for finished in self._under_way:
                finished.is_sent.set()

    def _next(self) -> Attempt | None:
        """Put away what has been run and take what is next; none if half is to be settled, none waits or it is over."""
        with self._lock:
            if self._running:
                self._finished.append(self._running)
                self._running = None
            while self._waiting and 2 * len(self._finished) < self._size and not self.is_over:
                attempt = self._waiting.popleft()
                if attempt.interruption() is None:
                    self._running = attempt
                    return attempt
                attempt.abandon()
                self._finished.append(attempt)
            return None

    def _run(self, attempt: Attempt) -> bool:
        attempt.enter()
        return run(attempt, self.handlers, self.deadline)

    def _await_jobs(self) -> bool:
        """Wait for what is claimed in place of settled jobs; false if there are no jobs any more."""
        with self._lock:
            if self.is_over or not self._under_way:
                return bool(self._waiting or self._finished)
            finished = self._under_way[0]
        finished.is_sent.wait()
        if not self.is_over:
            self.take_sent()
        return True


def send(batch: Batch, finished: FinishedJobs) -> None:
    """Settle what is in it, and claim as many jobs as there is room for then."""
    jobs = finished.jobs
    max_jobs = batch.make_room(finished)
    for pause in (*settle.SETTLE_AGAIN_SECONDS, None):
        try:
            finished.send(batch.queue, batch.family, max_jobs, types=batch.handlers)
            break
        except Unavailable as error:
            log("miss_settle", "WARNING", reason=str(error))
            # It may have claimed: a second time it might hold what nobody knows of.
            max_jobs = 0
            if pause is None or not pause_and_watch(batch, pause):
                finished.give_up()
                break
    finished.is_sent.set()
    log("settle_jobs", family=batch.family, worker_id=batch.queue.worker_id, jobs=jobs)


def pause_and_watch(batch: Batch, seconds: float) -> bool:
    """False if there is no time for a pause, because the process has to end."""
    until = time.monotonic() + seconds
    while (left := until - time.monotonic()) > 0:
        if not batch.deadline.pause(min(left, watch.LOOK_SECONDS)):
            return False
        watch_batch(batch)
    return True


def watch_batch(batch: Batch) -> None:
    """What has to happen even if a handler takes long."""
    batch.check_thread()
    batch.take_sent()
    if batch.deadline.is_stopped():
        batch.release_waiting()
    watch.keep_leases(batch.held())
    if batch.presence:
        batch.presence.note(len(batch.held()))
    if abandoned := batch.abandon_running():
        log("leave_handler", "WARNING", job_id=abandoned.job.id, reason=repr(abandoned.outcome()))
        batch.start_thread()
