"""How many jobs are enqueued in a second, one by one and in bulk."""

from collections.abc import Callable
from contextlib import ExitStack
from functools import partial

from tickwork_bench import node
from tickwork_bench.contenders import Contender, awa, bare, pgbench, pgqueuer, procrastinate, tickwork
from tickwork_bench.contenders.from_npm import GRAPHILE_WORKER, PG_BOSS
from tickwork_bench.measure import Bench, Measurement, Result, Target, interleaved, median_figure, seconds_of

FEW, MANY = 100, 1_000
ONE_BY_ONE, IN_BULK = "one by one", f"{MANY:,} at a time"

CONTENDERS: dict[str, Contender] = {
    "tickwork": tickwork,
    "Procrastinate": procrastinate,
    "PgQueuer": pgqueuer,
    "bare insert": bare,
}
FROM_NPM: dict[str, Contender] = {"graphile-worker": GRAPHILE_WORKER, "pg-boss": PG_BOSS}
FLOOR = f"pgbench, {ONE_BY_ONE}"


def run(bench: Bench) -> Result:
    """All are connected at the same time, each to a database of its own, and enqueue a little in turn."""
    bench.say("installing what comes from npm")
    reasons = [each for each in (node.why_not(), awa.WHY_NOT) if each]
    contenders = {**CONTENDERS, **({} if node.why_not() else FROM_NPM), **({} if awa.WHY_NOT else {"awa": awa})}
    with ExitStack() as running:
        one_by_one: dict[str, Callable[[], float]] = {}
        in_bulk: dict[str, Callable[[], float]] = {}
        for name, contender in contenders.items():
            url = running.enter_context(bench.place.database())
            contender.prepare(url)
            sender = running.enter_context(contender.sender(url))
            one_by_one[f"{name}, {ONE_BY_ONE}"] = partial(rate_of, sender.one_by_one, FEW)
            in_bulk[f"{name}, {IN_BULK}"] = partial(rate_of, sender.in_bulk, MANY)
        if pgbench.program():
            url = running.enter_context(bench.place.database())
            bare.prepare(url)
            one_by_one[FLOOR] = partial(pgbench.rate_of, url, pgbench.INSERT, f"--transactions={FEW}")
        samples = {
            **interleaved(bench, one_by_one, bench.size(30, 5)),
            **interleaved(bench, in_bulk, bench.size(20, 5)),
        }
    return Result(
        [median_figure(name, each, "jobs/s", base_of(name)) for name, each in samples.items()],
        [
            Target(f"tickwork, {ONE_BY_ONE}", [f"bare insert, {ONE_BY_ONE}"], at_least=0.6),
            Target(f"tickwork, {IN_BULK}", [f"bare insert, {IN_BULK}"], at_least=0.6),
        ],
        notes=reasons,
    )


def rate_of(enqueue: Callable[[int], object], jobs: int) -> float:
    return jobs / seconds_of(lambda: enqueue(jobs))


def base_of(name: str) -> str:
    return f"bare insert, {IN_BULK if name.endswith(IN_BULK) else ONE_BY_ONE}"


ENQUEUE = Measurement("enqueue", "jobs enqueued one by one and in bulk", run)
