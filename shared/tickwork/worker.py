"""The long-running worker: polls, is woken by NOTIFY, stops gracefully."""

import random
import signal
import threading
import time
from types import FrameType

import psycopg

from tickwork.database.connection import connect
from tickwork.database.version import SchemaCheck
from tickwork.errors import QueueError
from tickwork.jobs.handler import Handlers
from tickwork.jobs.outcomes import Report
from tickwork.logs import log, log_exception
from tickwork.queue import Queue
from tickwork.runtime.batch import work_many
from tickwork.runtime.deadline import Deadline
from tickwork.runtime.work import work
from tickwork.runtime.worker_thread import WorkerThread

# How often the main thread looks whether the process has to end.
STOP_LOOK_SECONDS = 0.25


class Worker:
    """Processes the jobs of one family until stopped: SIGTERM finishes the running job and releases the others."""

    def __init__(
        self,
        queue: Queue,
        family: str,
        handlers: Handlers,
        listen_url: str,
        grace_seconds: float,
        batch_size: int = 1,
        poll_seconds: float = 1,
    ) -> None:
        self._queue = queue
        self._schema = SchemaCheck(queue.database)
        self._family = family
        self._handlers = handlers
        self._listen_url = listen_url
        self._batch_size = batch_size
        self._poll_seconds = poll_seconds
        self._wake = threading.Event()
        self._total = Report(family)
        self._deadline = Deadline(float("inf"), 2**62, grace_seconds)

    def run(self) -> Report:
        """Work in another thread: whatever hangs there, this one ends the process in time."""
        threading.Thread(target=self._listen, daemon=True).start()
        log("start_worker", family=self._family, worker_id=self._queue.worker_id)
        thread = WorkerThread(self._work_until_stopped)
        while not thread.wait(STOP_LOOK_SECONDS):
            if self._deadline.process_must_end():
                log(
                    "leave_jobs",
                    "WARNING",
                    family=self._family,
                    hint="They go to another worker when their leases expire.",
                )
                break
        log("stop_worker", family=self._family, **self._total.ended)
        return self._total

    def stop(self, signal_number: int = 0, frame: FrameType | None = None) -> None:
        # Signals arrive in the main thread, which never waits for this event and so never holds its lock.
        self._deadline.stop()
        self._wake.set()

    def stop_on_signals(self) -> None:
        signal.signal(signal.SIGTERM, self.stop)
        signal.signal(signal.SIGINT, self.stop)

    def _work_until_stopped(self) -> None:
        while not self._deadline.is_stopped():
            self._wake.clear()
            self._total.include(self._work())
            if not self._deadline.is_stopped():
                self._wake.wait(self._poll_seconds * random.uniform(0.8, 1.2))

    def _work(self) -> Report:
        try:
            self._schema.check()
            if self._batch_size > 1:
                return work_many(self._queue, self._family, self._handlers, self._deadline, self._batch_size)
            return work(self._queue, self._family, self._handlers, self._deadline)
        except QueueError as error:
            log("fail_to_claim", "WARNING", reason=str(error), hint=error.hint)
        except Exception as error:
            # One job that cannot even be read must not stop the worker for all others.
            log_exception("fail_to_claim", error)
        return Report(self._family)

    def _listen(self) -> None:
        # Only a hint: behind a transaction-mode pooler nothing ever arrives here, and polling is enough.
        while not self._deadline.is_stopped():
            try:
                with connect(self._listen_url, f"tickwork {self._family} listener") as connection:
                    connection.execute("listen tickwork")
                    for notice in connection.notifies():
                        if notice.payload == self._family:
                            self._wake.set()
            except psycopg.Error as error:
                log("lose_listener", "WARNING", reason=str(error).strip())
            time.sleep(10)
