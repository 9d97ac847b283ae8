"""A function as it is deployed: under functions-framework, woken over HTTP, on a real database."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import pytest

from tests.serve.test_callers import AUDIENCE, EMAIL, Google, token
from tests.world import World
from tests.world.upkeep import leave_to_upkeep, left_to_upkeep
from tests.world.waiting import PATIENCE, until
from tickwork.serve.callers import sign
from tickwork_local.launch import ends_with_parent
from tickwork_local.postgres import free_port

SECRET = "bearer-secret-of-32-characters-or-more"
HMAC_SECRET = "signing-secret-of-32-characters-or-more"
PASSWORD = "database-password"
NAME = "tickwork test"
TRACE_ID = "4bf92f3577b34da6a3ce929d0e0e4736"
LABELS = "logging.googleapis.com/labels"
GOOD = {"Authorization": f"Bearer {SECRET}"}

NO_DATABASE = f"postgresql://tickwork_worker:{PASSWORD}@127.0.0.1:1/postgres"

without_pooler = pytest.mark.skipif(
    bool(os.environ.get("TICKWORK_TEST_PGBOUNCER")), reason="behind a pooler a connection is not one of the server"
)

SOURCE = """
import threading
from pathlib import Path
from pydantic import BaseModel
from tickwork.errors import Permanent, Retryable
from tickwork.jobs.handler import Handler
from tickwork.serve import serve

class Order(BaseModel):
    name: str = "world"
    folder: Path = Path("/nowhere")

class Greeting(BaseModel):
    text: str

eight = threading.Barrier(8)

def greet(order, tools):
    tools.log("greet", length=len(order.name))
    return Greeting(text=f"Hello {order.name}")

def greet_together(order, tools):
    eight.wait(60)

def greet_slowly(order, tools):
    tools.wait(1.5)

def greet_when_told(order, tools):
    (order.folder / "started").touch()
    while not (order.folder / "go").exists():
        tools.wait(0.02)
    return Greeting(text="Hello at last")

def refuse(order, tools):
    raise Permanent("Nobody is greeted here")

def stumble(order, tools):
    raise RuntimeError("it is nobody's fault")

HANDLERS = {
    "greet_person": Handler(Order, greet),
    "greet_together": Handler(Order, greet_together),
    "greet_slowly": Handler(Order, greet_slowly),
    "greet_when_told": Handler(Order, greet_when_told),
    "refuse_person": Handler(Order, refuse),
    "stumble_over": Handler(Order, stumble),
}

main = serve("test", HANDLERS)
"""


@dataclass(frozen=True)
class Answer:
    status: int
    body: Any


@dataclass(frozen=True)
class Served:
    """A function that runs; what it writes is in two files."""

    port: int
    process: subprocess.Popen[bytes]
    folder: Path

    def wake(
        self, headers: Mapping[str, str] = GOOD, body: bytes = b"", method: str = "POST", path: str = "/"
    ) -> Answer:
        connection = HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        try:
            connection.request(method, path, body, dict(headers))
            response = connection.getresponse()
            text = response.read()
        finally:
            connection.close()
        return Answer(response.status, json.loads(text) if text else None)

    def send(self, request: bytes) -> int:
        """Send any bytes; the status of the answer."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE) as connection:
            connection.sendall(request)
            return int(connection.makefile("rb").readline().split()[1])

    def flood(self, headers: Mapping[str, str]) -> int:
        """Send as much of a huge body as is taken; the status of the answer."""
        lines = [f"{name}: {value}" for name, value in headers.items()]
        head = "\r\n".join(["POST / HTTP/1.1", "Host: x", "Content-Length: 100000000", *lines, "", ""])
        with socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE) as connection:
            with suppress(ConnectionError):
                connection.sendall(head.encode() + bytes(100_000_000))
            return int(connection.makefile("rb").readline().split()[1])

    def lines(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.output().splitlines()]

    def output(self) -> str:
        return (self.folder / "stdout").read_text()

    def complaints(self) -> str:
        return (self.folder / "stderr").read_text()

    def peak_megabytes(self) -> int:
        """The most memory that a process of the function ever had."""
        processes = [
            path.parent for path in Path("/proc").glob("[0-9]*/status") if session_of(path) == self.process.pid
        ]
        lines = [line for path in processes for line in (path / "status").read_text().splitlines()]
        return max(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) // 1024


