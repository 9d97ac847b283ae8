"""How long it takes from the call that enqueues a job to the start of its handler, when nothing else is going on."""

import random
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from functools import partial

from tickwork_bench.contenders import Listener, listening, pgqueuer, procrastinate, tickwork
from tickwork_bench.measure import Bench, Measurement, Result, Target, latency_figures
from tickwork_bench.processes import Line, Work, process

BARE = "bare loop with LISTEN"
LISTENERS: dict[str, Listener] = {
    "tickwork": tickwork,
    "Procrastinate": procrastinate,
    "PgQueuer": pgqueuer,
    BARE: listening,
}
WARM_UPS = 10
MAX_SECONDS = 30.0


class Announcer:
    """Says when a job starts."""

    def __init__(self, line: Line) -> None:
        self._line = line

    def tick(self) -> None:
        # The same clock in all processes of a machine.
        self._line.send(time.monotonic())


def run(bench: Bench) -> Result:
    """All workers wait at the same time, each in a database of its own, and get a job in turn."""
    with ExitStack() as running:
        trials = {name: started(bench, listener, running) for name, listener in LISTENERS.items()}
        samples = measured(bench, trials)
    return Result(latency_figures(samples, BARE), [Target("tickwork, p50", [f"{BARE}, p50"], at_most=2)])


def started(bench: Bench, listener: Listener, running: ExitStack, work: Work | None = None) -> Callable[[], float]:
    """What enqueues one job and returns the milliseconds until it started."""
    url = running.enter_context(bench.place.database())
    listener.prepare(url)
    sender = running.enter_context(listener.sender(url))
    line = running.enter_context(process(partial(listen, work or listener.listen, url)))

    def milliseconds() -> float:
        began = time.monotonic()
        sender.one_by_one(1)
        if not line.poll(MAX_SECONDS):
            raise TimeoutError(f"no job started within {MAX_SECONDS:.0f} s")
        return float(line.recv() - began) * 1000

    return milliseconds


def listen(work: Work, url: str, line: Line) -> None:
    work(url, Announcer(line))


def measured(bench: Bench, trials: Mapping[str, Callable[[], float]]) -> dict[str, list[float]]:
    samples: dict[str, list[float]] = {name: [] for name in trials}
    inserts = bench.size(200, 40)
    for number in range(-WARM_UPS, inserts):
        bench.say(f"job {max(number, 0)} of {inserts}")
        for name, milliseconds in trials.items():
            took = milliseconds()
            if number >= 0:
                samples[name].append(took)
            # Time to settle the job and to fall asleep again, and not in step with anybody's timer.
            time.sleep(random.uniform(0.01, 0.04))
    return samples


LATENCY = Measurement("latency", "from enqueuing a job to its start, on an idle queue", run)
