"""Whatever is sent: a 4xx that says why, never a 500."""

import json
from typing import Any

import pytest

from tests.api.conftest import Users
from tests.world import World
from tests.world.api import api_of, user_token
from tickwork.api.app import MAX_BODY_BYTES

BAD_BODIES: dict[str, bytes] = {
    "nothing that is JSON": b"type=greet_person",
    "half of it": b'{"type": "greet_person"',
    "a list": b"[]",
    "a number": b"1",
    "null": b"null",
    "a key twice": b'{"type": "greet_person", "type": "other"}',
    "a key twice, inside": b'{"type": "greet_person", "payload": {"a": 1, "a": 2}}',
    "NaN": b'{"type": "greet_person", "payload": {"a": NaN}}',
    "infinity": b'{"type": "greet_person", "payload": {"a": -Infinity}}',
    "41 levels": b'{"type": "greet_person", "payload": {"a": ' + b"[" * 40 + b"]" * 40 + b"}}",
    "a million levels": b'{"payload": ' + b"[" * 1_000_000,
    "NUL": b'{"type": "greet_person", "payload": {"a": "\\u0000"}}',
    "NUL in a key": b'{"type": "greet_person", "payload": {"\\u0000": 1}}',
    "NUL in a name": b'{"type": "greet\\u0000"}',
    "half a pair": b'{"type": "greet_person", "payload": {"a": "\\ud83d"}}',
    "half a pair in a name": b'{"type": "\\udE00"}',
    "bad UTF-8": b'{"type": "\xff"}',
    "a byte order mark": b'\xef\xbb\xbf{"type": "greet_person"}',
    "a number of 5,000 digits": b'{"type": "greet_person", "priority": ' + b"9" * 5000 + b"}",
    "a priority beyond 32 bits": b'{"type": "greet_person", "priority": 4294967296}',
    "a priority as text": b'{"type": "greet_person", "priority": "5"}',
    "a flag as text": b'{"type": "greet_person", "notify": "yes"}',
    "a type that is a number": b'{"type": 7}',
    "a payload that is text": b'{"type": "greet_person", "payload": "x"}',
    "a time without a zone": b'{"type": "greet_person", "run_at": "2030-01-01T00:00:00"}',
    "a time that is a number": b'{"type": "greet_person", "run_at": 1893456000}',
    "a time that is none": b'{"type": "greet_person", "run_at": "tomorrow"}',
    "an id that is none": b'{"type": "greet_person", "tenant_id": "acme"}',
    "an unknown field": b'{"type": "greet_person", "colour": "blue"}',
    "no type": b"{}",
    "no body": b"",
}


@pytest.mark.parametrize("body", BAD_BODIES.values(), ids=BAD_BODIES)
def test_a_malformed_body_is_refused(shared: Users, body: bytes) -> None:
    answer = shared.member.send("POST", "jobs", data=body, content_type="application/json")

    assert answer.status == 400, answer.body
    assert answer.headers["Content-Type"] == "application/problem+json"
    assert {"type", "title", "status", "detail", "code", "hint", "request_id"} <= set(answer.body)


def test_an_escaped_backslash_before_u0000_is_text(shared: Users) -> None:
    text = b'{"type": "greet_person", "payload": {"a": "\\\\u0000 \\ud83d\\ude00"}}'

    answer = shared.member.send("POST", "jobs", data=text, content_type="application/json")

    assert answer.body["payload"] == {"a": "\\u0000 😀"}


BAD_REQUESTS: dict[str, tuple[str, str, dict[str, Any], int]] = {
    "an unknown path": ("GET", "nothing", {}, 404),
    "a path beside the API": ("GET", "/api/v2/jobs", {}, 404),
    "another method": ("PUT", "jobs", {}, 405),
    "an id that is none": ("GET", "jobs/1", {}, 400),
    "an id with NUL": ("GET", "jobs/%00", {}, 400),
    "an unknown filter": ("GET", "jobs?colour=blue", {}, 400),
    "a filter twice": ("GET", "jobs?type=a&type=b", {}, 400),
    "a filter and its other name": ("GET", "jobs?type=a&definition_key=b", {}, 400),
    "a filter with NUL": ("GET", "jobs?type=%00", {}, 400),
    "a page of none": ("GET", "jobs?limit=0", {}, 400),
    "a page of too many": ("GET", "jobs?limit=1001", {}, 400),
    "a page of a word": ("GET", "jobs?limit=many", {}, 400),
    "a cursor that is none": ("GET", "jobs?cursor=1", {}, 400),
    "a cursor of no job": ("GET", "jobs?cursor=00000000-0000-4000-8000-000000000000", {}, 404),
    "a status that is none": ("GET", "jobs?status=blue", {}, 422),
    "a query of a body": ("POST", "jobs?type=greet_person", {"json": {}}, 400),
    "a dry run of a word": ("POST", "jobs?dry_run=perhaps", {"json": {"type": "greet_person"}}, 400),
    "a form": ("POST", "jobs", {"data": {"type": "greet_person"}}, 415),
    "a payload that the type refuses": (
        "POST",
        "jobs",
        {"json": {"type": "greet_person", "payload": {"name": 1}}},
        422,
    ),
    "an unknown type": ("POST", "jobs", {"json": {"type": "unknown"}}, 422),
    "a key that is too long": ("POST", "jobs", {"json": {"type": "greet_person", "dedupe_key": "x" * 201}}, 400),
    "a key of too many bytes": ("POST", "jobs", {"json": {"type": "greet_person", "dedupe_key": "ä" * 200}}, 413),
    "a payload of 65 kB": ("POST", "jobs", {"json": {"type": "greet_person", "payload": {"a": "x" * 66_000}}}, 413),
    "a body that is too large": (
        "POST",
        "jobs",
        {"data": b" " * (MAX_BODY_BYTES + 1), "content_type": "application/json"},
        413,
    ),
}