def session_of(status: Path) -> int:
    with suppress(OSError):
        return os.getsid(int(status.parent.name))
    return 0


@contextmanager
def running_function(
    source: Path, folder: Path, *, python: str = sys.executable, **environment: str
) -> Iterator[Served]:
    """The function in a file, with these settings and no others."""
    folder.mkdir(exist_ok=True)
    served = start(source, folder, environment, python)
    try:
        until(partial(listens, served))
        yield served
    finally:
        # At once, with its workers: it owes nobody anything.
        os.killpg(served.process.pid, signal.SIGKILL)
        served.process.wait()


def start(source: Path, folder: Path, environment: Mapping[str, str], python: str = sys.executable) -> Served:
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(("TICKWORK_", "GOOGLE_"))}
    port = free_port()
    arguments = ["--target", "main", "--source", str(source), "--host", "127.0.0.1", "--port", str(port)]
    with (folder / "stdout").open("wb") as stdout, (folder / "stderr").open("wb") as stderr:
        process = subprocess.Popen(
            ends_with_parent([python, "-m", "functions_framework", *arguments]),
            # gunicorn keeps a socket in the home folder, the same for all.
            env={**inherited, "HOME": str(folder), "THREADS": "8", **environment},
            stdout=stdout,
            stderr=stderr,
            start_new_session=True,
        )
    return Served(port, process, folder)


def listens(served: Served) -> bool:
    assert served.process.poll() is None, served.complaints()
    with suppress(OSError):
        socket.create_connection(("127.0.0.1", served.port), timeout=1).close()
        return True
    return False


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("source") / "main.py"
    path.write_text(SOURCE)
    return path


@pytest.fixture
def function(source: Path, tmp_path: Path, world: World) -> Iterator[Served]:
    with running_function(source, tmp_path, **settings(world)) as served:
        yield served


