"""Answers of cloud drives, altered: the import copes, waits or gives up with a reason, and never fails unexpectedly."""

import json
from collections.abc import Callable
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.fuzz import bounded
from tests.servers.cloud import Asked, Cloud, Reply, Requests, serve
from tests.world.every_provider import CLOUDS, cloud, office, provider
from tests.world.office import Office

__all__ = ["cloud", "office", "provider"]

# Written by nobody who means well, and in JSON that Python's own would not write.
RAW = ["1e400", "-1", "1e-400", "9" * 400, "9" * 5000, "NaN", '"\\ud800"', '"\\u0000"', "[" * 900 + "]" * 900, "null"]
ODD = [
    "true",
    "[]",
    "{}",
    '""',
    "0",
    '"x"',
    "[null]",
    '[{"id": 1}]',
    '{"a": {}}',
    '"/../../x"',
    '"http://127.0.0.1:1/"',
]
TIMES = ['"9999-12-31T23:59:59Z"', '"0001-01-01T00:00:00+23:59"', "253402300799000", '"253402300799000"', "-1e15"]
URL = "https://import.example.com/notifications/"
MARK = "put-it-here"
Change = tuple[int, str, str]
Ask = Callable[[list[Reply], str], None]
CHANGES = st.tuples(
    st.integers(0, 60), st.sampled_from(["replace", "drop", "double"]), st.sampled_from([*RAW, *ODD, *TIMES])
)


def places(value: Any) -> list[tuple[Any, Any]]:
    """Each value in it, as what it is in and its key or place there."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [each for key, part in inner for each in [(value, key), *places(part)]]


def altered(body: Any, change: Change) -> bytes:
    number, kind, text = change
    whole = json.loads(json.dumps({"": body}))
    container, key = (found := places(whole))[number % len(found)]
    if kind == "drop" and container is not whole:
        del container[key]
    elif kind == "double" and isinstance(container, list):
        container.append(container[key])
    else:
        container[key] = MARK
    return json.dumps(whole[""] if whole else None).replace(f'"{MARK}"', text).encode()


def altering(change: Change) -> Reply:
    """What the server would have said, but for one value of it."""

    def reply(requests: Requests, asked: Asked) -> None:
        def send_json(status: int, body: Any, **headers: str) -> None:
            requests.send_bytes(status, altered(body, change), Content_Type="application/json", **headers)

        requests.send_json = send_json  # type: ignore[method-assign]
        try:
            serve(requests, asked)
        finally:
            del requests.send_json

    return reply


REPLIES = st.lists(st.just(serve) | CHANGES.map(altering), min_size=1, max_size=10)
REFUSALS = st.tuples(
    st.sampled_from([200, 201, 206, 400, 401, 403, 404, 409, 410, 429, 500, 503, 509]),
    st.sampled_from([*RAW, *ODD, "", "<html>", '{"error": {"errors": 5}}', '{"error": {"errors": [[]]}}'])
    | st.sampled_from(["reset", "path/not_found", "too_many", 5, [], {"retry_after": 1e300}]).map(
        lambda said: json.dumps({"error_summary": said, "error": said, "@odata.nextLink": said, "nextPageToken": said})
    ),
    st.none() | st.sampled_from(["1", "-1", "9" * 400, "soon", "Wed, 21 Oct 2015 07:28:00 GMT", "1.5", "\xb2"]),
)


def refusing(refusal: tuple[int, str, str | None]) -> Reply:
    status, text, retry_after = refusal
    headers = {"Retry_After": retry_after} if retry_after else {}
    return lambda requests, asked: requests.send_bytes(status, text.encode(), **headers)


@pytest.fixture
def ask(office: Office, provider: str, cloud: Cloud, monkeypatch: pytest.MonkeyPatch) -> Ask:
    """Runs a job while the server gives these answers, one after the other, and looks how it ended."""
    monkeypatch.setenv("TICKWORK_NOTIFICATION_SECRET", "s" * 32)
    office.world.run("update job_types set max_attempts = 1 where family = 'import'")
    for name in ("one.txt", "deeper/two.txt"):
        cloud.put(f"/papers/{name}", b"words")

    def run(replies: list[Reply], verb: str) -> None:
        connector = office.connect(
            provider, watch_url="https://example.com/hook" if verb == "watch_connector" else None
        )
        cloud.trouble = [("/", reply) for reply in replies]
        job = office.world.reload(requested(office, connector, verb))
        office.work()
        cloud.trouble = []
        ended = office.world.reload(job)
        assert ended.error_code not in ("UNEXPECTED", "INVALID_PAYLOAD"), office.world.service.jobs.exceptions(job.id)
        assert ended.status in ("done", "failed", "dead", "queued")
        assert {row["tenant_id"] for row in office.world.rows("select tenant_id from documents")} <= {office.tenant}
        office.world.run("delete from jobs")
        office.world.run("delete from documents")

    return run


def requested(office: Office, connector: UUID, verb: str) -> Any:
    match verb:
        case "import a folder":
            return office.request(connector, "/papers")
        case "import a file":
            return office.request(connector, None, ["/papers/one.txt"])
        case _:
            payload = {"connector_id": str(connector)}
            return office.world.service.jobs.enqueue_job(office.tenant, verb, payload)


VERBS = ["import a folder", "import a folder", "import a file", "check_connector", "watch_connector"]


@pytest.mark.parametrize("provider", CLOUDS)
def test_an_altered_answer_is_no_surprise(ask: Ask) -> None:
    @bounded
    @given(REPLIES, st.sampled_from(VERBS))
    def check(replies: list[Reply], verb: str) -> None:
        ask(replies, verb)

    check()


@pytest.mark.parametrize("provider", CLOUDS)
def test_a_refusal_of_any_kind_is_no_surprise(ask: Ask) -> None:
    @bounded
    @given(st.lists(st.just(serve) | REFUSALS.map(refusing), min_size=1, max_size=8), st.sampled_from(VERBS))
    def check(replies: list[Reply], verb: str) -> None:
        ask(replies, verb)

    check()
