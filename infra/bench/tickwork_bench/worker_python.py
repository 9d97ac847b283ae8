"""What a job costs the worker's own process: CPU time of its Python, next to a bare psycopg loop."""

import time
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial

from tickwork.runtime.deadline import Deadline
from tickwork.runtime.work import work
from tickwork_bench.contenders import bare, tickwork
from tickwork_bench.measure import Bench, Figure, Measurement, Result, Target, interleaved, median_figure, percentile
from tickwork_bench.place import place_without_disk
from tickwork_bench.processes import Line, process

ONE, MANY = "tickwork, one at a time", "tickwork, concurrency 200"
BARE_ONE, BARE_MANY = "bare loop, one at a time", "bare loop, 100 at a time"
# Microseconds per job.
TARGETS = {ONE: 100, MANY: 6}
WARM_UPS = 2

# Runs so many jobs, and returns how many it has run.
Slice = Callable[[int], int]


class NoWatch:
    def tick(self) -> None:
        pass


def run(bench: Bench) -> Result:
    """All processes are there at the same time, each with a database of its own, and run a slice in turn."""
    rounds = WARM_UPS + bench.size(20, 5)
    loops: dict[str, tuple[Callable[[str], Slice], int, Callable[[str, int], None]]] = {
        ONE: (partial(tickwork_slices, concurrency=1), 400, partial(tickwork.fill, tenants=1)),
        MANY: (partial(tickwork_slices, concurrency=200), 4_000, partial(tickwork.fill, tenants=1)),
        BARE_ONE: (partial(bare_slices, max_jobs=1), 400, bare.fill),
        BARE_MANY: (partial(bare_slices, max_jobs=100), 4_000, bare.fill),
    }
    with place_without_disk(bench.folder) as place, ExitStack() as running:
        runs: dict[str, Callable[[], float]] = {}
        for name, (slices, jobs, fill) in loops.items():
            bench.say(f"filling the queue: {name}")
            url = running.enter_context(place.database())
            fill(url, jobs * (rounds + 1))
            line = running.enter_context(process(partial(meter, slices, url)))
            runs[name] = partial(microseconds, line, jobs)
        samples = interleaved(bench, runs, rounds)
    cpu = {name: each[WARM_UPS:] for name, each in samples.items()}
    bases = {ONE: BARE_ONE, MANY: BARE_MANY}
    figures = [median_figure(name, each, "µs", bases.get(name)) for name, each in cpu.items()]
    figures += [Figure(f"{name}, q25", percentile(each, 25), "µs") for name, each in cpu.items()]
    return Result(figures, [Target(name, at_most=most) for name, most in TARGETS.items()])


def microseconds(line: Line, jobs: int) -> float:
    line.send(jobs)
    return float(line.recv())


def meter(slices: Callable[[str], Slice], url: str, line: Line) -> None:
    """In a process of its own: the CPU time of each slice, of all threads."""
    run_slice = slices(url)
    while True:
        jobs = line.recv()
        began = time.process_time()
        done = run_slice(jobs)
        line.send((time.process_time() - began) / done * 1e6)


def tickwork_slices(url: str, concurrency: int) -> Slice:
    queue, handlers = tickwork.queue_at(tickwork.as_worker(url)), tickwork.handlers(NoWatch())

    def run_slice(jobs: int) -> int:
        deadline = Deadline(float("inf"), jobs)
        return work(queue, tickwork.FAMILY, handlers, deadline, concurrency=concurrency).claimed

    return run_slice


def bare_slices(url: str, max_jobs: int) -> Slice:
    complete_and_claim = bare.claimer(url, max_jobs)

    def run_slice(jobs: int) -> int:
        done = 0
        while done < jobs:
            done += complete_and_claim()
        return done

    return run_slice


WORKER_PYTHON = Measurement("worker_python", "CPU time of a job in the worker's own process, without the disk", run)