@pytest.mark.parametrize(("method", "path", "options", "status"), BAD_REQUESTS.values(), ids=BAD_REQUESTS)
def test_a_bad_request_is_refused(shared: Users, method: str, path: str, options: dict[str, Any], status: int) -> None:
    answer = shared.member.send(method, path, **options)

    assert (answer.status, answer.body["status"]) == (status, status), answer.body


def test_a_full_queue_says_when_to_come_back(world: World, users: Users) -> None:
    world.run("update tenant_settings set max_queued = 0 where tenant_id = %s", users.acme)

    answer = users.member.post("jobs", type="greet_person")

    assert (answer.status, answer.body["code"], answer.headers["Retry-After"]) == (429, "TWFUL", "5")


def test_nobody_is_refused_before_the_body_is_read(shared: Users) -> None:
    answer = shared.nobody.send("POST", "jobs", data=b"not JSON", content_type="application/json")

    assert (answer.status, answer.headers["WWW-Authenticate"]) == (401, "Bearer")


def test_ids_of_requests_and_traces_come_back(shared: Users) -> None:
    trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"

    answer = shared.member.get("jobs", {"X-Request-Id": "my-request", "traceparent": trace})
    forged = shared.member.get("jobs", {"X-Request-Id": "a b", "traceparent": "x"})

    assert (answer.headers["X-Request-Id"], answer.headers["traceparent"]) == ("my-request", trace)
    assert forged.headers["X-Request-Id"] not in ("a b", "")
    assert "traceparent" not in forged.headers


def test_everybody_sees_health_and_description(shared: Users) -> None:
    assert shared.nobody.get("/health/live").body == {"status": "live"}
    assert shared.nobody.get("/health/ready").body == {"status": "ready"}
    assert shared.nobody.get("openapi.json").body["openapi"] == "3.1.0"


def test_only_pages_that_are_allowed_may_call_from_a_browser(world: World) -> None:
    with api_of(world, TICKWORK_API_ORIGINS="https://app.example.com") as nobody:
        asked = {"Origin": "https://app.example.com", "Access-Control-Request-Method": "POST"}
        allowed = nobody.send("OPTIONS", "jobs", asked)
        refused = nobody.send("OPTIONS", "jobs", {**asked, "Origin": "https://evil.example.com"})
        answered = nobody.get("/health/live", {"Origin": "https://app.example.com"})

    assert allowed.status == 204
    assert allowed.headers["Access-Control-Allow-Origin"] == "https://app.example.com"
    assert "Authorization" in allowed.headers["Access-Control-Allow-Headers"]
    assert answered.headers["Access-Control-Allow-Origin"] == "https://app.example.com"
    assert not [name for name in refused.headers if name.startswith("Access-Control")]


def test_what_is_not_installed_is_not_found(world: World, users: Users) -> None:
    world.run("drop function public.list_events")

    assert users.member.get("events").status == 404
    assert users.member.get("jobs").status == 200


def test_a_database_that_is_down_is_unavailable(world: World) -> None:
    with api_of(world, TICKWORK_DATABASE_URL="postgresql://tickwork_api@127.0.0.1:1/postgres") as nobody:
        member = nobody.as_user("00000000-0000-4000-8000-000000000002")

        assert nobody.get("/health/live").status == 200
        assert nobody.get("/health/ready").status == 503
        answer = member.get("jobs")

    assert (answer.status, answer.headers["Retry-After"]) == (503, "2")
    assert "127.0.0.1" not in json.dumps(answer.body)


def test_a_connection_that_was_closed_is_opened_again(world: World, users: Users) -> None:
    assert users.member.get("jobs").status == 200

    world.run(
        "select pg_terminate_backend(pid, 60000) from pg_stat_activity "
        "where datname = current_database() and usename = 'tickwork_api'"
    )

    assert users.member.get("jobs").status == 200


def test_the_rights_of_one_request_end_with_it(world: World, users: Users) -> None:
    users.member.post("jobs", type="greet_person")

    # The same thread, and so the same connection.
    assert users.stranger.get("jobs").items == []
    left = world.rows(
        "select usename from pg_stat_activity "
        "where datname = current_database() and usename = 'tickwork_api' and state <> 'idle'"
    )
    assert left == []


def test_claims_of_our_own_do_not_come_from_a_token(world: World, users: Users) -> None:
    token = user_token("00000000-0000-4000-8000-00000000000a", tickwork_key="0" * 64)

    from werkzeug.datastructures import Headers

    from tests.world.api import ISSUER, SECRET
    from tickwork.api.callers import Callers
    from tickwork.settings import load_settings

    settings = load_settings(
        {"TICKWORK_DATABASE_URL": world.url, "TICKWORK_JWT_SECRET": SECRET, "TICKWORK_JWT_ISSUER": ISSUER}
    )
    caller = Callers(settings).caller_of(Headers({"Authorization": f"Bearer {token}"}))

    assert "tickwork_key" not in caller.claims
