"""What several handlers at a time bring, if each of them waits for somebody else, and what they cost the server."""

import threading
import time
from functools import partial
from pathlib import Path
from typing import Any

import psycopg

from tickwork.runtime.deadline import Deadline
from tickwork.runtime.work import work as run_all
from tickwork_bench.contenders.tickwork import FAMILY, add, as_worker, handlers, prepare, queue_at, run_concurrently
from tickwork_bench.measure import Bench, Figure, Measurement, Result, Target, median_figure
from tickwork_bench.processes import Line, process

HANDLER_SECONDS = 1.0
ONE, EIGHT = "1 handler at a time", "8 handlers at a time"
SHORT_SECONDS = 0.005
SHORT_ONE, SHORT_TEN = "server CPU of a job of 5 ms, 1 at a time", "server CPU of a job of 5 ms, concurrency 10"
SESSIONS = "select pid from pg_stat_activity where datname = current_database() and usename = 'tickwork_worker'"


class SlowWatch:
    """Says when a handler has ended; each takes a second."""

    def __init__(self, line: Line) -> None:
        self._line = line
        self._lock = threading.Lock()

    def tick(self) -> None:
        time.sleep(HANDLER_SECONDS)
        with self._lock:
            self._line.send(time.monotonic())


class ShortWatch:
    """Each handler takes five milliseconds."""

    def tick(self) -> None:
        time.sleep(SHORT_SECONDS)


def run(bench: Bench) -> Result:
    rounds = bench.size(24, 8)
    samples = {ONE: [rate(bench, 1, rounds)], EIGHT: [rate(bench, 8, 8 * rounds)]}
    figures = [median_figure(name, each, "jobs/s", None if name == ONE else ONE) for name, each in samples.items()]
    jobs = bench.size(2_000, 500)
    costs = {SHORT_ONE: cost(bench, 1, jobs), SHORT_TEN: cost(bench, 10, jobs)}
    figures += [Figure(name, each, "µs", None if name == SHORT_ONE else SHORT_ONE) for name, each in costs.items()]
    return Result(figures, [Target(EIGHT, [ONE], at_least=7.5), Target(SHORT_TEN, [SHORT_ONE], at_most=1.2)])


def rate(bench: Bench, concurrency: int, jobs: int) -> float:
    """Jobs per second from the end of the first job to that of the last."""
    bench.say(f"{concurrency} at a time, {jobs} jobs")
    with bench.place.database() as url:
        prepare(url)
        add(url, jobs)
        with process(partial(work, url, concurrency)) as line:
            began = float(line.recv()) - HANDLER_SECONDS
            ends = [float(line.recv()) for _ in range(jobs - 1)]
    return jobs / (max(ends) - began)


def cost(bench: Bench, concurrency: int, jobs: int) -> float:
    """CPU time of the server for a job, in microseconds."""
    bench.say(f"{concurrency} at a time, {jobs} short jobs")
    with bench.place.database() as url, psycopg.connect(url, autocommit=True) as connection:
        prepare(url)
        add(url, jobs)
        with process(partial(work_short, url, concurrency)) as line:
            line.recv()
            before = server_cpu(connection)
            line.send("go")
            line.recv()
            return (server_cpu(connection) - before) / jobs / 1_000


def server_cpu(connection: psycopg.Connection[Any]) -> int:
    """Nanoseconds of the sessions of workers, by Linux."""
    rows = connection.execute(SESSIONS).fetchall()
    return sum(int(Path(f"/proc/{pid}/schedstat").read_text().split()[0]) for (pid,) in rows)


def work(url: str, concurrency: int, line: Line) -> None:
    run_concurrently(url, SlowWatch(line), concurrency)


def work_short(url: str, concurrency: int, line: Line) -> None:
    queue = queue_at(as_worker(url))
    line.send("ready")
    line.recv()
    run_all(queue, FAMILY, handlers(ShortWatch()), Deadline(float("inf"), 2**62), concurrency=concurrency)
    line.send("done")
    line.recv()


CONCURRENCY = Measurement("concurrency", "a worker whose handlers wait, one and several at a time", run)
