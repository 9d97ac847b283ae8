"""Health of a process, over HTTP: everybody may ask, nobody learns more than which check fails."""

import threading
from http.client import HTTPConnection
from pathlib import Path

import pytest

from tests.serve.test_wake_up import NO_DATABASE, PASSWORD, Answer, running_function, settings
from tests.serve.test_wake_up import source as source  # a fixture
from tests.test_worker import Process
from tests.world import World
from tests.world.waiting import until
from tickwork.web import health
from tickwork.web.health import Health
from tickwork.web.health_server import serve_health
from tickwork_local.postgres import free_port

PATHS = ("/health/live", "/health/ready", "/v1/health/ready")


def test_a_function_tells_that_it_lives_and_is_ready(world: World, source: Path, tmp_path: Path) -> None:
    with running_function(source, tmp_path, **settings(world)) as function:
        # The first connection may take longer than an answer.
        until(lambda: function.wake({}, method="GET", path="/health/ready").status == 200)
        answers = [function.wake({}, method="GET", path=path) for path in PATHS]
        world.job()
        world.run("update tickwork.waiting set run_at = run_at - interval '6 minutes'")
        worse = Answer(503, {"status": "not ready", "failed": ["work", "standstill"]})
        until(lambda: function.wake({}, method="GET", path="/health/ready") == worse)

    assert answers == [Answer(200, {"status": "live"}), *[Answer(200, {"status": "ready"})] * 2]


def test_without_a_database_a_function_lives_and_is_not_ready(source: Path, tmp_path: Path) -> None:
    environment = {"TICKWORK_DATABASE_URL": NO_DATABASE}
    with running_function(source, tmp_path, **environment) as function:
        live, ready = (function.wake({}, method="GET", path=path) for path in PATHS[:2])
        told = function.output() + function.complaints()

    assert live.status == 200
    assert ready == Answer(503, {"status": "not ready", "failed": ["database"]})
    assert PASSWORD not in told


def test_a_worker_tells_it_at_a_port_of_its_own(world: World, tmp_path: Path) -> None:
    port = free_port()
    world.type("quick")
    process = Process(world, tmp_path, "--health-port", str(port))
    try:
        until(lambda: "start_worker" in process.log.read_text())

        until(lambda: asked(port, "/health/ready") == 200)
        assert [asked(port, path) for path in (*PATHS, "/else")] == [200, 200, 200, 404]
        until(lambda: world.rows("select from job_workers"))
        row = world.row("select * from job_workers")
        assert (row["families"], row["metadata"]["kind"], row["running_count"]) == (["test"], "worker", 0)
        assert row["metadata"]["types"] == ["crash", "patient", "quick"]
    finally:
        process.popen.terminate()
        process.popen.wait()
    assert world.rows("select from job_workers") == []


def asked(port: int, path: str) -> int:
    connection = HTTPConnection("127.0.0.1", port, timeout=60)
    try:
        connection.request("GET", path)
        return connection.getresponse().status
    finally:
        connection.close()


def test_a_schema_of_another_version_fails(world: World) -> None:
    world.run("insert into tickwork.schema_versions (number) values (99)")

    assert Health(world.queue.database).failed() == ["schema"]
    world.run("drop function public.queue_health")
    assert Health(world.queue.database).failed() == ["schema"]


def test_something_else_can_be_checked_too(world: World) -> None:
    def broken() -> bool:
        raise OSError("secret")

    checks = {"broker": lambda: False, "other": broken, "fine": lambda: True}

    answer = Health(world.queue.database, checks).answer("/health/ready")

    assert answer == ({"status": "not ready", "failed": ["broker", "other"]}, 503)


def test_a_database_that_hangs_is_waited_for_by_one_and_not_for_long(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(health, "ANSWER_SECONDS", 0.05)
    asked_for, go_on = [], threading.Event()

    def hangs() -> bool:
        asked_for.append(1)
        return go_on.wait(60)

    one = Health(world.queue.database, {"broker": hangs})
    try:
        assert {tuple(one.failed()) for _ in range(5)} == {("database",)}
        until(lambda: asked_for)
        assert len(asked_for) == 1
    finally:
        go_on.set()
    until(lambda: one.failed() == [])


def test_a_port_that_is_taken_is_an_error(world: World) -> None:
    one = Health(world.queue.database)
    server = serve_health(one, "127.0.0.1", 0)
    try:
        with pytest.raises(OSError):
            serve_health(one, "127.0.0.1", server.server_port)
    finally:
        server.shutdown()
        server.server_close()
