"""How many jobs that do nothing are processed in a second."""

from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial

from tickwork_bench import node
from tickwork_bench.contenders import awa, bare, pgbench, pgqueuer, procrastinate, tickwork
from tickwork_bench.contenders.from_npm import GRAPHILE_WORKER, PG_BOSS
from tickwork_bench.measure import Bench, Measurement, Result, Target, interleaved, median_figure
from tickwork_bench.processes import PacedWork, paced

ONE = "bare loop, complete and claim in one"
MANY = "bare loop, 100 at a time"


@dataclass(frozen=True)
class Drain:
    """`jobs` keep one process busy for a third of a second or so."""

    fill: Callable[[str, int], None]
    work: PacedWork
    jobs: int
    base: str


DRAINS = {
    "tickwork, one at a time, 1 tenant": Drain(
        partial(tickwork.fill, tenants=1), tickwork.drain_one_at_a_time, 200, ONE
    ),
    "tickwork, one at a time, 20 tenants": Drain(
        partial(tickwork.fill, tenants=20), tickwork.drain_one_at_a_time, 200, ONE
    ),
    "tickwork, concurrency 200, 1 tenant": Drain(
        partial(tickwork.fill, tenants=1), partial(tickwork.drain_many_at_a_time, concurrency=200), 2_000, MANY
    ),
    "tickwork, concurrency 200, 20 tenants": Drain(
        partial(tickwork.fill, tenants=20), partial(tickwork.drain_many_at_a_time, concurrency=200), 2_000, MANY
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
FROM_NPM = {
    "graphile-worker, concurrency 1": Drain(
        GRAPHILE_WORKER.fill, partial(GRAPHILE_WORKER.drain, setting="one"), 200, ONE
    ),
    "graphile-worker, concurrency 24, batched": Drain(
        GRAPHILE_WORKER.fill, partial(GRAPHILE_WORKER.drain, setting="best"), 8_000, MANY
    ),
    "pg-boss, batch size 1": Drain(PG_BOSS.fill, partial(PG_BOSS.drain, setting="1"), 150, ONE),
    "pg-boss, batch size 100": Drain(PG_BOSS.fill, partial(PG_BOSS.drain, setting="100"), 2_000, MANY),
    "pg-boss, batch size 500": Drain(PG_BOSS.fill, partial(PG_BOSS.drain, setting="500"), 8_000, MANY),
}
FROM_WHEEL = {
    "awa, 1 worker": Drain(awa.fill, partial(awa.drain, max_workers=1), 100, ONE),
    "awa, 1,024 workers": Drain(awa.fill, partial(awa.drain, max_workers=1_024), 8_000, MANY),
}
# Each at its own one-at-a-time setting.
PEERS = {
    "Procrastinate": "concurrency 1",
    "PgQueuer": "batch size 1",
    "graphile-worker": "concurrency 1",
    "pg-boss": "batch size 1",
    "awa": "1 worker",
}
FLOOR = "pgbench, one update per transaction"
FLOOR_JOBS = 1_000


def run(bench: Bench) -> Result:
    bench.say("installing what comes from npm")
    reasons = [each for each in (node.why_not(), awa.WHY_NOT) if each]
    drains = {**DRAINS, **({} if node.why_not() else FROM_NPM), **({} if awa.WHY_NOT else FROM_WHEEL)}
    samples = {**measured(bench, drains, 1), **measured(bench, drains, 2)}
    bases = {**{name: drain.base for name, drain in drains.items()}, FLOOR: ONE}
    figures = [
        median_figure(named(name, processes), samples[named(name, processes)], "jobs/s", named(base, processes))
        for processes in (1, 2)
        for name, base in bases.items()
        if named(name, processes) in samples
    ]
    return Result(figures, targets(drains), notes=reasons)


def measured(bench: Bench, drains: Mapping[str, Drain], processes: int) -> dict[str, list[float]]:
    """All workers are there at the same time, each in a database of its own, and process a slice in turn."""
    slices = bench.size(15, 3)
    with ExitStack() as running:
        runs: dict[str, Callable[[], float]] = {}
        for name, drain in drains.items():
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


def targets(drains: Mapping[str, Drain]) -> list[Target]:
    """For one process; with more, they share the machine with the server."""
    found: list[Target] = []
    for tenants in ("1 tenant", "20 tenants"):
        one, many = (named(f"tickwork, {how}, {tenants}", 1) for how in ("one at a time", "concurrency 200"))
        found += [Target(one, [named(ONE, 1)], at_least=0.5), Target(many, [named(MANY, 1)], at_least=0.6)]
        for peer, alone in PEERS.items():
            if settings := [named(name, 1) for name in drains if name.startswith(peer)]:
                found.append(Target(one, [named(f"{peer}, {alone}", 1)], at_least=1))
                found.append(Target(many, settings, at_least=1, called=f"{peer}'s best"))
    return found


DRAIN = Measurement("drain", "jobs that do nothing, processed by one and by two processes", run)
