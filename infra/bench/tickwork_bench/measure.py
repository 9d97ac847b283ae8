"""The result of a measurement: figures, what each is compared with, and the targets for them."""

import random
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median, quantiles
from typing import Any, Literal

from tickwork_bench.place import Place

Unit = Literal["jobs/s", "pages/s", "passports/min", "µs", "ms", "claims", "rows", "times", "kB", "bytes", "%"]


@dataclass(frozen=True)
class Figure:
    """One number, and the name of the figure of the same measurement that it is shown as a multiple of."""

    name: str
    value: float
    unit: Unit
    base: str | None = None
    samples: Sequence[float] = ()


@dataclass(frozen=True)
class Target:
    """A bound on a figure as a multiple of the highest of others, or of nothing but its unit."""

    figure: str
    against: Sequence[str] = ()
    at_least: float | None = None
    at_most: float | None = None
    # What stands for `against` where several are compared.
    called: str | None = None


@dataclass(frozen=True)
class Result:
    figures: Sequence[Figure]
    targets: Sequence[Target] = ()
    # What a picture needs beyond the figures.
    series: Mapping[str, Any] = field(default_factory=dict)
    # What a reader has to know, such as who was left out.
    notes: Sequence[str] = ()


@dataclass(frozen=True)
class Bench:
    """Where to measure, how much, and whom to tell."""

    place: Place
    folder: Path
    is_quick: bool
    say: Callable[[str], None]

    def size(self, full: int, quick: int) -> int:
        return quick if self.is_quick else full


@dataclass(frozen=True)
class Measurement:
    name: str
    about: str
    run: Callable[[Bench], Result]


def interleaved(bench: Bench, runs: Mapping[str, Callable[[], float]], rounds: int) -> dict[str, list[float]]:
    """Each in turn, round after round, so that a slow minute of the machine affects all of them.

    The order changes from round to round, so that the after-effects of a run do not always hit the same one.
    """
    samples: dict[str, list[float]] = {name: [] for name in runs}
    for number in range(1, rounds + 1):
        for name in random.Random(number).sample(list(runs), len(runs)):
            bench.say(f"{name} (round {number} of {rounds})")
            samples[name].append(runs[name]())
    return samples


def seconds_of(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def median_figure(name: str, samples: Sequence[float], unit: Unit, base: str | None = None) -> Figure:
    return Figure(name, median(samples), unit, base, samples)


def latency_figures(samples: Mapping[str, Sequence[float]], base: str) -> list[Figure]:
    """The median and the 95th percentile of each, compared with those of `base`."""
    return [
        figure
        for name, each in samples.items()
        for figure in (
            Figure(f"{name}, p50", median(each), "ms", f"{base}, p50", each),
            Figure(f"{name}, p95", percentile(each, 95), "ms", f"{base}, p95"),
        )
    ]


def percentile(samples: Sequence[float], share: int) -> float:
    return quantiles(samples, n=100, method="inclusive")[share - 1]


def batches(jobs: int, size: int) -> list[range]:
    return [range(start, min(start + size, jobs)) for start in range(0, jobs, size)]
