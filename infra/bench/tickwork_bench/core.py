"""What a job costs the server, one call at a time and in batches: CPU time of the session and WAL, without the disk."""

from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from statistics import median

from tickwork_bench.contenders import bare, tickwork
from tickwork_bench.contenders.tickwork_sql import Calls
from tickwork_bench.measure import (
    Bench,
    Figure,
    Measurement,
    Result,
    Target,
    interleaved,
    median_figure,
    percentile,
)
from tickwork_bench.place import Place, place_without_disk
from tickwork_bench.server_time import Metered

ONE, ONE_TENANT, MANY_TENANTS = "one at a time, 20 tenants", "100 at a time, 1 tenant", "100 at a time, 20 tenants"
ENQUEUE_ONE, ENQUEUE_MANY = "enqueue one", "enqueue 1,000"
# Microseconds per job.
TARGETS = {ONE: 130, ONE_TENANT: 10.5, MANY_TENANTS: 13, ENQUEUE_ONE: 110, ENQUEUE_MANY: 6.5}
BARE = {
    ONE: "bare loop, one at a time",
    ONE_TENANT: "bare loop, 100 at a time",
    MANY_TENANTS: "bare loop, 100 at a time",
    ENQUEUE_ONE: "bare insert, one",
    ENQUEUE_MANY: "bare insert, 1,000",
}
MAX_WAL = 1_000
WARM_UPS = 2


def run(bench: Bench) -> Result:
    """All sessions are there at the same time, each with a database of its own, and process a slice in turn."""
    rounds = WARM_UPS + bench.size(30, 5)
    with place_without_disk(bench.folder) as place, ExitStack() as running:
        bench.say("filling the queues")
        loops = {**tickwork_loops(place, running, rounds), **bare_loops(place, running, rounds)}
        samples = interleaved(bench, {name: loop.microseconds for name, loop in loops.items()}, rounds)
    cpu = {name: each[WARM_UPS:] for name, each in samples.items()}
    wal = {name: median(loop.wal[WARM_UPS:]) for name, loop in loops.items()}
    bases = {f"tickwork, {what}": name for what, name in BARE.items()}
    return Result(
        [
            *(median_figure(name, each, "µs", bases.get(name)) for name, each in cpu.items()),
            *(
                Figure(f"{name}, q25", percentile(each, 25), "µs", f"{bases[name]}, q25" if name in bases else None)
                for name, each in cpu.items()
            ),
            *(
                Figure(f"{name}, WAL", each, "bytes", f"{bases[name]}, WAL" if name in bases else None)
                for name, each in wal.items()
            ),
        ],
        [
            *(Target(f"tickwork, {what}", at_most=most) for what, most in TARGETS.items()),
            Target(f"tickwork, {ONE}, WAL", at_most=MAX_WAL),
        ],
    )


def tickwork_loops(place: Place, running: ExitStack, rounds: int) -> dict[str, Metered]:
    found: dict[str, Metered] = {}
    for what, tenants, max_jobs, jobs in (
        (ONE, 20, 1, 200),
        (ONE_TENANT, 1, 100, 2_000),
        (MANY_TENANTS, 20, 100, 2_000),
    ):
        url = running.enter_context(place.database())
        tickwork.fill(url, jobs * (rounds + 1), tenants)
        calls = Calls(url)
        found[f"tickwork, {what}"] = Metered(calls.worker, partial(calls.settle_and_claim, max_jobs), jobs)
    url = running.enter_context(place.database())
    tickwork.prepare(url)
    calls = Calls(url)
    found[f"tickwork, {ENQUEUE_ONE}"] = Metered(calls.sender, calls.enqueue_one, 200)
    found[f"tickwork, {ENQUEUE_MANY}"] = Metered(calls.sender, partial(calls.enqueue_many, 1_000), 2_000)
    return found


def bare_loops(place: Place, running: ExitStack, rounds: int) -> dict[str, Metered]:
    found: dict[str, Metered] = {}
    for what, max_jobs, jobs in ((ONE, 1, 200), (ONE_TENANT, 100, 2_000)):
        url = running.enter_context(place.database())
        bare.fill(url, jobs * (rounds + 1))
        connection = bare.connected(url)
        found[BARE[what]] = Metered(connection, bare.completer(connection, max_jobs), jobs)
    url = running.enter_context(place.database())
    bare.prepare(url)
    connection = bare.connected(url)
    sender = bare.sender_of(connection)

    def insert(jobs: int, send: Callable[[int], object]) -> int:
        send(jobs)
        return jobs

    found[BARE[ENQUEUE_ONE]] = Metered(connection, partial(insert, 1, sender.one_by_one), 200)
    found[BARE[ENQUEUE_MANY]] = Metered(connection, partial(insert, 1_000, sender.in_bulk), 2_000)
    return found


CORE = Measurement("core", "server CPU time and WAL of a job: settle and claim, enqueue, next to a bare loop", run)
