"""The long-running worker: polls, is woken by NOTIFY, stops gracefully."""

import random
import signal
import threading
import time
from collections.abc import Mapping
from types import FrameType

from tickwork import spans
from tickwork.database.connection import Database
from tickwork.database.listener import notices
from tickwork.database.version import SchemaCheck
from tickwork.errors import QueueError
from tickwork.jobs.handler import Handlers
from tickwork.jobs.outcomes import Report
from tickwork.logs import log, log_exception
from tickwork.queue import Queue
from tickwork.runtime import watch
from tickwork.runtime.deadline import Deadline
from tickwork.runtime.maintenance import Maintenance
from tickwork.runtime.presence import Presence
from tickwork.runtime.work import Loop
from tickwork.runtime.worker_thread import WorkerThread
from tickwork.waking.rabbitmq import Broker
from tickwork.waking.subscriber import Subscriber

# How often the main thread looks whether the process has to end.
STOP_LOOK_SECONDS = 0.25


class Worker:
    """Processes the jobs of some families until stopped: SIGTERM lets the running jobs finish within the grace period,
    and releases the others."""

    def __init__(
        self,
        queue: Queue,
        families: Mapping[str, Handlers],
        listen_url: str,
        grace_seconds: float,
        concurrency: int = 1,
        poll_seconds: float = 1,
        log_each_job: bool = False,
        broker: Broker | None = None,
    ) -> None:
        self._queue = queue
        self._schema = SchemaCheck(queue.database)
        self._families = families
        self._name = " ".join(families)
        self._listen_url = listen_url
        self._poll_seconds = poll_seconds
        self._broker = broker
        self._deadline = Deadline(float("inf"), 2**62, grace_seconds)
        self._loop = Loop(queue, families, self._deadline, concurrency, log_each_job)
        self._poll_at = 0.0
        types = [type for handlers in families.values() for type in handlers]
        self._presence = Presence(queue, "worker", list(families), types)

    def run(self) -> Report:
        """Work in another thread: whatever hangs there, this one ends the process in time."""
        threading.Thread(target=self._listen, daemon=True).start()
        subscriber = self._broker and Subscriber(self._broker, lambda: self._loop.announce(*self._families))
        if subscriber:
            subscriber.start()
        log("start_worker", family=self._name, worker_id=self._queue.worker_id)
        database = Database(self._listen_url, f"tickwork {self._name} maintenance")
        maintenance = Maintenance(Queue(database, self._queue.worker_id))
        maintenance.start()
        thread = WorkerThread(self._work_until_stopped)
        while not thread.wait(STOP_LOOK_SECONDS):
            if self._deadline.process_must_end():
                log(
                    "leave_jobs",
                    "WARNING",
                    family=self._name,
                    hint="They go to another worker when their leases expire.",
                )
                break
        maintenance.stop()
        if subscriber:
            subscriber.stop()
        spans.flush()
        report = self._loop.exchange.report
        log("stop_worker", family=self._name, **report.ended)
        return report

    def stop(self, signal_number: int = 0, frame: FrameType | None = None) -> None:
        # Signals arrive in the main thread, which never waits for this event and so never holds its lock.
        self._deadline.stop()
        self._loop.wake.set()

    def stop_on_signals(self) -> None:
        signal.signal(signal.SIGTERM, self.stop)
        signal.signal(signal.SIGINT, self.stop)

    def _work_until_stopped(self) -> None:
        while self._loop.is_busy() or not self._deadline.is_stopped():
            try:
                self._work()
            except Exception as error:
                self._loop.exchange.turns.rest()
                if isinstance(error, QueueError):
                    log("fail_to_claim", "WARNING", reason=str(error), hint=error.hint)
                else:
                    # One job that cannot even be read must not stop the worker for all others.
                    log_exception("fail_to_claim", error)
        self._presence.stop()

    def _work(self) -> None:
        """Watch the jobs that run until it is time to look for more, or some are announced; then look."""
        self._loop.watch(max(0.0, min(watch.LOOK_SECONDS, self._poll_at - time.monotonic())))
        self._presence.note(self._loop.exchange.held)
        if time.monotonic() >= self._poll_at:
            self._poll_at = time.monotonic() + self._poll_seconds * random.uniform(0.8, 1.2)
            self._loop.announce(*self._families)
        if self._loop.exchange.may_get_more():
            self._schema.check()
            self._loop.claim()

    def _listen(self) -> None:
        # Only a hint: behind a transaction-mode pooler nothing ever arrives here, and polling is enough.
        for family in notices(
            self._listen_url, f"tickwork {self._name} listener", "tickwork", self._deadline.is_stopped
        ):
            if family in self._families:
                self._loop.announce(family)
