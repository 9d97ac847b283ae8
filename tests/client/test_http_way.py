"""Over HTTP: what is sent, what is sent again, and what an answer means."""

import threading
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any
from uuid import uuid4

import psycopg
import pytest

from tests.servers.scripted import Answer, Scripted, scripted
from tests.world.waiting import until
from tickwork import errors
from tickwork.client import Tickwork, http_requests

KEY = "tw_0123456789abcdef"
TRACE = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Scripted]:
    monkeypatch.setattr(http_requests, "FIRST_PAUSE", 0.001)
    with scripted() as server:
        yield server


@pytest.fixture
def client(server: Scripted) -> Iterator[Tickwork]:
    with Tickwork(url=server.url, key=KEY) as client:
        yield client


def problem(status: int, code: str | None = None, **more: Any) -> Answer:
    return Answer(status, {"status": status, "detail": "told", "code": code, "hint": "do this", **more})


def test_a_request_carries_the_key_the_trace_and_the_arguments_where_they_belong(
    server: Scripted, client: Tickwork
) -> None:
    server.answers = [Answer(200, {"value": "because"}), Answer(200, {"items": [], "next_cursor": None}), Answer(204)]

    assert client.with_options(traceparent=TRACE).explain("a/b") == "because"
    assert list(client.list(status="done", oldest_first=True)) == []
    client.schedules.delete_schedule("s 1")

    explain, listed, deleted = server.requests
    assert (explain.method, explain.path) == ("GET", "/api/v1/jobs/a%2Fb/explain")
    assert (explain.headers["authorization"], explain.headers["traceparent"]) == (f"Bearer {KEY}", TRACE)
    assert listed.path == "/api/v1/jobs?max_jobs=100&status=done&oldest_first=true"
    assert "traceparent" not in listed.headers
    assert (deleted.method, deleted.path, deleted.body) == ("DELETE", "/api/v1/schedules/s%201", None)


@pytest.mark.parametrize("passing", [Answer(502, "Bad gateway"), problem(503), problem(429), Answer(is_cut=True)])
def test_a_read_is_sent_again_until_it_is_answered(server: Scripted, client: Tickwork, passing: Answer) -> None:
    server.answers = [passing, passing, Answer(200, {"value": "because"})]

    assert client.explain(uuid4()) == "because"
    assert len(server.requests) == 3


def test_a_job_is_enqueued_with_a_key_of_its_own_and_sent_again_with_the_same(
    server: Scripted, client: Tickwork
) -> None:
    server.answers = [Answer(is_cut=True), problem(503)]

    with pytest.raises(errors.Unavailable):
        client.enqueue("greet_person", {"n": 1})
    with pytest.raises(errors.Unavailable):
        client.enqueue_many([{"type": "greet_person"}, {"type": "greet_person", "idempotency_key": "mine"}])

    first, second = server.requests[: http_requests.ATTEMPTS], server.requests[http_requests.ATTEMPTS :]
    assert len({request.body["idempotency_key"] for request in first}) == 1
    assert first[0].body == {
        "type": "greet_person",
        "payload": {"n": 1},
        "idempotency_key": first[0].body["idempotency_key"],
    }
    assert [job["idempotency_key"] for job in second[0].body["jobs"]][1] == "mine"
    assert len({request.body["jobs"][0]["idempotency_key"] for request in second}) == 1


@pytest.mark.parametrize("answer", [problem(503), Answer(is_cut=True), problem(429)])
def test_what_might_be_done_twice_is_sent_once(server: Scripted, client: Tickwork, answer: Answer) -> None:
    server.answers = [answer]

    with pytest.raises(errors.Unavailable):
        client.retry(uuid4())
    with pytest.raises(errors.Unavailable):
        client.schedules.run_schedule(uuid4())

    assert len(server.requests) == 2


def test_a_server_that_is_not_there_is_unavailable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_requests, "FIRST_PAUSE", 0.001)

    with Tickwork(url="http://127.0.0.1:1/api/v1", key=KEY) as client, pytest.raises(errors.Unavailable):
        client.retry(uuid4())


def test_a_server_that_says_nothing_is_given_up_after_the_timeout(server: Scripted, client: Tickwork) -> None:
    never = threading.Event()
    server.answers = [Answer(waits_for=never)]

    with pytest.raises(errors.Unavailable, match=r"no answer within 0\.2 s"):
        client.with_options(timeout=0.2).explain(uuid4())

    never.set()
    until(lambda: server.requests)
    assert len(server.requests) == 1


@pytest.mark.parametrize("code", errors.BY_SQLSTATE)
def test_every_code_becomes_its_error(server: Scripted, client: Tickwork, code: str) -> None:
    server.answers = [problem(422, code, request_id="r1")]

    with pytest.raises(errors.BY_SQLSTATE[code]) as refusal:
        client.retry(uuid4())

    assert (refusal.value.sqlstate, refusal.value.hint) == (code, "do this")
    assert refusal.value.__notes__ == ["The id of the request is r1."]


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (401, errors.NotAllowed),
        (403, errors.NotAllowed),
        (404, errors.InvalidRequest),
        (500, errors.Unavailable),
        (504, errors.Unavailable),
    ],
)
def test_without_a_code_the_status_decides(
    server: Scripted, client: Tickwork, status: int, kind: type[Exception]
) -> None:
    server.answers = [Answer(status, "<html>A proxy says no</html>")]

    with pytest.raises(kind, match=f"the API answered with {status}"):
        client.explain(uuid4())


def test_a_full_queue_is_not_asked_again(server: Scripted, client: Tickwork) -> None:
    server.answers = [problem(429, "TWFUL")]

    with pytest.raises(errors.QueueFull):
        client.enqueue("greet_person")

    assert len(server.requests) == 1


def test_what_only_the_database_has_is_refused_before_anything_is_sent(server: Scripted, client: Tickwork) -> None:
    server.answers = [Answer(500)]

    attempts: list[Callable[[], object]] = [
        lambda: client.tenants.add("acme"),
        lambda: client.secrets,
        lambda: client.jobs.exceptions(uuid4()),
        lambda: client.events.purge_events(timedelta(days=1)),
    ]
    for attempt in attempts:
        with pytest.raises(errors.InvalidRequest) as refusal:
            attempt()
        assert "postgresql://" in str(refusal.value.hint)
    assert server.requests == []


def test_a_payload_that_is_not_json_is_refused_before_anything_is_sent(server: Scripted, client: Tickwork) -> None:
    server.answers = [Answer(500)]

    for payload in ({"n": float("nan")}, {"n": {1, 2}}, {"text": "\ud800"}):
        with pytest.raises(errors.InvalidRequest) as refusal:
            client.enqueue("greet_person", payload)
        assert refusal.value.sqlstate == "TWPAY"
    assert server.requests == []


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({}, "needs a URL"),
        ({"url": "https://api.example.com/api/v1"}, "needs a key"),
        ({"url": "postgresql://x", "key": KEY}, "are for the HTTP API"),
        ({"url": "ftp://x"}, "must begin with"),
    ],
)
def test_a_client_that_cannot_work_is_refused_without_showing_its_key(given: dict[str, Any], named: str) -> None:
    with pytest.raises(errors.BadSetting, match=named) as refusal:
        Tickwork(**given)

    assert KEY not in str(refusal.value)


def test_options_of_requests_are_refused_without_requests() -> None:
    client = Tickwork(psycopg.Connection.__new__(psycopg.Connection))

    with pytest.raises(errors.InvalidRequest, match="HTTP"):
        client.with_options(timeout=1)
