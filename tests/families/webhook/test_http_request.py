"""http_request: what is sent, with whose secrets, and what is kept of the answer."""

import base64
import json
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import pytest

from tests.servers.hostile import Caller, HostileServer, answer, hostile_server, in_turn, raw, redirect
from tests.world.receivers import Sender
from tests.world.receivers import sender as sender  # a fixture
from tickwork.errors import InvalidRequest
from tickwork.families.webhook.http_request import Secret
from tickwork.jobs.rows import Job
from tickwork.tools.outbound.urls import parse

VALUE = 'canary/"7f3a+9b=='


@pytest.fixture
def api() -> Iterator[HostileServer]:
    with hostile_server(answer(b'{"ok": true}', "Content-Type: application/json")) as api:
        yield api


def store(sender: Sender, name: str, *hosts: str, value: str = VALUE) -> None:
    stored = Secret(value=value, hosts=list(hosts)).model_dump_json()
    sender.client.secrets.store(sender.tenant, "tenant", name, stored)


def run(sender: Sender, **payload: Any) -> Job:
    job = sender.world.job("http_request", sender.tenant, payload=payload)
    sender.work()
    return sender.world.reload(job)


def test_an_api_is_called_and_its_answer_is_the_result(sender: Sender, api: HostileServer) -> None:
    job = run(sender, method="PUT", url=api.url("/x?y=z"), headers={"X-A": "b"}, body={"name": "Grüße"})

    (seen,) = api.requests
    assert (seen.method, seen.target, json.loads(seen.body)) == ("PUT", "/x?y=z", {"name": "Grüße"})
    assert (seen.headers["x-a"], seen.headers["content-type"]) == ("b", "application/json")
    assert seen.headers["idempotency-key"] == str(job.id)
    assert (job.status, job.result["status"], job.result["body"]) == ("done", 200, '{"ok": true}')
    assert (job.result["headers"]["content-type"], job.result["is_cut"]) == ("application/json", False)


def test_text_goes_as_it_is(sender: Sender, api: HostileServer) -> None:
    run(sender, method="POST", url=api.url(), headers={"Content-Type": "text/plain"}, body="a\r\nb")

    assert api.requests[0].body == b"a\r\nb"


@pytest.mark.parametrize(
    ("status", "expected", "ending", "code"),
    [
        ("201 Created", [], "done", None),
        ("201 Created", [200], "failed", "HTTP_201"),
        ("404 Not Found", [404], "done", None),
        ("404 Not Found", [], "failed", "HTTP_404"),
        ("302 Found", [], "failed", "HTTP_302"),
        ("408 Request Timeout", [], "queued", "HTTP_408"),
        ("429 Too Many", [], "queued", "RATE_LIMITED"),
        ("500 No", [], "queued", "HTTP_500"),
    ],
)
def test_the_status_decides(
    sender: Sender, api: HostileServer, status: str, expected: list[int], ending: str, code: str | None
) -> None:
    api.reply = answer(b"why", "Location: /y", status=status)

    job = run(sender, url=api.url(), expected_status=expected)

    assert (job.status, job.error_code) == (ending, code)
    if code:
        assert job.error_message == f"The server responded with {status[:3]}: why"


NOT_BY_SCHEMA: list[dict[str, Any]] = [
    {},
    {"url": "https://a.example/", "method": "CONNECT"},
    {"url": "https://a.example/", "surprise": 1},
    {"url": "https://a.example/", "redirects": 4},
    {"url": "https://a.example/", "expected_status": [100]},
]


@pytest.mark.parametrize("payload", NOT_BY_SCHEMA)
def test_what_is_no_request_is_not_enqueued(sender: Sender, payload: dict[str, Any]) -> None:
    with pytest.raises(InvalidRequest, match=r"^payload"):
        run(sender, **payload)


@pytest.mark.parametrize(
    "payload",
    [
        *NOT_BY_SCHEMA,
        {"url": "https://a.example/", "headers": {"Host": "b.example"}},
        {"url": "https://a.example/", "headers": {"X": "a\r\nY: b"}},
        {"url": "https://a.example/", "headers": {"authorization": "Bearer canary-inlined"}},
        {"url": "https://a.example/", "headers": {"X-Api-Key": "canary-inlined"}},
    ],
)
def test_what_is_no_request_is_refused_by_the_handler_too(sender: Sender, payload: dict[str, Any]) -> None:
    # As with a job that was enqueued before its type had a schema.
    sender.world.run("update job_types set payload_schema = null")

    job = run(sender, **payload)

    assert (job.status, job.error_code) == ("failed", "INVALID_PAYLOAD")
    assert "canary" not in str(job.error_message)


