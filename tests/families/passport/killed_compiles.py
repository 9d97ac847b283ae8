"""Kills one worker after the other while it compiles a passport, each at another point, given the URL of the worker.

Each is a process of its own, forked from this one, which kills itself with SIGKILL when the thread of its handler calls
or leaves a function of tickwork for the n-th time. The first worker is not killed: it finds out what these steps are.
Prints how many were killed.
"""

import json
import os
import signal
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from types import FrameType

import tickwork
from tests.world.passports import HANDLERS
from tickwork.database.connection import Database, LimitedConnection
from tickwork.queue import Queue
from tickwork.runtime.deadline import Deadline
from tickwork.runtime.settle import write_and_settle
from tickwork.runtime.work import work

SOURCES = str(Path(tickwork.__file__).parent)
# Steps of the handler, its statements, and those of the transaction that settles the job, the last one its commit.
KILLS = (6, 6, 8)


def main(worker_url: str) -> None:
    points = points_of(steps_of_a_whole_run(worker_url))
    for point in points:
        child = os.fork()
        if child == 0:
            run_once(worker_url, kill_at=point)
            os._exit(0)
        _, status = os.waitpid(child, 0)
        assert os.waitstatus_to_exitcode(status) == -signal.SIGKILL, point
    print(len(points))


def points_of(steps: list[str]) -> list[int]:
    settling = steps.index(f"call {write_and_settle.__qualname__}")
    answered = [number for number, step in enumerate(steps) if step == f"return {LimitedConnection.wait.__qualname__}"]
    before = [number for number in answered if number < settling]
    within = [number for number in answered if number > settling]
    return [
        point
        for among, count in zip((range(settling), before, within), KILLS, strict=True)
        for point in spread(among, count)
    ]


def steps_of_a_whole_run(worker_url: str) -> list[str]:
    """What its thread calls and leaves. In a child too, so that all find the same caches."""
    reader, writer = os.pipe()
    if os.fork() == 0:
        os.write(writer, json.dumps(run_once(worker_url)).encode())
        os._exit(0)
    os.close(writer)
    with open(reader) as pipe:
        steps: list[str] = json.load(pipe)
    os.wait()
    return steps


def spread(among: Sequence[int], count: int) -> list[int]:
    """So many of them, from the first to the last one."""
    return [among[(len(among) - 1) * number // (count - 1)] for number in range(count)]


def run_once(worker_url: str, kill_at: int | None = None) -> list[str]:
    steps: list[str] = []

    def note(frame: FrameType, event: str, _: object) -> None:
        if event in ("call", "return") and frame.f_code.co_filename.startswith(SOURCES):
            if len(steps) == kill_at:
                os.kill(os.getpid(), signal.SIGKILL)
            steps.append(f"{event} {frame.f_code.co_qualname}")

    threading.setprofile(note)
    work(Queue(Database(worker_url), "worker"), "passport", HANDLERS, Deadline(float("inf"), 1))
    return steps


if __name__ == "__main__":
    main(*sys.argv[1:])
