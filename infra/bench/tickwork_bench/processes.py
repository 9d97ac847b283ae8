"""Separate processes with a pipe to this one, so that this one does not slow down what they measure."""

import multiprocessing
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from multiprocessing.connection import Connection
from typing import Any, Protocol

# Not forked: a copy of this process would bring its connections and threads along.
SPAWN = multiprocessing.get_context("spawn")

Line = Connection
Target = Callable[[Line], None]


class Watch(Protocol):
    def tick(self) -> None:
        """Called by every handler when it starts."""


# Processes what is queued behind a URL, and tells the watch of every job that starts.
Work = Callable[[str, Watch], None]


class Pacer:
    """Lets jobs start in slices of equal size: says when one is over, and holds the next job until it may go on."""

    def __init__(self, line: Line, jobs: int) -> None:
        self._line = line
        self._jobs = jobs
        self._left = 0
        self._lock = threading.Lock()

    def tick(self) -> None:
        # Handlers may run in threads of their own: all of them are held.
        with self._lock:
            if self._left == 0:
                # The same clock in all processes of a machine.
                self._left = self.pause(time.monotonic())
            self._left -= 1

    def pause(self, over_at: float) -> int:
        """Say when a slice was over, wait for the next one, and return how many jobs it has."""
        self._line.send(over_at)
        self._line.recv()
        return self._jobs


PacedWork = Callable[[str, Pacer], None]


@contextmanager
def paced(work: PacedWork, url: str, processes: int, jobs: int) -> Iterator[Callable[[], float]]:
    """What lets every process run so many jobs, and returns how many that were in a second."""
    with crowd([partial(work_at_a_pace, work, url, jobs)] * processes) as go:

        def rate() -> float:
            began = time.monotonic()
            return processes * jobs / float(max(go()) - began)

        yield rate


def work_at_a_pace(work: PacedWork, url: str, jobs: int, line: Line) -> None:
    work(url, Pacer(line, jobs))


@contextmanager
def crowd(targets: Sequence[Target]) -> Iterator[Callable[[], list[Any]]]:
    """A process for each. When all are ready: what lets them go on, and returns what each of them says then."""
    with ExitStack() as running:
        lines = [running.enter_context(process(target)) for target in targets]
        for line in lines:
            line.recv()

        def go() -> list[Any]:
            for line in lines:
                line.send("go")
            return [line.recv() for line in lines]

        yield go


@contextmanager
def process(target: Target) -> Iterator[Line]:
    """A process that runs `target` at the other end of the line, and is gone afterwards."""
    ours, theirs = SPAWN.Pipe()
    child = SPAWN.Process(target=run, args=(target, theirs), daemon=True)
    child.start()
    theirs.close()
    try:
        yield ours
    finally:
        # Some would go on with their jobs when asked, or complain about the line.
        child.kill()
        child.join()
        ours.close()


def run(target: Target, line: Line) -> None:
    # Log lines are written as usual, but to nowhere; Ctrl-C is handled by the parent.
    sys.stdout = open(os.devnull, "w")  # noqa: SIM115
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    target(line)
