"""Counts what has happened, and checks alerts: after each invocation of a function, and beside a worker."""

import threading

from tickwork.errors import QueueError
from tickwork.logs import log
from tickwork.queue import Queue

# How often a worker counts. Where several do, the database lets one of them.
EVERY_SECONDS = 3.0


def keep_figures(queue: Queue) -> None:
    """Never fails: what is not counted now is counted later."""
    try:
        queue.keep_figures()
    except QueueError as error:
        log("fail_to_keep_figures", "WARNING", reason=str(error), hint=error.hint)


class FiguresKeeper:
    """Counts beside a worker, with a connection of its own, so that no job waits for it."""

    def __init__(self, queue: Queue) -> None:
        self._queue = queue
        self._stopped = threading.Event()

    def start(self) -> None:
        threading.Thread(target=self._keep, daemon=True).start()

    def stop(self) -> None:
        self._stopped.set()

    def _keep(self) -> None:
        while not self._stopped.wait(EVERY_SECONDS):
            keep_figures(self._queue)
        self._queue.database.close()
