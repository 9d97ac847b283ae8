"""Looks after the queue: beside a worker, and when a function has nothing left to do."""

import threading

from tickwork.errors import QueueError
from tickwork.logs import log
from tickwork.queue import Queue

# How often. Where several processes do it, the database lets one of them.
EVERY_SECONDS = 1.0


def maintain(queue: Queue) -> None:
    """Never fails: what is not done now is done later."""
    try:
        queue.maintain(EVERY_SECONDS)
    except QueueError as error:
        log("fail_to_maintain", "WARNING", reason=str(error), hint=error.hint)


class Maintenance:
    """Maintains beside a worker, with a connection of its own, so that no job waits for it."""

    def __init__(self, queue: Queue) -> None:
        self._queue = queue
        self._stopped = threading.Event()

    def start(self) -> None:
        threading.Thread(target=self._keep_on, daemon=True).start()

    def stop(self) -> None:
        self._stopped.set()

    def _keep_on(self) -> None:
        while not self._stopped.wait(EVERY_SECONDS):
            maintain(self._queue)
        self._queue.database.close()
