"""What one claim costs, whatever is in the table, next to the textbook claim."""

import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from typing import Any

import psycopg

from tickwork_bench.measure import Bench, Measurement, Result, Target, median_figure, percentile
from tickwork_bench.seed import CLAIM, CLAIM_VALUES, PLAIN_CLAIM, Jobs, fill

CLAIMS = {"tickwork": CLAIM, "plain order": PLAIN_CLAIM}
WARM_UPS = 20
# The textbook claim takes its time on some tables: a few samples of that will do.
MAX_SECONDS = 5.0

Trials = Mapping[tuple[str, str], Callable[[], float]]


@dataclass(frozen=True)
class State:
    """What is in the table before the first claim."""

    jobs: list[Jobs]
    tenants: int = 1


def run(bench: Bench) -> Result:
    kinds = states(bench)
    base, *others = kinds
    with ExitStack() as running:
        samples = measured(bench, trials(bench, kinds, running))
    figures = [
        median_figure(f"{claim}, {state}", each, "µs", f"{claim}, {base}") for (claim, state), each in samples.items()
    ]
    targets = [Target(f"tickwork, {state}", [f"tickwork, {base}"], at_most=1.2) for state in others]
    series = {
        claim: {state: [percentile(samples[claim, state], share) for share in (5, 50, 95)] for state in kinds}
        for claim in CLAIMS
    }
    return Result(figures, targets, series)


def states(bench: Bench) -> dict[str, State]:
    many, tenants = bench.size(1_000_000, 50_000), bench.size(10_000, 1_000)
    due = Jobs(1_000)
    depths = [1_000, 10_000, many // 10, many] if many > 100_000 else [1_000, many]
    return {
        **{f"{in_short(depth)} queued": State([Jobs(depth)]) for depth in depths},
        f"{in_short(many)} future-dated in front": State([Jobs(many, due="future", priority=50), due]),
        f"{in_short(many)} finished": State([Jobs(many, status="done"), due]),
        f"{in_short(tenants)} tenants": State([Jobs(10 * tenants)], tenants),
    }


def in_short(number: int) -> str:
    return f"{number // 1_000_000} M" if number >= 1_000_000 else f"{number // 1_000} k"


def trials(bench: Bench, kinds: Mapping[str, State], running: ExitStack) -> Trials:
    found: dict[tuple[str, str], Callable[[], float]] = {}
    for label, state in kinds.items():
        bench.say(f"filling the table: {label}")
        url = running.enter_context(bench.place.database())
        fill(url, state.jobs, state.tenants)
        for name, claim in CLAIMS.items():
            connection = running.enter_context(psycopg.connect(url, autocommit=True))
            # As tickwork's claim does by itself: the claim is compared, not the disk.
            connection.execute("set synchronous_commit = off")
            found[name, label] = partial(microseconds_of, connection, claim)
    return found


def microseconds_of(connection: psycopg.Connection[Any], claim: str) -> float:
    began = time.perf_counter()
    rows = connection.execute(claim, CLAIM_VALUES).fetchall()
    took = time.perf_counter() - began
    assert len(rows) == 1, "there is always a job to claim"
    return took * 1_000_000


def measured(bench: Bench, found: Trials) -> dict[tuple[str, str], list[float]]:
    """Claims from all tables in turn, so that a slow minute of the machine affects all of them."""
    samples: dict[tuple[str, str], list[float]] = {name: [] for name in found}
    claims = bench.size(400, 100)
    for number in range(-WARM_UPS, claims):
        bench.say(f"claim {max(number, 0)} of {claims}")
        for name, microseconds in found.items():
            if sum(samples[name]) < MAX_SECONDS * 1_000_000:
                took = microseconds()
                if number >= 0:
                    samples[name].append(took)
    return samples


CLAIM_COST = Measurement(
    "claim_cost", "one claim at growing depth, behind the future, after finished jobs, with many tenants", run
)