@pytest.fixture(scope="module")
def stranded(source: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A function whose database is down: whoever gets past the door is answered 503."""
    environment = {"TICKWORK_BEARER_SECRET": SECRET, "TICKWORK_HMAC_SECRET": HMAC_SECRET}
    folder = tmp_path_factory.mktemp("stranded")
    with running_function(source, folder, TICKWORK_DATABASE_URL=NO_DATABASE, **environment) as served:
        yield served


def settings(world: World, **more: str) -> dict[str, str]:
    url = world.worker_url.replace("tickwork_worker@", f"tickwork_worker:{PASSWORD}@")
    return {"TICKWORK_DATABASE_URL": url, "TICKWORK_BEARER_SECRET": SECRET, **more}


def connections(world: World) -> list[int]:
    """The server's side of the function's connections."""
    rows = world.rows(
        "select pid from pg_stat_activity where application_name = %s and datname = current_database()", NAME
    )
    return [row["pid"] for row in rows]


def hang_up(world: World) -> None:
    (process,) = connections(world)
    world.value("select pg_terminate_backend(%s)", process)
    until(lambda: process not in connections(world))


def test_nothing_due_is_answered_with_nothing(function: Served) -> None:
    assert function.wake() == Answer(204, None)


def test_wake_ups_alone_are_enough_for_all_upkeep(function: Served, world: World) -> None:
    leave_to_upkeep(world)

    def is_done() -> bool:
        function.wake()
        return left_to_upkeep(world) == []

    until(is_done)


def test_jobs_that_fail_are_reported_as_success(function: Served, world: World) -> None:
    greeted = world.job(world.type())
    refused = world.job(world.type("refuse_person"))
    stumbled = world.job(world.type("stumble_over"))

    answer = function.wake()

    assert answer == Answer(200, {"family": "test", "claimed": 3, "done": 1, "failed": 1, "retried": 1})
    assert world.reload(greeted).result == {"text": "Hello world"}
    assert (world.reload(refused).status, world.reload(refused).error_message) == ("failed", "Nobody is greeted here")
    assert (world.reload(stumbled).status, world.attempts(stumbled)[0]["error_code"]) == ("queued", "UNEXPECTED")


def test_a_type_without_a_handler_waits_for_a_function_that_has_one(function: Served, world: World) -> None:
    world.type()
    job = world.job(world.type("paint_wall"))

    answer = function.wake()

    assert answer.status == 204
    assert world.reload(job).status == "queued"
    assert "No worker that knows the type 'paint_wall' has asked for jobs." in world.service.jobs.explain_job(job.id)


def test_jobs_of_other_families_are_left_alone(function: Served, world: World) -> None:
    job = world.job(world.type("greet_person", family="other"))

    assert function.wake() == Answer(204, None)
    assert world.reload(job).status == "queued"


@without_pooler
def test_a_stranger_costs_no_connection(function: Served, world: World) -> None:
    for _ in range(20):
        assert function.wake({}).status == 401
        assert function.wake({"Authorization": "Bearer wrong"}).status == 401
    assert connections(world) == []

    assert function.wake().status == 204
    assert len(connections(world)) == 1


def test_no_more_jobs_are_claimed_than_allowed(source: Path, tmp_path: Path, world: World) -> None:
    jobs = [world.job() for _ in range(5)]

    with running_function(source, tmp_path, **settings(world, TICKWORK_MAX_JOBS="3")) as function:
        answers = [function.wake() for _ in range(3)]

    assert [answer.body and answer.body["claimed"] for answer in answers] == [3, 2, None]
    assert all(world.reload(job).status == "done" for job in jobs)


def test_with_max_jobs_of_1_exactly_one_job_is_claimed(source: Path, tmp_path: Path, world: World) -> None:
    jobs = [world.job() for _ in range(3)]
    # With nothing else that claims.
    world.run("revoke execute on function claim_jobs, claim_next_job from tickwork_worker")

    with running_function(
        source, tmp_path, **settings(world, TICKWORK_MAX_JOBS="1", TICKWORK_WORKER_ID="one")
    ) as function:
        answer = function.wake()

    assert answer.body == {"family": "test", "claimed": 1, "done": 1}
    assert sorted(world.reload(job).status for job in jobs) == ["done", "queued", "queued"]
    assert sum(world.reload(job).attempts for job in jobs) == 1
    assert {attempt["worker_id"] for job in jobs for attempt in world.attempts(job)} == {"one"}


def test_nothing_is_claimed_after_the_budget(source: Path, tmp_path: Path, world: World) -> None:
    world.type("greet_slowly")
    jobs = [world.job("greet_slowly") for _ in range(5)]

    with running_function(source, tmp_path, **settings(world, TICKWORK_BUDGET_SECONDS="2")) as function:
        answer = function.wake()

    # Each takes 1.5 s, so that at most the second one starts in time.
    assert answer.body["claimed"] in (1, 2)
    assert sorted(world.reload(job).status for job in jobs) == sorted(
        ["done"] * answer.body["claimed"] + ["queued"] * (5 - answer.body["claimed"])
    )


def test_concurrent_calls_do_each_job_once_over_one_connection(function: Served, world: World) -> None:
    world.type("greet_together")
    jobs = [world.job("greet_together") for _ in range(40)]
    most = 0

    with ThreadPoolExecutor(8) as threads:
        calls = [threads.submit(function.wake) for _ in range(8)]
        while not all(call.done() for call in calls):
            most = max(most, len(connections(world)))
            time.sleep(0.01)

    assert [call.result() for call in calls] == [Answer(200, {"family": "test", "claimed": 5, "done": 5})] * 8
    assert {(world.reload(job).status, world.reload(job).attempts) for job in jobs} == {("done", 1)}
    assert world.value("select count(*) from job_attempts") == 40
    if not os.environ.get("TICKWORK_TEST_PGBOUNCER"):
        assert most <= len(connections(world)) == 1


@without_pooler
def test_a_connection_that_broke_between_two_calls_is_replaced(function: Served, world: World) -> None:
    assert function.wake().status == 204
    job = world.job()

    hang_up(world)

    assert function.wake() == Answer(200, {"family": "test", "claimed": 1, "done": 1})
    assert world.reload(job).attempts == 1


@without_pooler
def test_a_job_outlives_the_connection_that_claimed_it(function: Served, world: World, tmp_path: Path) -> None:
    job = world.job(world.type("greet_when_told"), payload={"folder": str(tmp_path)})

    with ThreadPoolExecutor(1) as thread:
        call = thread.submit(function.wake)
        until((tmp_path / "started").exists)
        hang_up(world)
        (tmp_path / "go").touch()

    assert call.result() == Answer(200, {"family": "test", "claimed": 1, "done": 1})
    assert (world.reload(job).result, world.reload(job).attempts) == ({"text": "Hello at last"}, 1)


@pytest.mark.parametrize("body", [b"{", b"\xff\xfe", b"[" * 100_000, b'{"family": "other", "max_jobs": 0}'])
@pytest.mark.parametrize(
    "kind", ["application/json", "multipart/form-data; boundary=x", "application/cloudevents+json"]
)
def test_a_body_is_ignored(body: bytes, kind: str, stranded: Served) -> None:
    assert stranded.wake({**GOOD, "Content-Type": kind, "ce-id": "1"}, body).status == 503
    assert stranded.wake({"Content-Type": kind}, body).status == 401


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="only Linux tells how much memory was used")
def test_a_huge_body_is_ignored_and_not_kept(stranded: Served) -> None:
    before = stranded.peak_megabytes()

    assert stranded.flood({}) == 401
    assert stranded.flood(GOOD) == 503

    assert stranded.peak_megabytes() < before + 40


@pytest.mark.parametrize("method", ["GET", "HEAD", "PUT", "PATCH", "DELETE", "OPTIONS"])
def test_only_a_post_wakes_the_function(method: str, stranded: Served) -> None:
    assert stranded.wake(method=method).status == 405


def test_a_secret_and_a_signature_open_the_door(stranded: Served) -> None:
    now = int(time.time())
    signed = {"X-Tickwork-Signature": sign("test", now, HMAC_SECRET), "X-Tickwork-Timestamp": str(now)}

    assert stranded.wake({"authorization": f"bearer {SECRET}"}).status == 503
    assert stranded.wake({name.lower(): value for name, value in signed.items()}).status == 503


def test_a_token_of_google_opens_the_door(source: Path, tmp_path: Path) -> None:
    google = Google()
    with google.running():
        environment = {
            "TICKWORK_DATABASE_URL": NO_DATABASE,
            "TICKWORK_OIDC_AUDIENCE": AUDIENCE,
            "TICKWORK_OIDC_EMAIL": EMAIL,
            "TICKWORK_OIDC_KEYS_URL": google.url,
        }
        with running_function(source, tmp_path, **environment) as function:
            assert function.wake({"Authorization": f"Bearer {token()}"}).status == 503
            assert function.wake({"Authorization": f"Bearer {token(email='mallory@example.com')}"}).status == 401
            assert function.wake({}).status == 401


def test_the_door_is_open_on_the_machine_if_that_is_set(source: Path, tmp_path: Path) -> None:
    environment = {"TICKWORK_DATABASE_URL": NO_DATABASE, "TICKWORK_OPEN_ON_LOOPBACK": "true"}

    with running_function(source, tmp_path, **environment) as function:
        assert function.wake({}).status == 503


def test_the_door_is_closed_if_nothing_is_set(source: Path, tmp_path: Path) -> None:
    with running_function(source, tmp_path, TICKWORK_DATABASE_URL=NO_DATABASE) as function:
        for headers in ({}, GOOD, {"Authorization": ""}, {"Authorization": "Bearer "}, {"X-Tickwork-Signature": ""}):
            assert function.wake(headers).status == 401


REFUSED: dict[str, Callable[[dict[str, str]], dict[str, str]]] = {
    "unsigned": lambda accepted: {},
    "wrongly signed": lambda accepted: signed(secret=SECRET),
    "signed for another family": lambda accepted: signed(family="other"),
    "stale": lambda accepted: signed(age=600),
    "replayed": lambda accepted: accepted,
    "with the nonce of another": lambda accepted: {**signed(nonce="a"), "X-Tickwork-Nonce": "b"},
    "for another audience": lambda accepted: {"Authorization": f"Bearer {token(aud='https://other.a.run.app')}"},
    "of another e-mail": lambda accepted: {"Authorization": f"Bearer {token(email='mallory@example.com')}"},
    "with a wrong secret": lambda accepted: {"Authorization": f"Bearer {SECRET}x"},
}


def signed(family: str = "test", secret: str = HMAC_SECRET, age: int = 0, nonce: str = "n") -> dict[str, str]:
    now = int(time.time()) - age
    signature = sign(family, now, secret, nonce)
    return {"X-Tickwork-Signature": signature, "X-Tickwork-Timestamp": str(now), "X-Tickwork-Nonce": nonce}


def test_a_call_is_refused_before_its_body_is_read_and_a_connection_is_opened(source: Path, tmp_path: Path) -> None:
    google, accepted = Google(), signed(nonce="once")
    with google.running(), socket.create_server(("127.0.0.1", 0)) as database:
        database.settimeout(0.2)
        url = f"postgresql://tickwork_worker@127.0.0.1:{database.getsockname()[1]}/postgres"
        callers = {
            "TICKWORK_DATABASE_URL": f"{url}?connect_timeout=2",
            "TICKWORK_BEARER_SECRET": SECRET,
            "TICKWORK_HMAC_SECRET": HMAC_SECRET,
            "TICKWORK_OIDC_AUDIENCE": AUDIENCE,
            "TICKWORK_OIDC_EMAIL": EMAIL,
            "TICKWORK_OIDC_KEYS_URL": google.url,
        }
        with running_function(source, tmp_path, **callers) as function:
            # Who is let in makes the function knock at the database, which here never answers.
            with ThreadPoolExecutor(1) as threads:
                first = threads.submit(function.wake, accepted)
                database.settimeout(PATIENCE)
                database.accept()[0].close()
                assert first.result(PATIENCE).status == 503
            for name, headers in REFUSED.items():
                with socket.create_connection(("127.0.0.1", function.port), timeout=PATIENCE) as caller:
                    lines = [f"{key}: {value}" for key, value in headers(accepted).items()]
                    head = "\r\n".join(["POST / HTTP/1.1", "Host: x", "Content-Length: 1000", *lines, "", ""])
                    caller.sendall(head.encode())
                    # Of the body nothing was sent, and nothing is waited for.
                    assert caller.makefile("rb").readline().split()[1] == b"401", name
            # A try of the first call again may be on its way; of the others there is none.
            database.settimeout(0.5)
            with pytest.raises(TimeoutError):
                database.accept()


def test_a_refusal_says_nothing_about_its_reason(stranded: Served) -> None:
    answers = [
        stranded.wake(headers)
        for headers in (
            {},
            {"Authorization": f"Bearer {SECRET}x"},
            {"Authorization": f"Bearer {HMAC_SECRET}"},
            {"X-Tickwork-Signature": "sha256=0", "X-Tickwork-Timestamp": str(int(time.time()))},
            {"X-Tickwork-Signature": sign("other", 1, HMAC_SECRET), "X-Tickwork-Timestamp": "1"},
        )
    ]

    assert {answer.status for answer in answers} == {401}
    assert all(answer.body == answers[0].body and answer.body.keys() == {"error"} for answer in answers)


@pytest.mark.parametrize(
    "headers",
    [
        f"Authorization: Bearer {SECRET}\r\nAuthorization: Bearer {SECRET}",
        f"Authorization: Bearer {SECRET}\r\nAuthorization: Bearer x",
        f"Authorization: Bearer x\r\nAuthorization: Bearer {SECRET}",
        f"Authorization: Bearer x\r\n Bearer {SECRET}",
        f"Authorization : Bearer {SECRET}",
        f"Authorization: Bearer {SECRET}\0",
        f"Authorization: Bearer {SECRET}ä",
        "Authorization: Bearer " + "x" * 100_000,
        f"Authorization: Basic {SECRET}",
        f"Cookie: Authorization={SECRET}; token={SECRET}",
        f"Proxy-Authorization: Bearer {SECRET}",
        "X-Tickwork-Signature: ä\r\nX-Tickwork-Timestamp: 1",
        "X-Tickwork-Signature: ä\r\nX-Tickwork-Timestamp: NOW",
        "X-Tickwork-Signature: x\r\nX-Tickwork-Timestamp: ²",
        "X-Forwarded-For: 127.0.0.1\r\nForwarded: for=127.0.0.1",
        "traceparent: ä\r\nX-Cloud-Trace-Context: \xff",
    ],
)
def test_a_hostile_request_is_refused_and_harms_nobody(headers: str, stranded: Served) -> None:
    headers = headers.replace("NOW", str(int(time.time())))
    request = f"POST /?token={SECRET}&Authorization=Bearer+{SECRET} HTTP/1.1\r\nHost: x\r\n{headers}\r\n\r\n"

    assert stranded.send(request.encode()) in (400, 401, 431)
    assert stranded.wake().status == 503


def test_a_database_that_is_down_is_told_from_a_job_that_fails(stranded: Served) -> None:
    answer = stranded.wake()

    assert answer == Answer(503, {"error": "The queue cannot be reached; the next wake-up tries again."})
    line = next(line for line in reversed(stranded.lines()) if line["message"] == "fail_to_claim")
    assert (line["severity"], line["hint"]) == ("ERROR", "Is the database up, and is its URL right?")
    assert "refused" in line["reason"]
    assert PASSWORD not in stranded.output() + stranded.complaints()


def test_a_refused_caller_is_logged_without_what_was_sent(stranded: Served) -> None:
    stranded.wake({"Authorization": "Bearer what-was-sent"})

    line = stranded.lines()[-1]
    assert (line["message"], line["severity"], line["reason"]) == ("refuse_caller", "WARNING", "the secret is wrong")
    assert "what-was-sent" not in stranded.output()


@pytest.mark.parametrize(
    ("environment", "line"),
    [
        ({}, "TICKWORK_DATABASE_URL is not set. "),
        (
            {"TICKWORK_DATABASE_URL": f"mysql://u:{PASSWORD}@host/db"},
            "TICKWORK_DATABASE_URL: must start with postgresql://",
        ),
        ({"TICKWORK_DATABASE_URL": f"postgresql://u:{PASSWORD}%@host/db"}, "TICKWORK_DATABASE_URL: is not a valid URL"),
        (
            {"TICKWORK_DATABASE_URL": NO_DATABASE, "TICKWORK_BEARER_SECRET": PASSWORD},
            "TICKWORK_BEARER_SECRET: must be at least 32",
        ),
    ],
)
def test_a_bad_setting_stops_the_start_with_one_line(
    environment: dict[str, str], line: str, source: Path, tmp_path: Path
) -> None:
    served = start(source, tmp_path, environment)

    assert served.process.wait(PATIENCE) == 1
    (complaint,) = served.complaints().splitlines()
    assert complaint.startswith(f"tickwork: {line}")
    assert PASSWORD not in complaint
    assert served.output() == ""


def test_every_line_is_one_of_json_with_the_labels_of_its_job(function: Served, world: World) -> None:
    jobs = {
        str(job.id): job
        for job in [
            world.job(world.type(), payload={"name": "secret-of-the-payload"}),
            world.job(world.type("stumble_over"), payload={"name": "secret-of-the-payload"}),
            world.job(world.type("refuse_person"), payload={"name": {"x": "secret-of-the-payload"}}),
        ]
    }

    assert function.wake().body["claimed"] == 3

    lines = function.lines()
    assert [line["message"] for line in lines if line[LABELS]["type"] == "greet_person"] == ["claim", "greet", "settle"]
    for line in lines:
        labels = line[LABELS]
        job = world.reload(jobs[labels.pop("job_id")])
        assert labels.pop("worker_id") == world.attempts(job)[0]["worker_id"]
        assert (labels.pop("trace_id"), len(labels.pop("span_id"))) == (job.id.hex, 16)
        assert labels == {"tenant_id": str(job.tenant_id), "family": "test", "type": job.type, "attempt": "1"}
    endings = {
        line[LABELS]["type"]: (line["ending"], line["error_code"]) for line in lines if line["message"] == "settle"
    }
    assert endings == {
        "greet_person": ("done", None),
        "stumble_over": ("retried", "UNEXPECTED"),
        "refuse_person": ("failed", "INVALID_PAYLOAD"),
    }
    for secret in ("secret-of-the-payload", SECRET, PASSWORD):
        assert secret not in function.output() + function.complaints()


def test_every_line_has_the_trace_of_its_job_or_of_its_request(source: Path, tmp_path: Path, world: World) -> None:
    world.job(traceparent=f"00-{'ab' * 16}-{'cd' * 8}-01")
    untraced = world.job()

    with running_function(source, tmp_path, **settings(world, GOOGLE_CLOUD_PROJECT="my-project")) as function:
        function.wake(GOOD)
        function.wake({"traceparent": f"00-{TRACE_ID}-00f067aa0ba902b7-01"})
        function.wake({"X-Cloud-Trace-Context": f"{TRACE_ID[::-1]}/1;o=1"})
        function.wake({})
        traces = [(line["message"], line.get("logging.googleapis.com/trace")) for line in function.lines()]

    assert traces == [
        *[(verb, f"projects/my-project/traces/{'ab' * 16}") for verb in ("claim", "greet", "settle")],
        *[(verb, f"projects/my-project/traces/{untraced.id.hex}") for verb in ("claim", "greet", "settle")],
        ("refuse_caller", f"projects/my-project/traces/{TRACE_ID}"),
        ("refuse_caller", f"projects/my-project/traces/{TRACE_ID[::-1]}"),
        ("refuse_caller", None),
    ]
