"""What taking turns costs: a fair claim against a plain one, with many tenants of which one owns three quarters."""

from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from statistics import mean
from typing import Any

import psycopg
from psycopg.rows import DictRow, dict_row

from tickwork_bench.claim_cost import CLAIMS
from tickwork_bench.measure import Bench, Measurement, Result, Target, interleaved, median_figure, seconds_of
from tickwork_bench.processes import Line, crowd
from tickwork_bench.seed import CLAIM_VALUES, PLAIN_SETTLE, SETTLE, Jobs, fill

# How many clients, and how often each of them claims in one round.
CLIENTS = {1: 300, 8: 100}
# What is left of a claim if it did nothing at all.
STATEMENTS = {**CLAIMS, "round trip alone": "select 1"}
SETTLES = {"tickwork": SETTLE, "plain order": PLAIN_SETTLE}
WARM_UPS = 20


def run(bench: Bench) -> Result:
    jobs, tenants = bench.size(400_000, 40_000), bench.size(500, 100)
    with bench.place.database() as url, ExitStack() as running:
        bench.say(f"filling the table: {jobs} jobs of {tenants} tenants")
        fill(url, [Jobs(jobs)], tenants)
        runs: dict[str, Callable[[], float]] = {}
        for clients, times in CLIENTS.items():
            for name, claim in STATEMENTS.items():
                client = partial(take_turns, url, claim, SETTLES.get(name), times)
                go = running.enter_context(crowd([client] * clients))
                runs[named(name, clients)] = partial(microseconds_of, go, times)
        samples = interleaved(bench, runs, bench.size(15, 5))
    return Result(
        [
            median_figure(named(name, clients), samples[named(name, clients)], "µs", named("plain order", clients))
            for clients in CLIENTS
            for name in STATEMENTS
        ],
        [Target(named("tickwork", clients), [named("plain order", clients)], at_most=1.2) for clients in CLIENTS],
    )


def named(name: str, clients: int) -> str:
    return f"{name}, {clients} client{'s' if clients > 1 else ''}"


def microseconds_of(go: Callable[[], list[Any]], times: int) -> float:
    """What a claim takes as each of the clients sees it, on average."""
    took: list[float] = go()
    # Now they settle, so that no claim meets more running jobs than those before it.
    go()
    return mean(took) / times * 1_000_000


def take_turns(url: str, claim: str, settle: str | None, times: int, line: Line) -> None:
    """Claim when told, and settle when told again."""
    with psycopg.connect(url, autocommit=True, row_factory=dict_row) as connection:
        # As tickwork's claim does by itself: the claim is compared, not the disk.
        connection.execute("set synchronous_commit = off")
        held: list[DictRow] = []

        def claim_often(often: int) -> None:
            for _ in range(often):
                held.extend(connection.execute(claim, CLAIM_VALUES).fetchall())

        claim_often(WARM_UPS)
        line.send("ready")
        while line.recv():
            line.send(seconds_of(partial(claim_often, times)))
            line.recv()
            if settle:
                ids, tokens = [row["id"] for row in held], [row["lease_token"] for row in held]
                connection.execute(settle, {"ids": ids, "tokens": tokens})
            held.clear()
            line.send("settled")


FAIR_CLAIM = Measurement("fair_claim", "a claim that takes turns against one in plain order, at 1 and 8 clients", run)
