"""How many jobs that do nothing are worked off in a second."""

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial

from tickwork_bench.contenders import bare, pgbench, pgqueuer, procrastinate, tickwork
from tickwork_bench.measure import Bench, Measurement, Result, Target, interleaved, median_figure
from tickwork_bench.processes import Work, paced

ONE = "bare loop, complete and claim in one"
MANY = "bare loop, 100 at a time"


@dataclass(frozen=True)
class Drain:
    """`jobs` keep one process busy for a third of a second or so."""

    fill: Callable[[str, int], None]
    work: Work
    jobs: int
    base: str


# Half of what a worker holds goes into each statement, while the other half runs.
HELD = 2 * 100

DRAINS = {
    "tickwork, one at a time, 1 tenant": Drain(
        partial(tickwork.fill, tenants=1), tickwork.drain_one_at_a_time, 200, ONE
    ),
    "tickwork, one at a time, 20 tenants": Drain(
        partial(tickwork.fill, tenants=20), tickwork.drain_one_at_a_time, 200, ONE
    ),
    "tickwork, 100 at a time, 1 tenant": Drain(
        partial(tickwork.fill, tenants=1), partial(tickwork.drain_many_at_a_time, batch_size=HELD), 2_000, MANY
    ),
    "tickwork, 100 at a time, 20 tenants": Drain(
        partial(tickwork.fill, tenants=20), partial(tickwork.drain_many_at_a_time, batch_size=HELD), 2_000, MANY
    ),
    "Procrastinate, concurrency 1": Drain(procrastinate.fill, partial(procrastinate.drain, concurrency=1), 100, ONE),
    "Procrastinate, concurrency 10": Drain(procrastinate.fill, partial(procrastinate.drain, concurrency=10), 100, ONE),
    "PgQueuer, batch size 1": Drain(pgqueuer.fill, partial(pgqueuer.drain, batch_size=1), 150, ONE),
    "PgQueuer, batch size 10": Drain(pgqueuer.fill, partial(pgqueuer.drain, batch_size=10), 800, MANY),
    "PgQueuer, batch size 100": Drain(pgqueuer.fill, partial(pgqueuer.drain, batch_size=100), 2_000, MANY),
    "bare loop, two commits per job": Drain(bare.fill, bare.drain_with_two_commits, 200, ONE),
    ONE: Drain(bare.fill, partial(bare.drain, batch_size=1), 400, ONE),
    MANY: Drain(bare.fill, partial(bare.drain, batch_size=100), 5_000, MANY),
}
FLOOR = "pgbench, one update per transaction"
FLOOR_JOBS = 1_000


def run(bench: Bench) -> Result:
    samples = {**measured(bench, 1), **measured(bench, 2)}
    bases = {**{name: drain.base for name, drain in DRAINS.items()}, FLOOR: ONE}
    figures = [
        median_figure(named(name, processes), samples[named(name, processes)], "jobs/s", named(base, processes))
        for processes in (1, 2)
        for name, base in bases.items()
        if named(name, processes) in samples
    ]
    return Result(figures, targets())


def measured(bench: Bench, processes: int) -> dict[str, list[float]]:
    """All workers are there at the same time, each in a database of its own, and work off a slice in turn."""
    slices = bench.size(15, 3)
    with ExitStack() as running:
        runs: dict[str, Callable[[], float]] = {}
        for name, drain in DRAINS.items():
            bench.say(f"filling the queue: {named(name, processes)}")
            url = running.enter_context(bench.place.database())
            jobs = drain.jobs // bench.size(1, 2)
            # Two slices more than are measured: the first warms up, and none is the last.
            drain.fill(url, jobs * processes * (slices + 2))
            runs[named(name, processes)] = running.enter_context(paced(drain.work, url, processes, jobs))
        if pgbench.program():
            url = running.enter_context(bench.place.database())
            bare.fill(url, FLOOR_JOBS)
            amount = f"--transactions={FLOOR_JOBS // 2}"
            runs[named(FLOOR, processes)] = partial(pgbench.rate_of, url, pgbench.UPDATE, amount, processes, FLOOR_JOBS)
        samples = interleaved(bench, runs, 1 + slices)
    return {name: each[1:] for name, each in samples.items()}


def named(name: str, processes: int) -> str:
    return f"{name}, {processes} process{'es' if processes > 1 else ''}"


def targets() -> list[Target]:
    """For one process; with more, they share the machine with the server."""
    procrastinates = [named(name, 1) for name in DRAINS if name.startswith("Procrastinate")]
    pgqueuers = [named(name, 1) for name in DRAINS if name.startswith("PgQueuer")]
    return [
        target
        for tenants in ("1 tenant", "20 tenants")
        for target in (
            Target(named(f"tickwork, one at a time, {tenants}", 1), [named(ONE, 1)], at_least=0.7),
            Target(
                named(f"tickwork, one at a time, {tenants}", 1),
                procrastinates,
                at_least=2,
                called="Procrastinate's best",
            ),
            Target(named(f"tickwork, one at a time, {tenants}", 1), [named("PgQueuer, batch size 1", 1)], at_least=2),
            Target(named(f"tickwork, 100 at a time, {tenants}", 1), [named(MANY, 1)], at_least=0.5),
            Target(named(f"tickwork, 100 at a time, {tenants}", 1), pgqueuers, at_least=1, called="PgQueuer's best"),
        )
    ]


DRAIN = Measurement("drain", "jobs that do nothing, worked off by one and by two processes", run)
