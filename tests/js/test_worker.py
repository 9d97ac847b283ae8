"""Workers in TypeScript, in Python over HTTP and on the database drain a family together, and are killed meanwhile."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path

import httpx
import pytest

from tests.servers.api import running_api
from tests.world import World, node
from tests.world.waiting import PATIENCE, until
from tickwork.jobs.rows import Job
from tickwork_local.launch import ends_with_parent
from tickwork_local.node import program

JOBS = 300
FUNCTION = """
import time
from pydantic import BaseModel
from tickwork.jobs.handler import Handler, Tools

class Payload(BaseModel):
    n: int = 0

class Result(BaseModel):
    by: str = "python"
    n: int

def count_up(payload: Payload, tools: Tools) -> Result:
    return Result(n=payload.n)

def hang(payload: Payload, tools: Tools) -> Result:
    if tools.attempt == 1:
        time.sleep(3600)
    return Result(n=payload.n)

HANDLERS = {"count_up": Handler(Payload, count_up), "hang_python": Handler(Payload, hang)}
"""

OVER_HTTP = """
import os, time
from tickwork.client import Tickwork, Worker

client = Tickwork(url=os.environ["TICKWORK_URL"], key=os.environ["TICKWORK_KEY"])
worker = Worker(client, "drain", threads=2, poll_seconds=0.2, worker_id="http")

@worker.handler("count_up")
def count_up(payload, context):
    return {"by": "http", "n": payload["n"]}

@worker.handler("hang_http")
def hang(payload, context):
    if context.job.attempts == 1:
        time.sleep(3600)
    return {"by": "http"}

worker.run()
"""
KINDS = ("js", "python", "http")


class Workers:
    """One of each kind at a time, each a process."""

    def __init__(self, commands: dict[str, Callable[[], "subprocess.Popen[bytes]"]]) -> None:
        self._commands = commands
        self._running = {kind: start() for kind, start in commands.items()}

    def kill(self, kind: str) -> None:
        self._running[kind].kill()
        self._running[kind].wait()

    def start(self, kind: str) -> None:
        self._running[kind] = self._commands[kind]()

    def stop(self) -> list[int]:
        for process in self._running.values():
            process.send_signal(signal.SIGTERM)
        return [process.wait(PATIENCE) for process in self._running.values()]

    def close(self) -> None:
        for process in self._running.values():
            process.kill()
            process.wait()


@pytest.fixture
def url(world: World, tmp_path: Path) -> Iterator[str]:
    with running_api(world, tmp_path / "api") as url:
        yield url


@pytest.fixture
def key(world: World) -> str:
    made = world.row("select key from create_api_key('workers', '{worker:drain}', null)")
    return str(made["key"])


@contextmanager
def working(world: World, package: Path, folder: Path, url: str, key: str) -> Iterator[Workers]:
    (folder / "drain").mkdir()
    (folder / "drain/main.py").write_text(FUNCTION)
    database = {"TICKWORK_DATABASE_URL": world.worker_url, "TICKWORK_WORKER_ID": "python"}
    python = [str(Path(sys.executable).with_name("tickwork")), "worker", "drain", "--functions", str(folder)]
    javascript = [program(node.path()), str(package / "test/drain.mjs")]

    def start(command: list[str], **settings: str) -> "subprocess.Popen[bytes]":
        with (folder / "workers.log").open("ab") as log:
            return subprocess.Popen(
                ends_with_parent(command), env={**os.environ, **settings}, stdout=log, stderr=subprocess.STDOUT
            )

    api = {"TICKWORK_URL": url, "TICKWORK_KEY": key}
    workers = Workers(
        {
            "js": lambda: start(javascript, **api),
            "python": lambda: start(python, **database),
            "http": lambda: start([sys.executable, "-c", OVER_HTTP], **api),
        }
    )
    with ExitStack() as cleanup:
        cleanup.callback(workers.close)
        yield workers


def test_they_drain_a_family_under_kills(world: World, package: Path, tmp_path: Path, url: str, key: str) -> None:
    tenants = [world.tenant(name) for name in ("one", "two")]
    for type in ("count_up", "wait_js", *(f"hang_{kind}" for kind in KINDS)):
        world.type(type, family="drain", max_attempts=25, lease_seconds=10)
    jobs = [{"tenant_id": str(tenants[n % 2]), "type": "count_up", "payload": {"n": n}} for n in range(JOBS)]
    stale = []

    with working(world, package, tmp_path, url, key) as workers:
        for number, kind in enumerate(KINDS):
            world.service.jobs.enqueue_jobs(jobs[number::3])
            hanging = world.job(f"hang_{kind}", tenants[0], priority=9)
            until(partial(has_status, world, hanging, "running"), "nobody took the job")
            held = world.rows(
                "select job_id, token from tickwork.leases join jobs on id = job_id where jobs.worker_id = %s", kind
            )
            workers.kill(kind)
            world.run(
                "update jobs set lease_expires_at = clock_timestamp() - interval '1 second' "
                "where status = 'running' and worker_id = %s",
                kind,
            )
            stale += held
            workers.start(kind)
        cancelled = world.job("wait_js", tenants[1])
        until(partial(has_status, world, cancelled, "running"), "nobody took the job")
        world.service.cancel(cancelled.id)
        until(partial(has_status, world, cancelled, "cancelled"), "the worker did not hear of it")
        until(lambda: world.value("select count(*) from jobs where finished_at is null") == 0, "not all have ended")
        codes = workers.stop()

    assert codes == [0, 0, 0]
    with httpx.Client(base_url=url, headers={"Authorization": f"Bearer {key}"}) as client:
        for lease in stale:
            body = {"lease_token": str(lease["token"]), "result": {"by": "a ghost"}}
            answer = client.post(f"/worker/jobs/{lease['job_id']}/complete", json=body)
            assert (answer.status_code, answer.json()["code"]) == (409, "TWLSE")
    assert len(stale) >= 3
    assert world.value("select count(*) from jobs where status = 'done'") == JOBS + 3
    # Each was completed once, by either of them, and with its own result.
    assert (
        world.rows("select job_id from job_attempts where status = 'done' group by job_id having count(*) <> 1") == []
    )
    assert world.value("select count(*) from jobs where type = 'count_up' and result -> 'n' <> payload -> 'n'") == 0
    by = world.rows("select distinct result ->> 'by' as by from jobs where status = 'done'")
    assert {row["by"] for row in by} == set(KINDS)


def has_status(world: World, job: Job, status: str) -> bool:
    return world.reload(job).status == status
