"""What a claim costs the server, whatever is in the table: CPU time per job, one at a time and in batches."""

from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass

from tickwork_bench.claims import as_a_worker
from tickwork_bench.measure import Bench, Measurement, Result, Target, interleaved, median_figure, percentile
from tickwork_bench.place import Place, place_without_disk
from tickwork_bench.seed import Jobs, fill

ONE, MANY = "one at a time", "100 at a time"
# How many jobs a claim takes.
SIZES = {ONE: 1, MANY: 100}
WARM_UPS = 2
MAX_RATIO = 1.2

SMALL_ROWS = 40_000
SMALL, SMALL_OF_MANY = "40 k queued", "40 k of 100 tenants"


@dataclass(frozen=True)
class State:
    """What is in the tables before the first claim."""

    jobs: list[Jobs]
    tenants: int = 1

    def base(self, how: str) -> str:
        """What it is compared with. A batch takes turns only among several tenants: there, with as many as jobs."""
        return SMALL_OF_MANY if self.tenants > 1 and how == MANY else SMALL


def run(bench: Bench) -> Result:
    kinds = states(bench)
    with place_without_disk(bench.folder) as place:
        samples = measured(bench, place, kinds)
    compared = {(how, state): kinds[state].base(how) for how, state in samples}
    return Result(
        [
            median_figure(named(how, state), each, "µs", named(how, compared[how, state]))
            for (how, state), each in samples.items()
        ],
        [
            Target(named(how, state), [named(how, base)], at_most=MAX_RATIO)
            for (how, state), base in compared.items()
            if state not in (SMALL, SMALL_OF_MANY)
        ],
        {
            how: {state: [percentile(samples[how, state], share) for share in (5, 50, 95)] for state in kinds}
            for how in SIZES
        },
    )


def states(bench: Bench) -> dict[str, State]:
    many, tenants = bench.size(1_000_000, 60_000), bench.size(10_000, 1_000)
    due = Jobs(SMALL_ROWS)
    return {
        SMALL: State([due]),
        f"{in_short(many)} queued": State([Jobs(many)]),
        f"{in_short(many)} future-dated in front": State([Jobs(many, due="future", priority=50), due]),
        f"{in_short(many)} finished": State([Jobs(many, status="done"), due]),
        SMALL_OF_MANY: State([due], 100),
        f"{in_short(many)} of {in_short(tenants)} tenants": State([Jobs(many)], tenants),
    }


def in_short(number: int) -> str:
    return f"{number // 1_000_000} M" if number >= 1_000_000 else f"{number // 1_000} k"


def named(how: str, state: str) -> str:
    return f"{how}, {state}"


def measured(bench: Bench, place: Place, kinds: Mapping[str, State]) -> dict[tuple[str, str], list[float]]:
    """Claims from all tables in turn, so that a slow minute of the machine affects all of them."""
    with ExitStack() as running:
        claims: dict[str, Callable[[], float]] = {}
        for label, state in kinds.items():
            bench.say(f"filling the table: {label}")
            url = running.enter_context(place.database())
            fill(url, state.jobs, state.tenants)
            for how, max_jobs in SIZES.items():
                claims[named(how, label)] = as_a_worker(url, max_jobs).microseconds
        samples = interleaved(bench, claims, WARM_UPS + bench.size(15, 4))
    return {(how, label): samples[named(how, label)][WARM_UPS:] for how in SIZES for label in kinds}


CLAIM_COST = Measurement(
    "claim_cost", "server CPU time of claims among many jobs, future ones, finished ones, and many tenants", run
)