def test_a_secret_is_filled_in_and_kept_nowhere_even_if_it_comes_back(
    sender: Sender, api: HostileServer, capsys: pytest.CaptureFixture[str]
) -> None:
    forms = [VALUE, json.dumps(VALUE), quote(VALUE), quote(VALUE, safe=""), base64.b64encode(VALUE.encode()).decode()]
    api.reply = answer("\n".join(forms).encode(), f"X-Echo: {VALUE}")
    store(sender, "API_KEY", "http://127.0.0.1")

    job = run(sender, url=api.url(), headers={"Authorization": "Bearer {{secret:API_KEY}}"})
    api.reply = answer(" ".join(forms).encode(), status="500 No")
    failed = run(sender, url=api.url(), headers={"Authorization": "Bearer {{ secret:API_KEY }}"})

    assert [seen.headers["authorization"] for seen in api.requests] == [f"Bearer {VALUE}"] * 2
    assert (job.status, failed.status) == ("done", "queued")
    assert "[secret API_KEY]" in job.result["body"]
    assert job.result["headers"]["x-echo"] == "[secret API_KEY]"
    kept = everything(sender) + capsys.readouterr().out
    assert [form for form in forms if form.strip('"') in kept] == []


def everything(sender: Sender) -> str:
    """All rows of all tables, as text."""
    tables = sender.world.rows(
        "select oid::regclass::text as name from pg_class where relkind = 'r' "
        "and relnamespace in ('public'::regnamespace, 'tickwork'::regnamespace)"
    )
    return "".join(
        str(row) for table in tables for row in sender.world.admin.execute(f"select t::text from {table['name']} as t")
    )


@pytest.mark.parametrize(
    ("hosts", "code"),
    [
        ([], "SECRET_NOT_FOR_HOST"),
        (["api.example", "http://127.0.0.11", "http://127.0.0"], "SECRET_NOT_FOR_HOST"),
        # They are for https, which this is not.
        (["127.0.0.1", "*"], "SECRET_NOT_FOR_HOST"),
        (["api.example", "http://127.0.0.1"], None),
    ],
)
def test_a_secret_goes_only_to_the_hosts_that_it_is_for(
    sender: Sender, api: HostileServer, hosts: list[str], code: str | None
) -> None:
    store(sender, "API_KEY", *hosts)

    job = run(sender, url=api.url(), headers={"Authorization": "{{secret:API_KEY}}"})

    assert (job.error_code, len(api.requests)) == (code, code is None)


def test_a_secret_that_is_missing_or_another_tenants_is_not_there(sender: Sender, api: HostileServer) -> None:
    other = Sender(sender.world, sender.world.tenant("birch"))
    store(other, "API_KEY", "http://127.0.0.1")

    job = run(sender, url=api.url(), headers={"Authorization": "{{secret:API_KEY}}"})

    assert (job.status, job.error_code, api.requests) == ("failed", "SECRET_MISSING", [])
    assert "API_KEY" in str(job.error_message)


def test_secrets_in_values_are_not_filled_in_again(sender: Sender, api: HostileServer) -> None:
    store(sender, "ONE", "http://127.0.0.1", value="{{secret:TWO}}")
    store(sender, "TWO", "http://127.0.0.1", value="canary-two")

    run(sender, url=api.url(), headers={"X-A": "{{secret:ONE}}", "X-B": "{{secret:TWO}}"})

    assert api.requests[0].headers["x-a"] == "{{secret:TWO}}"


def test_redirects_are_followed_only_if_asked_for_and_take_no_secret_elsewhere(
    sender: Sender, api: HostileServer
) -> None:
    store(sender, "API_KEY", "http://127.0.0.1")
    headers = {"Authorization": "{{secret:API_KEY}}"}
    with hostile_server(answer(b"elsewhere")) as elsewhere:
        api.reply = redirect(elsewhere.url("/"))

        refused = run(sender, url=api.url(), headers=headers)
        followed = run(sender, url=api.url(), headers=headers, redirects=1)

        assert (refused.error_code, followed.result["body"]) == ("HTTP_302", "elsewhere")
        assert VALUE not in str(elsewhere.requests)


# All that a redirect to another host may keep of the headers of a request.
KEPT_ELSEWHERE = ["Accept", "Accept-Encoding", "Accept-Language", "Content-Type", "If-Range", "Range", "User-Agent"]


