"""How many jobs a worker runs with several handlers at a time, if each of them waits for somebody else for a second."""

import threading
import time
from functools import partial

from tickwork_bench.contenders.tickwork import add, prepare, run_concurrently
from tickwork_bench.measure import Bench, Measurement, Result, Target, median_figure
from tickwork_bench.processes import Line, process

HANDLER_SECONDS = 1.0
ONE, EIGHT = "1 handler at a time", "8 handlers at a time"


class SlowWatch:
    """Says when a handler has ended; each takes a second."""

    def __init__(self, line: Line) -> None:
        self._line = line
        self._lock = threading.Lock()

    def tick(self) -> None:
        time.sleep(HANDLER_SECONDS)
        with self._lock:
            self._line.send(time.monotonic())


def run(bench: Bench) -> Result:
    rounds = bench.size(24, 8)
    samples = {ONE: [rate(bench, 1, rounds)], EIGHT: [rate(bench, 8, 8 * rounds)]}
    figures = [median_figure(name, each, "jobs/s", None if name == ONE else ONE) for name, each in samples.items()]
    return Result(figures, [Target(EIGHT, [ONE], at_least=7.5)])


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


def work(url: str, concurrency: int, line: Line) -> None:
    run_concurrently(url, SlowWatch(line), concurrency)


CONCURRENCY = Measurement("concurrency", "a worker whose handlers wait for a second, one and eight at a time", run)
