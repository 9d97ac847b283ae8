"""The worker of the client: what becomes of a job, whatever its handler or its process does."""

import asyncio
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx2
import pytest

from tests.servers.api import running_api
from tests.world import World
from tests.world.waiting import PATIENCE, until
from tickwork.client import Tickwork, Worker
from tickwork.client.held_job import Context
from tickwork.errors import BadSetting, LeaseLost, NotAllowed, NotYet, Permanent, Retryable
from tickwork.jobs.rows import Job
from tickwork.testing.database import TEMPLATE, cloned
from tickwork_local.launch import ends_with_parent
from tickwork_local.postgres import Server

# Kills its own process in the middle of the first attempt at some jobs.
MORTAL = """
import os, signal, sys
from tickwork.client import Tickwork, Worker

url, key, name = sys.argv[1:]
worker = Worker(Tickwork(url=url, key=key), "test", threads=2, poll_seconds=0.05, worker_id=name)

@worker.handler("greet_person")
def greet(payload, context):
    if payload["kills"] and context.job.attempts == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    context.progress(0.5, "half")
    return {"by": name}

worker.run()
"""


@pytest.fixture(scope="module")
def world(server: Server) -> Iterator[World]:
    with cloned(server, TEMPLATE) as name:
        worker_url = server.url(name).replace("postgres@", "tickwork_worker@")
        with World(server.url(name), worker_url) as world:
            world.type(max_attempts=25, backoff=[0])
            world.tenant()
            yield world