@pytest.mark.parametrize("status", [302, 307])
def test_no_header_takes_a_secret_to_another_host(sender: Sender, api: HostileServer, status: int) -> None:
    store(sender, "API_KEY", "http://127.0.0.1")
    headers = {name: f"x {{{{secret:API_KEY}}}}; {name}" for name in [*KEPT_ELSEWHERE, "X-Other"]}
    with hostile_server(redirect(api.url("/back"), status)) as elsewhere:
        api.reply = in_turn(redirect("/same", status), redirect(elsewhere.url("/"), status), answer(b"back"))

        job = run(sender, method="POST", url=api.url(), headers=headers, body="a body", redirects=3)

        _, same, back = api.requests
        assert (job.status, job.result["body"]) == ("done", "back")
        assert same.headers["user-agent"] == f"x {VALUE}; User-Agent"
        for seen in (elsewhere.requests[0], back):
            assert VALUE not in str(seen)
            assert seen.headers["user-agent"] == "tickwork"


def test_headers_without_a_secret_go_along_to_another_host(sender: Sender, api: HostileServer) -> None:
    store(sender, "API_KEY", "http://127.0.0.1")
    headers = {"Accept": "a/b", "Range": "bytes=5-", "User-Agent": "{{secret:API_KEY}}"}
    with hostile_server(answer(b"elsewhere")) as elsewhere:
        api.reply = redirect(elsewhere.url("/"))

        run(sender, url=api.url(), headers=headers, redirects=1)

        seen = elsewhere.requests[0].headers
        assert (seen["accept"], seen["range"], seen["user-agent"]) == ("a/b", "bytes=5-", "tickwork")


@pytest.mark.parametrize("form", [quote(VALUE, safe=""), base64.urlsafe_b64encode(VALUE.encode()).decode()])
def test_a_redirect_that_repeats_a_secret_is_not_followed_to_another_host(
    sender: Sender, api: HostileServer, form: str
) -> None:
    store(sender, "API_KEY", "http://127.0.0.1")
    with hostile_server(answer(b"elsewhere")) as elsewhere:
        api.reply = redirect(elsewhere.url(f"/?agent={form}"))

        job = run(sender, url=api.url(), headers={"User-Agent": "{{secret:API_KEY}}"}, redirects=1)

        assert (job.status, job.error_code) == ("failed", "SECRET_NOT_FOR_HOST")
        assert elsewhere.requests == []
        assert form not in str(job.error_message)


def test_a_body_that_holds_a_secret_is_not_sent_to_another_host(sender: Sender, api: HostileServer) -> None:
    store(sender, "API_KEY", "http://127.0.0.1")
    with hostile_server(answer(b"elsewhere")) as elsewhere:
        api.reply = redirect(elsewhere.url("/"), 307)

        job = run(
            sender,
            method="POST",
            url=api.url(),
            headers={"Authorization": "{{secret:API_KEY}}"},
            body={"key": VALUE},
            redirects=1,
        )

        assert (job.error_code, elsewhere.requests) == ("SECRET_NOT_FOR_HOST", [])


def test_an_answer_is_capped(sender: Sender, api: HostileServer) -> None:
    api.reply = answer("ü".encode() * 100_000 + b"\x00")
    job = run(sender, url=api.url())
    assert (len(job.result["body"]), job.result["is_cut"]) == (65_536, True)

    api.reply = answer(b"x" * 1_000_001)
    assert run(sender, url=api.url()).error_code == "ANSWER_TOO_LARGE"


def test_a_server_that_hangs_up_is_tried_again(sender: Sender, api: HostileServer) -> None:
    api.reply = raw(b"")

    job = run(sender, url=api.url())

    assert (job.status, job.error_code) == ("queued", "CONNECTION_LOST")


def test_a_429_holds_the_lane(sender: Sender, api: HostileServer) -> None:
    def reply(caller: Caller) -> None:
        answer(b"", "Retry-After: 300", status="429 Too Many")(caller)

    api.reply = reply
    for _ in range(3):
        sender.world.job("http_request", sender.tenant, payload={"url": api.url()}, lane="api:1")

    sender.work()

    assert len(api.requests) == 1


def test_by_https_a_plain_host_or_a_star_is_enough() -> None:
    for hosts, url in (["api.example"], "https://api.example/"), (["*"], "https://api.example:8443/x"):
        assert Secret(value=VALUE, hosts=hosts).is_for(parse(url))
    for hosts, url in (["api.example"], "https://api.example.evil/"), (["http://api.example"], "https://api.example/"):
        assert not Secret(value=VALUE, hosts=hosts).is_for(parse(url))
