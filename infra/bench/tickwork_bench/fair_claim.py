"""What taking turns costs: a fair claim against a plain one, with many tenants of which one owns three quarters."""

from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from statistics import mean

import psycopg

from tickwork_bench.claim_cost import CLAIMS
from tickwork_bench.measure import Bench, Measurement, Result, Target, interleaved, median_figure, seconds_of
from tickwork_bench.processes import Line, crowd
from tickwork_bench.seed import CLAIM_VALUES, Jobs, fill, settle_all

# How many clients, and how often each of them claims in one round.
CLIENTS = {1: 300, 8: 100}
# What is left of a claim if it did nothing at all.
STATEMENTS = {**CLAIMS, "round trip alone": "select 1"}
WARM_UPS = 20


def run(bench: Bench) -> Result:
    jobs, tenants = bench.size(400_000, 40_000), bench.size(500, 100)
    with bench.place.database() as url, ExitStack() as running:
        bench.say(f"filling the table: {jobs} jobs of {tenants} tenants")
        fill(url, [Jobs(jobs)], tenants)
        runs: dict[str, Callable[[], float]] = {}
        for clients, times in CLIENTS.items():
            for name, claim in STATEMENTS.items():
                go = running.enter_context(crowd(partial(claim_when_told, url, claim, times), clients))
                runs[named(name, clients)] = partial(microseconds_of, url, go, times)
        samples = interleaved(bench, runs, bench.size(15, 5))
    return Result(
        [
            median_figure(named(name, clients), samples[named(name, clients)], "µs", named("plain order", clients))
            for clients in CLIENTS
            for name in STATEMENTS
        ],
        [Target(named("tickwork", clients), [named("plain order", clients)], at_most=1.5) for clients in CLIENTS],
    )


def named(name: str, clients: int) -> str:
    return f"{name}, {clients} client{'s' if clients > 1 else ''}"


def microseconds_of(url: str, go: Callable[[], list[float]], times: int) -> float:
    """What a claim takes as each of the clients sees it, on average."""
    settle_all(url)
    return mean(go()) / times * 1_000_000


def claim_when_told(url: str, claim: str, times: int, line: Line) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        # As tickwork's claim does by itself: the claim is compared, not the disk.
        connection.execute("set synchronous_commit = off")
        for _ in range(WARM_UPS):
            connection.execute(claim, CLAIM_VALUES).fetchall()
        line.send("ready")
        while line.recv():
            line.send(seconds_of(lambda: [connection.execute(claim, CLAIM_VALUES).fetchall() for _ in range(times)]))


FAIR_CLAIM = Measurement("fair_claim", "a claim that takes turns against one in plain order, at 1 and 8 clients", run)
