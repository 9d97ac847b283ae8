"""That this process works, told to the queue now and then: for `tickwork workers`, never for what is claimed."""

from __future__ import annotations

import os
import platform
import socket
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from importlib.metadata import version
from typing import Literal

from tickwork.logs import log
from tickwork.queue import Queue

# How often, at most.
NOTE_SECONDS = 15.0


class Presence:
    """Shared by the threads of a process. What cannot be told is logged, and fails nothing."""

    def __init__(
        self, queue: Queue, kind: Literal["function", "worker"], families: list[str], types: Iterable[str]
    ) -> None:
        self._queue = queue
        self._families = families
        self._metadata = {"kind": kind, "types": sorted(types)}
        self._started_at = time.monotonic()
        self._next_at = self._told_at = float("-inf")
        self._running = 0
        self._told_running = 0
        self._lock = threading.Lock()

    @contextmanager
    def invoked(self) -> Iterator[None]:
        """For the time of an invocation: told at its end, or before if it takes long."""
        with self._lock:
            self._running += 1
            if self._running == 1:
                self._next_at = time.monotonic() + NOTE_SECONDS
        try:
            yield
        finally:
            with self._lock:
                self._running -= 1
        # Not if it failed: a database that cannot be reached would be waited for once more.
        if self._told_running or time.monotonic() >= self._told_at + NOTE_SECONDS:
            self._tell(self._running)

    def note(self, running: int | None = None) -> None:
        """Tell, if it is time to, how many jobs this process holds: by default one for each invocation."""
        with self._lock:
            if time.monotonic() < self._next_at:
                return
            self._next_at = time.monotonic() + NOTE_SECONDS
        self._tell(self._running if running is None else running)

    def stop(self) -> None:
        self._tell(0, is_stopped=True)

    def _tell(self, running_count: int, is_stopped: bool = False) -> None:
        self._told_at, self._told_running = time.monotonic(), running_count
        try:
            self._queue.note_worker(
                socket.gethostname(),
                own_version(),
                self._families,
                running_count,
                time.monotonic() - self._started_at,
                {**self._metadata, "process": os.getpid(), "python": platform.python_version()},
                is_stopped,
            )
        except Exception as error:
            log("miss_presence", "WARNING", reason=str(error))


@cache
def own_version() -> str:
    return version("tickwork")
