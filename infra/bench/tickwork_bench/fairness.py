"""How long each tenant waits, counted in claims, when one of them came first with far more jobs than the others."""

import json
from collections.abc import Mapping, Sequence
from statistics import median

import psycopg

from tickwork_bench.contenders.tickwork import FAMILY, TYPE, client_at, done, prepare, queue_at, tenants_in
from tickwork_bench.measure import Bench, Figure, Measurement, Result, Target, batches

PLAIN_ORDER = "select payload ->> 'number' from public.jobs order by priority desc, run_at, id"
SMALL = 10

# For each tenant, the large one first, how many claims it took to come to each of its jobs.
Waits = Sequence[Sequence[int]]


def run(bench: Bench) -> Result:
    bench.say("three tenants, two of them small")
    three = waits(bench, [bench.size(10_000, 1_000), SMALL, SMALL])
    tenants = bench.size(500, 100)
    bench.say(f"{tenants} tenants, of which one owns three quarters")
    many = waits(bench, [3 * SMALL * (tenants - 1), *[SMALL] * (tenants - 1)])
    figures = [
        Figure(f"{order}, {name}", value, "claims", None if order == "plain order" else f"plain order, {name}")
        for order in three
        for name, value in {
            "3 tenants, until the small ones are finished": last_of_small(three[order]),
            f"{tenants} tenants, until a small one's first job": first_of_small(many[order]),
            f"{tenants} tenants, until the small ones are finished": last_of_small(many[order]),
        }.items()
    ]
    targets = [Target("tickwork, 3 tenants, until the small ones are finished", at_most=60)]
    return Result(figures, targets, {order: [each[0] for each in found] for order, found in many.items()})


def waits(bench: Bench, jobs_of_tenants: Sequence[int]) -> Mapping[str, Waits]:
    with bench.place.database() as url:
        enqueue(url, jobs_of_tenants)
        with psycopg.connect(url, autocommit=True) as connection:
            plain = [int(row[0]) for row in connection.execute(PLAIN_ORDER).fetchall()]
        orders = {"tickwork": claimed_one_by_one(url), "plain order": plain}
    assert len(orders["tickwork"]) == len(plain), "every job is claimed once"
    return {name: places(order, len(jobs_of_tenants)) for name, order in orders.items()}


def claimed_one_by_one(url: str) -> list[int]:
    """The tenants' numbers in the order of claims; what was claimed is settled a hundred jobs at a time."""
    order: list[int] = []
    held: list[dict[str, str]] = []
    queue = queue_at(url)
    while jobs := queue.settle_and_claim([], [], family=FAMILY, max_jobs=1)[1]:
        job = jobs[0]
        order.append(json.loads(job.payload)["number"])
        held.append(done(job))
        if len(held) == 100:
            queue.settle_jobs(held)
            held.clear()
    queue.database.close()
    return order


def places(order: Sequence[int], tenants: int) -> Waits:
    found: list[list[int]] = [[] for _ in range(tenants)]
    for place, tenant in enumerate(order, 1):
        found[tenant].append(place)
    return found


def enqueue(url: str, jobs_of_tenants: Sequence[int]) -> None:
    """Each tenant's jobs after those of the one before; their payload has the tenant's number."""
    prepare(url, len(jobs_of_tenants))
    ids = tenants_in(url)
    numbers = [number for number, jobs in enumerate(jobs_of_tenants) for _ in range(jobs)]
    client = client_at(url)
    for batch in batches(len(numbers), 1_000):
        client.jobs.enqueue_jobs(
            [
                {"tenant_id": str(ids[number]), "type": TYPE, "payload": {"number": number}}
                for number in numbers[batch.start : batch.stop]
            ]
        )
    client.database.close()


def first_of_small(found: Waits) -> float:
    return median(each[0] for each in found[1:])


def last_of_small(found: Waits) -> float:
    return float(max(each[-1] for each in found[1:]))


FAIRNESS = Measurement("fairness", "how long each tenant waits when one owns three quarters of the jobs", run)
