"""
A report of a million jobs as CSV, by a handler in a process of its own, whose memory is measured.

    make test-reports                 # a million, a minute
    make test-reports ARGS=50000      # fewer

Exits with 1 unless the file has the totals of SQL and the process took no more memory than for a report without rows.
"""

import csv
import multiprocessing
import os
import resource
import sys
import time
from collections import Counter
from multiprocessing.connection import Connection as Pipe
from pathlib import Path
from tempfile import TemporaryDirectory
from uuid import UUID

from tests.families.report.test_generate_report import ADD_JOBS, add_types
from tests.world import World
from tickwork.database.connection import Database
from tickwork.database.migrate import migrate
from tickwork.families.report.generate_report import GENERATE_REPORT
from tickwork.jobs.rows import Job
from tickwork.queue import Queue
from tickwork.runtime.deadline import Deadline
from tickwork.runtime.work import work
from tickwork.testing.database import open_to_all
from tickwork_local.postgres import running_postgres

MAX_GROWTH_MB = 32
TOTALS = """
    select status, count(*) as jobs, sum(round(extract(epoch from finished_at - started_at), 3)) as seconds
    from jobs
    where created_at >= '2026-09-30 22:00Z' and created_at < '2026-10-31 23:00Z' and type <> 'generate_report'
    group by status
"""


def main() -> None:
    jobs = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    with (
        TemporaryDirectory(prefix="tickwork-report-") as folder,
        running_postgres(open_to_all(folder) / "data", settings={"fsync": "off"}) as server,
    ):
        migrate(server.url())
        with World(server.url(), server.url(user="tickwork_worker")) as world:
            os.environ["TICKWORK_DATABASE_URL"] = world.worker_url
            os.environ["TICKWORK_VAULT_URL"] = f"file:{folder}/vault"
            tenant = world.tenant()
            add(world, tenant, jobs)
            small = generate(world, tenant, "2026-12")
            large = generate(world, tenant, "2026-10")
            sys.exit(compared(world, Path(folder), jobs, small, large))


def add(world: World, tenant: UUID, jobs: int) -> None:
    add_types(world)
    # Only the report reads these: what the queue would keep of them besides is left out.
    world.run("alter table jobs disable trigger user")
    world.admin.execute(ADD_JOBS, {"tenant": tenant, "many": jobs})
    world.run("alter table jobs enable trigger user")
    world.run("analyze jobs")


def generate(world: World, tenant: UUID, month: str) -> tuple[Job, float, float]:
    """The job, how many MB its process took at most, and how many seconds."""
    payload = {"month": month, "reports": ["jobs"], "formats": ["csv"], "timezone": "Europe/Berlin"}
    job = world.job("generate_report", tenant, payload=payload)
    ours, theirs = multiprocessing.Pipe()
    process = multiprocessing.get_context("spawn").Process(target=run, args=[world.worker_url, theirs])
    began = time.monotonic()
    process.start()
    megabytes: float = ours.recv()
    process.join()
    return world.reload(job), megabytes, time.monotonic() - began


def run(url: str, pipe: Pipe) -> None:
    work(Queue(Database(url), "worker"), "report", {"generate_report": GENERATE_REPORT}, Deadline(3600, 1))
    pipe.send(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)


def compared(
    world: World, folder: Path, jobs: int, small: tuple[Job, float, float], large: tuple[Job, float, float]
) -> int:
    """0 if the file says the same as SQL and the memory does not grow with it."""
    job, megabytes, seconds = large
    assert job.status == small[0].status == "done", job.error_message
    (row,) = world.service.artifacts.list_artifacts(job_id=job.id)
    counts: Counter[str] = Counter()
    run_seconds: Counter[str] = Counter()
    with (folder / "vault" / row["vault_path"]).open(newline="") as file:
        for line in csv.DictReader(file):
            counts[line["status"]] += 1
            run_seconds[line["status"]] += round(float(line["run_seconds"]) * 1000)
    expected = world.rows(TOTALS)
    is_right = counts.total() == jobs
    is_right &= counts == {each["status"]: each["jobs"] for each in expected}
    is_right &= run_seconds == {each["status"]: round(each["seconds"] * 1000) for each in expected}
    print(f"{counts.total():,} rows, {row['size'] / 1e6:.0f} MB in {seconds:.1f} s; {dict(counts)}")
    print(f"memory at most: {megabytes:.0f} MB, for a report without rows {small[1]:.0f} MB")
    print(f"the same totals as SQL: {'yes' if is_right else f'no, {expected}'}")
    return 0 if is_right and megabytes - small[1] <= MAX_GROWTH_MB else 1


if __name__ == "__main__":
    main()