@pytest.fixture(scope="module")
def api(world: World, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with running_api(world, tmp_path_factory.mktemp("api")) as url:
        yield url


@pytest.fixture(scope="module")
def key(world: World) -> str:
    found: str = world.service.keys.create_api_key("workers", ["worker:test"], None)["key"]
    return found


@pytest.fixture
def client(api: str, key: str) -> Iterator[Tickwork]:
    with Tickwork(url=api, key=key) as client:
        yield client


@contextmanager
def working(client: Tickwork, handler: Callable[..., Any], **options: Any) -> Iterator[Worker]:
    """A worker in another thread, which is stopped in the end."""
    # Without waiting claims, it stops at once.
    worker = Worker(client, "test", **{"poll_seconds": 0.05, "wait_seconds": 0, **options})
    worker.handler("greet_person")(handler)
    thread = threading.Thread(target=worker.run, daemon=True)
    thread.start()
    try:
        yield worker
    finally:
        worker.stop()
        thread.join(PATIENCE)
        assert not thread.is_alive()


def ended(world: World, job: Job) -> Job:
    until(lambda: world.reload(job).finished_at is not None)
    return world.reload(job)


def test_a_claim_waits_for_a_job_and_settling_one_claims_the_next(client: Tickwork, world: World) -> None:
    sent: list[str] = []
    http: httpx2.Client = client._way._http  # type: ignore[attr-defined]
    http.event_hooks = {"request": [lambda request: sent.append(request.url.path.rpartition("/")[2])]}
    job: dict[str, Any] = {"tenant_id": world.value("select id from organizations"), "type": "greet_person"}

    with working(client, lambda payload, context: payload["n"], wait_seconds=2, poll_seconds=PATIENCE):
        until(lambda: sent)
        jobs = world.service.enqueue_many([{**job, "payload": {"n": number}} for number in range(3)])
        waited = [world.service.wait(each.id, PATIENCE) for each in jobs]

    assert [each.result for each in waited] == [0, 1, 2]
    # The one claim has waited, or the worker would have gone to sleep.
    assert sent[:4] == ["claim", *["settle_and_claim"] * 3]


def test_a_handler_gets_the_payload_and_its_result_is_stored(world: World, client: Tickwork) -> None:
    job = world.job(payload={"name": "Ada"})

    def greet(payload: dict[str, Any], context: Context) -> dict[str, Any]:
        context.progress(0.5, "half")
        return {"text": f"Hello {payload['name']}", "attempt": context.job.attempts}

    with working(client, greet):
        found = ended(world, job)

    assert (found.status, found.result) == ("done", {"text": "Hello Ada", "attempt": 1})


def test_a_handler_may_be_async(world: World, client: Tickwork) -> None:
    job = world.job()

    async def greet(payload: dict[str, Any], context: Context) -> int:
        await asyncio.sleep(0)
        return context.job.attempts

    with working(client, greet):
        assert ended(world, job).result == 1


@pytest.mark.parametrize(
    ("error", "status", "attempts", "code"),
    [
        (Permanent("no such person"), "failed", 1, "FAILED_FOR_GOOD"),
        (Retryable("busy", delay=3600), "queued", 1, "TRY_AGAIN"),
        (NotYet("later", delay=3600), "queued", 0, None),
        (ZeroDivisionError("secret"), "dead", 1, "UNEXPECTED"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_a_handler_raises_decides(
    world: World, client: Tickwork, error: Exception, status: str, attempts: int, code: str | None
) -> None:
    job = world.job(max_attempts=1 if status == "dead" else None)
    raised = threading.Event()

    def greet(payload: dict[str, Any], context: Context) -> None:
        raised.set()
        raise error

    with working(client, greet):
        until(lambda: raised.is_set() and world.reload(job).status != "running")

    found = world.reload(job)
    assert (found.status, found.attempts, found.error_code) == (status, attempts, code)
    assert "secret" not in str(found.error_message)


def test_a_handler_that_asks_for_a_step_is_told_who_has_them(world: World, client: Tickwork) -> None:
    job = world.job()

    with working(client, lambda payload, context: context.wait_for("order.paid", timeout=60)):
        found = ended(world, job)

    assert (found.status, found.error_code) == ("failed", "STEP_REFUSED")
    assert "tickwork worker" in str(found.error_message)


def test_a_cancelled_job_stops_its_handler(world: World, client: Tickwork) -> None:
    job, started = world.job(), threading.Event()

    def greet(payload: dict[str, Any], context: Context) -> None:
        started.set()
        until(lambda: context.is_stopped)
        context.check()

    with working(client, greet, heartbeat_seconds=0.2):
        until(started.is_set)
        world.service.cancel(job.id)
        found = ended(world, job)

    assert found.status == "cancelled"


def test_a_lost_lease_stops_its_handler_and_its_result_is_dropped(world: World, client: Tickwork) -> None:
    job, started, stopped = world.job(), threading.Event(), threading.Event()

    def greet(payload: dict[str, Any], context: Context) -> str:
        started.set()
        until(lambda: context.is_stopped)
        stopped.set()
        return "too late"

    with working(client, greet, heartbeat_seconds=0.2):
        until(started.is_set)
        world.expire(world.reload(job))
        other = world.claim()
        until(stopped.is_set)

    world.queue.complete_job(other, "in time")
    assert world.reload(job).result == "in time"


def test_a_worker_that_ends_gives_back_what_still_runs(world: World, client: Tickwork) -> None:
    job, started, forever = world.job(), threading.Event(), threading.Event()

    def greet(payload: dict[str, Any], context: Context) -> None:
        started.set()
        forever.wait()

    with working(client, greet, grace_seconds=0.1):
        until(started.is_set)

    found = world.reload(job)
    forever.set()
    assert (found.status, found.attempts) == ("queued", 0)
    world.service.cancel(job.id)


def test_a_stale_token_is_answered_with_409(world: World, client: Tickwork, api: str, key: str) -> None:
    job = world.job()
    (claimed,) = client.workers.worker_claim_jobs("test", "slow")
    world.expire(world.reload(job))
    (again,) = client.workers.worker_claim_jobs("test", "fast")
    stale = (claimed["id"], claimed["lease_token"])

    for attempt in (
        lambda: client.workers.worker_heartbeat_job(*stale),
        lambda: client.workers.worker_complete_job(*stale, {"n": 1}),
        lambda: client.workers.worker_fail_job(*stale, {"code": "X"}),
        lambda: client.workers.worker_release_job(*stale),
    ):
        with pytest.raises(LeaseLost):
            attempt()
    answer = httpx2.post(
        f"{api}/worker/jobs/{job.id}/complete",
        headers={"Authorization": f"Bearer {key}"},
        json={"lease_token": str(claimed["lease_token"])},
    )

    assert (answer.status_code, answer.json()["code"]) == (409, "TWLSE")
    assert again["id"] == job.id
    done = client.workers.worker_complete_job(again["id"], again["lease_token"], {"n": 2})
    assert (done["status"], done["result"]) == ("done", {"n": 2})


def test_a_worker_without_handlers_is_refused(client: Tickwork) -> None:
    worker = Worker(client, "test")

    with pytest.raises(BadSetting, match="no handler"):
        worker.run()
    worker.handler("greet_person")(lambda payload, context: None)
    with pytest.raises(BadSetting, match="two handlers"):
        worker.handler("greet_person")(lambda payload, context: None)


def test_a_key_without_the_family_ends_the_worker(world: World, api: str) -> None:
    key = world.service.keys.create_api_key("other", ["worker:other"], None)["key"]

    with Tickwork(url=api, key=key) as client:
        worker = Worker(client, "test")
        worker.handler("greet_person")(lambda payload, context: None)
        with pytest.raises(NotAllowed):
            worker.run()


def has_started(output: Path) -> bool:
    """From then on it minds signals."""
    return "start_worker" in output.read_text()


def test_workers_over_http_and_psycopg_drain_a_family_under_kills(
    world: World, api: str, key: str, tmp_path: Path
) -> None:
    tenant = world.value("select id from organizations")
    given = [{"tenant_id": tenant, "type": "greet_person", "payload": {"kills": n % 10 == 0}} for n in range(40)]
    jobs = [receipt.id for receipt in world.service.enqueue_many(given)]
    crew: dict[str, subprocess.Popen[bytes]] = {}
    kills = 0
    # One for the other kind of worker, however quick these are.
    spared = world.queue.claim_next_job("test", lease_seconds=3600)

    by_http = "select exists (select from jobs where status = 'done' and result ->> 'by' like 'http-%%')"

    def unfinished() -> int:
        return int(world.value("select count(*) from jobs where id = any (%s) and finished_at is null", jobs))

    try:
        give_up_at = time.monotonic() + PATIENCE
        while unfinished() and time.monotonic() < give_up_at:
            for name in [name for name, process in crew.items() if process.poll() is not None]:
                assert crew.pop(name).returncode == -signal.SIGKILL
                kills += 1
                # Instead of waiting until the leases of the dead expire.
                world.run(
                    "update jobs set lease_expires_at = clock_timestamp() - interval '1 second' "
                    "where status = 'running' and worker_id = %s",
                    name,
                )
            while len(crew) < 2:
                name = f"http-{uuid4().hex}"
                command = ends_with_parent([sys.executable, "-c", MORTAL, api, key, name])
                with (tmp_path / name).open("wb") as output:
                    crew[name] = subprocess.Popen(command, stdout=output)
            # The others first lose a process, and do a job.
            if kills and world.value(by_http) and (job := spared or world.queue.claim_next_job("test")):
                world.queue.complete_job(job, {"by": "psycopg"})
                spared = None
            time.sleep(0.02)
        for name, process in crew.items():
            until(partial(has_started, tmp_path / name))
            process.terminate()
        endings = [process.wait(PATIENCE) for process in crew.values()]
    finally:
        for process in crew.values():
            process.kill()
            process.wait()

    found = [world.reload(world.service.get(id)) for id in jobs]
    done = world.rows("select job_id from job_attempts where job_id = any (%s) and status = 'done'", jobs)
    by = {job.result["by"].split("-")[0] for job in found}
    assert endings == [0, 0]
    assert {job.status for job in found} == {"done"}
    assert len(done) == len({row["job_id"] for row in done}) == len(jobs)
    assert (kills > 0, by) == (True, {"http", "psycopg"})
