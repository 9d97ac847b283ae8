"""The caller's side: starts the process that reads a file, and takes what it writes, up to a size and a moment."""

import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from math import ceil
from typing import IO

# How long the caller goes without being asked whether to stop.
BREATH = 0.5
# Signals by which the limits make themselves felt; a library that gets no memory ends itself.
OVER_THE_LIMIT = {
    signal.SIGXCPU,
    signal.SIGKILL,
    signal.SIGABRT,
    signal.SIGTRAP,
    signal.SIGILL,
    signal.SIGXFSZ,
}


class TooDemanding(Exception):
    """It has taken too long or written too much."""


@contextmanager
def running(program: str, source: IO[bytes], seconds: float, *arguments: str) -> Iterator[subprocess.Popen[bytes]]:
    """A module as a process with the file as its input; its first arguments are our process id and the seconds."""
    # It gets the open file and no path, the places of Python's modules and nothing else of our environment.
    environment = {"PYTHONPATH": os.pathsep.join(os.path.abspath(place) for place in sys.path)}
    if "LD_LIBRARY_PATH" in os.environ:
        environment["LD_LIBRARY_PATH"] = os.environ["LD_LIBRARY_PATH"]
    # -S: what site would find is in the path already.
    command = [sys.executable, "-S", "-s", "-P", "-Xutf8", "-m", program]
    child = subprocess.Popen(
        [*command, str(os.getpid()), str(max(ceil(seconds), 1)), *arguments],
        stdin=source,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        cwd="/",
        env=environment,
        start_new_session=True,
    )
    try:
        yield child
    finally:
        child.kill()
        child.wait()
        if child.stdout:
            child.stdout.close()


def lines_of(
    child: subprocess.Popen[bytes], deadline: float, max_size: int, breathe: Callable[[], None]
) -> Iterator[bytes]:
    """What a child writes, taken in as it comes; `breathe` is called while it writes nothing, and may raise."""
    assert child.stdout is not None
    output = child.stdout.fileno()
    poll = select.poll()
    poll.register(output, select.POLLIN | select.POLLHUP)
    size, rest = 0, bytearray()
    while (left := deadline - time.monotonic()) > 0:
        if not poll.poll(1000 * min(left, BREATH)):
            breathe()
            continue
        block = os.read(output, 1 << 18)
        size += len(block)
        if not block:
            return
        if size > max_size:
            break
        first, *more = block.split(b"\n")
        rest += first
        if more:
            yield bytes(rest)
            yield from more[:-1]
            rest = bytearray(more[-1])
    raise TooDemanding
