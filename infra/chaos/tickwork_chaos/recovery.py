"""How soon jobs of a dead worker run again while a hundred thousand others wait."""

import json
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from random import Random
from uuid import UUID

from tests.world.waiting import until
from tickwork.database.connection import Connection
from tickwork_chaos.checks import Violation
from tickwork_chaos.figures import RECOVERIES, Figures
from tickwork_chaos.place import running_place
from tickwork_chaos.scene import Scene
from tickwork_chaos.workers import Crew, Worker

# Claims look for expired leases once a second, cron every 30 s: no later than that they are found.
TICK_SECONDS = 30
BATCH = 5_000
TYPES = ("storm_plain", "gust_plain")


def run_recovery(seed: int, binaries: Path | None, jobs: int, kills: int, say: Callable[[str], None]) -> Figures:
    began = time.monotonic()
    with running_place(binaries) as place, place.cluster.connect() as connection:
        figures = Figures("recovery", seed, place.server_version, jobs=jobs)
        fill(connection, place.scene, jobs, say)
        url = place.url("tickwork_worker")
        crew = Crew(url, url, place.folder, {})
        crew.start()
        try:
            kill_one_after_the_other(connection, crew, Random(seed), kills, say)
        finally:
            crew.stop()
        waits = sorted(row["seconds"] for row in connection.execute(RECOVERIES).fetchall())
        (left,) = connection.execute("select count(*) as jobs from tickwork.waiting").fetchall()
    figures.faults = {"kill": kills}
    figures.measures = {
        "still waiting": left["jobs"],
        "expired leases": len(waits),
        "restarted after p50 s": round(waits[len(waits) // 2], 2),
        "max s": round(waits[-1], 2),
    }
    late = [wait for wait in waits if wait > TICK_SECONDS]
    if late:
        figures.violations.append(Violation("recovered late", len(late), f"{late[-1]:.1f} s after the lease ended"))
    figures.seconds = time.monotonic() - began
    return figures


def fill(connection: Connection, scene: Scene, jobs: int, say: Callable[[str], None]) -> None:
    """Jobs of all tenants without a limit, each of which takes its time, so that there are enough until the end."""
    tenants = scene.free_tenants()
    for start in range(0, jobs, BATCH):
        batch = [
            {
                "tenant_id": str(tenants[number % len(tenants)]),
                "type": TYPES[number % len(TYPES)],
                "payload": {"number": number, "effect": "none", "seconds": 2},
            }
            for number in range(start, min(start + BATCH, jobs))
        ]
        connection.execute("select count(*) from public.enqueue_jobs(%s)", [json.dumps(batch)])
        say(f"{start + len(batch):,} waiting")


def kill_one_after_the_other(
    connection: Connection, crew: Crew, chance: Random, kills: int, say: Callable[[str], None]
) -> None:
    """Each time until all its leases have been ended."""
    busy = [each for each in crew.workers if "many" in each.name]
    for number in range(kills):
        kill(connection, chance.choice(busy))
        say(f"{number + 1} of {kills} killed")


def kill(connection: Connection, worker: Worker) -> None:
    held_by = partial(tokens_of, connection, worker)
    until(lambda: len(held_by()) > 5, f"{worker.name} holds no jobs")
    tokens = held_by()
    worker.kill()
    query = "select from tickwork.leases where token = any (%s)"
    until(lambda: not connection.execute(query, [tokens]).fetchall(), "nobody ends the leases of a dead worker")
    worker.revive()


def tokens_of(connection: Connection, worker: Worker) -> list[UUID]:
    query = "select token from tickwork.leases join public.jobs on jobs.id = leases.job_id where worker_id like %s"
    return [row["token"] for row in connection.execute(query, [f"%:{worker.pid()}:%"]).fetchall()]
