"""
A million jobs that end in every way, are purged meanwhile, and are counted by a ticker that is killed twenty times.

    make test-figures                 # a million, some minutes
    make test-figures ARGS=50000      # fewer

Exits with 1 unless the totals, days, hours and minutes are what this script knows, to the job.
"""

import multiprocessing
import random
import sys
import time
from collections import Counter
from datetime import timedelta
from tempfile import TemporaryDirectory
from typing import Any

import psycopg

from tests.world import World
from tests.world.verb_queue import settled_and_claimed
from tickwork.database.migrate import migrate
from tickwork.jobs.rows import ClaimedJob
from tickwork.testing.database import open_to_all, roomy_memory
from tickwork_local.launch import die_with_parent
from tickwork_local.postgres import running_postgres

KILLS = 20
BATCH = 500
TENANTS = 50
# How often an attempt ends so.
ENDINGS = {"done": 90, "failed": 4, "retry": 4, "released": 2}
COUNTED = """
    select outcome, sum(jobs)::integer as jobs from tickwork.{} where tenant_id {} tickwork.all_tenants() group by 1
"""


def main() -> None:
    jobs = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    with (
        TemporaryDirectory(prefix="tickwork-figures-", dir=roomy_memory()) as folder,
        running_postgres(open_to_all(folder) / "data", settings={"fsync": "off"}) as server,
    ):
        migrate(server.url())
        with World(server.url(), server.url(user="tickwork_worker")) as world:
            sys.exit(compared(world, worked_off(world, jobs)))


def worked_off(world: World, jobs: int) -> Counter[str]:
    """What happened, by what was told the queue."""
    audit: Counter[str] = Counter()
    world.type(max_attempts=2, backoff=[0])
    tenants = [world.tenant(f"tenant {number}") for number in range(TENANTS)]
    ticker, kills = started(world.worker_url), 0
    rng, held, ended = random.Random(1), list[ClaimedJob](), 0
    while ended < jobs:
        if audit["enqueued"] < jobs:
            new = [{"tenant_id": str(rng.choice(tenants)), "type": "greet_person"} for _ in range(BATCH)]
            audit["enqueued"] += len(world.service.jobs.enqueue_jobs(new[: jobs - audit["enqueued"]]))
        outcomes = [outcome(rng, job, audit) for job in held]
        _, held = settled_and_claimed(world.queue, outcomes, "test", BATCH)
        ended = sum(audit[status] for status in ("done", "failed", "dead"))
        if ended >= kills * jobs / KILLS:
            world.service.maintenance.purge_jobs(timedelta(), 10_000)
            ticker.kill()
            ticker, kills = started(world.worker_url), kills + 1
            print(f"{ended:,} jobs ended, {kills} tickers killed", flush=True)
    ticker.kill()
    return audit


def outcome(rng: random.Random, job: ClaimedJob, audit: Counter[str]) -> dict[str, Any]:
    (ending,) = rng.choices(list(ENDINGS), list(ENDINGS.values()))
    lease = {"job_id": str(job.id), "lease_token": str(job.lease_token)}
    match ending:
        case "done":
            audit["done"] += 1
            return {**lease, "status": "done"}
        case "failed":
            audit["failed"] += 1
            return {**lease, "status": "failed", "error": {"code": "X"}, "retryable": False}
        case "retry":
            audit["retried" if job.attempts < 2 else "dead"] += 1
            return {**lease, "status": "failed", "error": {"code": "X"}, "retryable": True}
        case _:
            return {**lease, "status": "released"}


def started(url: str) -> multiprocessing.Process:
    process = multiprocessing.Process(target=tick, args=[url], daemon=True)
    process.start()
    return process


def tick(url: str) -> None:
    die_with_parent()
    with psycopg.connect(url, autocommit=True) as connection:
        while True:
            connection.execute("select maintain()")
            time.sleep(0.1)


def compared(world: World, audit: Counter[str]) -> int:
    """0 if all of it was counted, and once."""
    world.run("update tickwork.rollup set lag = '0'")
    deadline = time.monotonic() + 600
    found: dict[str, int] = {}
    while found != audit and time.monotonic() < deadline:
        world.run("update tickwork.rollup set rolled_at = '-infinity'")
        world.run("select maintain()")
        found = {row["outcome"]: row["jobs"] for row in world.rows(COUNTED.format("totals", "="))}
    wrong = 0
    for table in ("totals", "days", "hours", "minutes"):
        for tenants in ("=", "<>"):
            rows = world.rows(COUNTED.format(table, tenants))
            found = {row["outcome"]: row["jobs"] for row in rows}
            wrong += found != audit
            print(f"{table} {tenants} all tenants: {'right' if found == audit else f'wrong, {found}'}")
    print(f"audit: {dict(audit)}; {world.value('select count(*) from jobs')} jobs are left")
    return min(wrong, 1)


if __name__ == "__main__":
    main()
