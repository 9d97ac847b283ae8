"""Values that only the worker and platform admins see, whichever way they come in, and wherever somebody else looks."""

import random
from collections.abc import Callable, Iterator, Sequence
from typing import Any, LiteralString
from uuid import UUID, uuid4

import psycopg
import pytest
from psycopg.types.json import Jsonb

from tests.database.isolation_catalogue import READABLE
from tests.world import World
from tickwork.database.connection import Connection
from tickwork.errors import InvalidRequest
from tickwork.jobs.rows import ClaimedJob, FollowUp

CANARY = "canary-7f3a"
HIDDEN = "[redacted]"
PAYLOAD = {"password": CANARY, "customer": {"iban": CANARY, "name": "Jane"}, "n": 12.5}
SHOWN = {"password": HIDDEN, "customer": {"iban": HIDDEN, "name": "Jane"}, "n": 12.5}
PATHS = ["payload.customer.iban", "result.code", "payload.items[*].pin", 'payload["my files"]']

SECRETS = [
    *("password", "Password", "DB_PASSWORD", "userPassword", "pass_word", "passwd", "pwd", "passphrase", "passcode"),
    *("secret", "client_secret", "clientSecret", "token", "access_token", "refreshToken", "id-token", "X-Auth-Token"),
    *("api_key", "apikey", "apiKey", "X-Api-Key", "ACCESS_KEY", "private_key", "secretKey", "signing-key"),
    *("encryptionKey", "authorization", "Authorization", "Proxy-Authorization", "credential", "credentials"),
    *("cookie", "Set-Cookie"),
]
NO_SECRETS = [
    *("tokens", "max_tokens", "token_count", "key", "keys", "keyword", "idempotency_key", "author", "secretary"),
    *("password_changed_at", "cookies_accepted", "passwords", "broken", "document_id", ""),
]


def redacting_type(world: World, redacted: Sequence[str] = PATHS, not_redacted: Sequence[str] = ()) -> str:
    type = world.type()
    world.run(
        "update job_types set redacted = %s, not_redacted = %s where key = %s", list(redacted), list(not_redacted), type
    )
    return type


def by_enqueue_job(world: World, type: str, tenant: UUID) -> None:
    world.service.jobs.enqueue_job(tenant, type, PAYLOAD)


def with_a_key(world: World, type: str, tenant: UUID) -> None:
    world.service.jobs.enqueue_job(tenant, type, PAYLOAD, idempotency_key="once", dedupe_key="once")


def in_bulk(world: World, type: str, tenant: UUID) -> None:
    world.service.jobs.enqueue_jobs([{"tenant_id": str(tenant), "type": type, "payload": PAYLOAD}])


def by_insert(world: World, type: str, tenant: UUID) -> None:
    insert = "insert into jobs (tenant_id, type, payload) values (%s, %s, %s)"
    world.member_of(tenant).execute(insert, [tenant, type, Jsonb(PAYLOAD)])


def as_follow_up(world: World, type: str, tenant: UUID) -> None:
    world.job(world.type("come_first", family="first"), tenant)
    first = world.claim("first")
    world.queue.complete_job(first, follow_ups=[FollowUp(type=type, payload=PAYLOAD)])


def by_event(world: World, type: str, tenant: UUID) -> None:
    template = {"password": "{{event.a}}", "customer": {"iban": "{{event.a}}", "name": "Jane"}, "n": 12.5}
    world.service.triggers.create_event_trigger(tenant, "a trigger", "came", type, payload_template=template)
    world.service.events.emit_event(tenant, "came", payload={"a": CANARY})


def by_debounced_events(world: World, type: str, tenant: UUID) -> None:
    template = {"password": "{{event.a}}", "customer": {"iban": "{{event.a}}", "name": "Jane"}, "n": 12.5}
    world.service.triggers.create_event_trigger(
        tenant, "a trigger", "came", type, payload_template=template, debounce_seconds=1
    )
    for value in ("earlier-canary", CANARY):
        world.service.events.emit_event(tenant, "came", payload={"a": value})
    world.run("update jobs set run_at = now() - interval '1 second'")


def after_another(world: World, type: str, tenant: UUID) -> None:
    world.job(world.type("come_first", family="first"), tenant)
    first = world.claim("first")
    world.service.jobs.enqueue_job(tenant, type, PAYLOAD, after=[first.id])
    world.queue.complete_job(first)


WAYS_IN = [
    by_enqueue_job,
    with_a_key,
    in_bulk,
    by_insert,
    as_follow_up,
    by_event,
    by_debounced_events,
    after_another,
]


def claim_it(world: World) -> ClaimedJob:
    # So that there is nothing else to do: then it takes the short way.
    world.run("update tickwork.family_types set reaped_at = now() + interval '1 hour', asked_at = now()")
    return world.claim()


def claim_many(world: World) -> ClaimedJob:
    (job,) = world.queue.claim_jobs("test", 10)
    return job


@pytest.mark.parametrize("way_in", WAYS_IN, ids=lambda way: way.__name__)
def test_whichever_way_a_job_comes_in_only_its_worker_gets_the_values(
    world: World, way_in: Callable[[World, str, UUID], None]
) -> None:
    type, tenant = redacting_type(world), world.tenant()
    way_in(world, type, tenant)

    shown = world.value("select payload from jobs where type = %s", type)
    claim = claim_many if way_in in (in_bulk, by_event) else claim_it

    assert shown == SHOWN
    assert claim(world).payload == PAYLOAD


def seen_by(member: Connection) -> dict[str, str]:
    """All that a member can read, in tables and views, and by functions."""
    queries = {row["name"]: row["query"] for row in member.execute(READABLE).fetchall()}
    queries |= {"list_jobs": "select * from list_jobs()", "explain_job": "select explain_job(id) from jobs"}
    return {place: str(member.execute(query).fetchall()) for place, query in queries.items()}


def test_no_table_view_or_function_shows_a_member_the_values(world: World) -> None:
    type, tenant = redacting_type(world), world.tenant()
    world.run(
        "insert into webhook_endpoints (tenant_id, url, event_types) values (%s, 'https://a.example/', '{*}')", tenant
    )
    for _ in range(3):
        world.service.jobs.enqueue_job(tenant, type, PAYLOAD)
    done, failed, running = world.queue.claim_jobs("test", 3)

    world.queue.complete_job(done, {"code": CANARY, "echo": f"<{CANARY}>", "apiKey": CANARY, "pages": 3}, logs=CANARY)
    world.run(
        "select fail_job(%s, %s, %s, logs => %s, stderr_tail => %s, exception => %s)",
        failed.id,
        failed.lease_token,
        Jsonb({"code": "NO", "message": f"not {CANARY}", "at": {"header": CANARY, "token": "x-y-z"}}),
        f"sent {CANARY}",
        f'{{"a": "{CANARY}"}}',
        CANARY,
    )
    world.queue.heartbeat_job(running, 0.5, f"at {CANARY}")
    seen = seen_by(world.member_of(tenant, role="admin"))

    assert [place for place, text in seen.items() if CANARY in text or "x-y-z" in text] == []
    assert "'pages': 3" in seen["public.jobs"] or '"pages": 3' in seen["public.jobs"]
    assert f"not {HIDDEN}" in seen["public.job_attempts"]
    assert f"at {HIDDEN}" in seen["public.jobs"]
    assert HIDDEN in seen["public.events"]
    assert world.value("select result from tickwork.redacted_values where job_id = %s", done.id)["code"] == CANARY


@pytest.mark.parametrize("in_bulk", [False, True])
def test_what_is_usually_a_secret_is_redacted_in_results_without_being_asked(world: World, in_bulk: bool) -> None:
    job = world.running_job()
    result = {"login": {"accessToken": CANARY}, "max_tokens": 5}
    outcomes = [{"job_id": str(job.id), "lease_token": str(job.lease_token), "status": "done", "result": result}]
    if in_bulk:
        other = world.running_job(type="greet_person", tenant=job.tenant_id)
        outcomes.append({"job_id": str(other.id), "lease_token": str(other.lease_token), "status": "done"})

    world.run("select settle_jobs(%s)", Jsonb(outcomes))

    assert world.reload(job).result == {"login": {"accessToken": HIDDEN}, "max_tokens": 5}
    assert world.value("select result from tickwork.redacted_values") == result


@pytest.mark.parametrize(
    "is_one",
    [
        "tickwork.is_secret(name, '1')",
        "tickwork.may_hold_secrets(jsonb_build_object('a', jsonb_build_array(jsonb_build_object(name, 1)))::text)",
    ],
)
def test_names_are_told_apart(world: World, is_one: LiteralString) -> None:
    query: LiteralString = "select name from unnest(%s::text[]) as name where " + is_one

    found = [row["name"] for row in world.rows(query, [*SECRETS, *NO_SECRETS])]

    assert found == SECRETS


def document(dice: random.Random, depth: int = 0) -> Any:
    kind = dice.randrange(10)
    if (kind < 3 and depth < 6) or depth == 0:
        names = dice.sample([*SECRETS, *NO_SECRETS, 'a "quoted" name', "ключ", "pin"], dice.randrange(5))
        return {name: document(dice, depth + 1) for name in names}
    if kind < 5 and depth < 6:
        return [document(dice, depth + 1) for _ in range(dice.randrange(4))]
    return dice.choice([None, True, "", "text", CANARY, f'"{CANARY}\\', 0, 1.5, 10**30, dice.getrandbits(70)])


def redacted(value: Any) -> Any:
    """The same in another language."""
    if isinstance(value, dict):
        return {name: of_field(name, each) for name, each in value.items()}
    return [redacted(each) for each in value] if isinstance(value, list) else value


def of_field(name: str, value: Any) -> Any:
    is_secret = name in SECRETS and value not in ("", None) and not isinstance(value, bool)
    return HIDDEN if is_secret else redacted(value)


def test_the_worker_gets_exactly_what_was_enqueued_and_members_the_rest(world: World) -> None:
    dice, type, tenant = random.Random(7), world.type(), world.tenant()
    payloads = [document(dice) for _ in range(400)]
    ids = [
        receipt.id
        for receipt in world.service.jobs.enqueue_jobs(
            [{"tenant_id": str(tenant), "type": type, "payload": payload} for payload in payloads]
        )
    ]
    exact = {id: world.value("select %s::jsonb::text", Jsonb(p)) for id, p in zip(ids, payloads, strict=True)}

    shown = {row["id"]: row["payload"] for row in world.rows("select id, payload from jobs")}
    claimed = world.rows("select id, payload::text from claim_jobs('test', 'w', 1000)")

    assert shown == {id: redacted(payload) for id, payload in zip(ids, payloads, strict=True)}
    assert {row["id"]: row["payload"] for row in claimed} == exact
    kept = world.value("select count(*) from tickwork.redacted_values")
    assert kept == sum(redacted(payload) != payload for payload in payloads) > 50


def test_paths_reach_items_and_quoted_names_and_a_type_opts_names_out(world: World) -> None:
    type = redacting_type(world, not_redacted=["nextToken"])

    job = world.job(type, payload={
        "items": [{"pin": 1, "n": 2}, {"pin": None}, 3], "my files": [CANARY], "nexttoken": "a", "a": {"iban": "b"}
    })  # fmt: skip

    assert job.payload == {
        "items": [{"pin": HIDDEN, "n": 2}, {"pin": None}, 3],
        "my files": HIDDEN,
        "nexttoken": "a",
        "a": {"iban": "b"},
    }


def test_a_whole_result_can_be_redacted(world: World) -> None:
    job = world.running_job(type=redacting_type(world, ["result"]))

    world.queue.complete_job(job, CANARY)

    assert world.reload(job).result == HIDDEN


def test_a_result_that_is_nested_too_deep_to_be_walked_is_redacted_from_there_on(world: World) -> None:
    job = world.running_job()
    result = '{"token": "a", "deep": ' + "[" * 3000 + f'"{CANARY}"' + "]" * 3000 + "}"

    world.run("select complete_job(%s, %s, %s::jsonb)", job.id, job.lease_token, result)

    shown = world.value("select result::text from jobs")
    assert CANARY not in shown
    assert shown.count(HIDDEN) == 2


@pytest.mark.parametrize(
    "paths",
    [
        ["payload"],
        ["payload."],
        ["payload..a"],
        ["payload.a "],
        ["job.a"],
        ["payload.a[0]"],
        ['payload["a"b"]'],
        ["payload" + ".a" * 11],
        ["payload.a"] * 51,
        ["result.a\n"],
    ],
)
def test_what_is_no_path_is_refused(world: World, paths: list[str]) -> None:
    with pytest.raises(psycopg.errors.CheckViolation, match="redacted_are_paths"):
        redacting_type(world, paths)


def test_a_repeat_neither_shows_nor_replaces_the_values(world: World) -> None:
    type, tenant = redacting_type(world), world.tenant()
    world.service.jobs.enqueue_job(tenant, type, PAYLOAD, idempotency_key="once")

    again = world.service.jobs.enqueue_job(tenant, type, {"password": "another"}, idempotency_key="once")

    assert (again.deduplicated, again.payload) == (True, SHOWN)
    assert world.value("select count(*) from tickwork.redacted_values") == 1
    assert world.claim().payload == PAYLOAD


def test_a_retry_still_gets_them_and_with_the_job_they_are_gone(world: World) -> None:
    type, tenant = redacting_type(world), world.tenant()
    world.service.jobs.enqueue_job(tenant, type, PAYLOAD)
    job = world.claim()
    world.queue.fail_job(job, {"code": "NO"}, retryable=False)

    world.service.jobs.retry_job(job.id)
    again = world.claim()
    assert again.payload == PAYLOAD

    world.queue.complete_job(again)
    world.run("select purge_jobs(interval '0')")
    assert world.value("select count(*) from tickwork.redacted_values") == 0


def test_a_row_that_is_left_out_leaves_nothing_behind(world: World) -> None:
    type, tenant = redacting_type(world), world.tenant()
    insert = "insert into jobs (tenant_id, type, payload, idempotency_key) values (%s, %s, %s, 'once')"
    values = [tenant, type, Jsonb(PAYLOAD)]
    member = world.member_of(tenant)
    member.execute(insert, values)

    member.execute(insert + " on conflict do nothing", values)

    assert world.value("select count(*) from tickwork.redacted_values") == 1
    assert world.claim().payload == PAYLOAD


def test_an_error_about_a_payload_never_quotes_it(world: World) -> None:
    schema = {
        "properties": {"password": {"type": "string", "maxLength": 3}, "pin": {"enum": [1]}, "token": {"type": "null"}},
        "additionalProperties": False,
    }
    type, tenant = world.type(payload_schema=schema), world.tenant()
    member = world.member_of(tenant)

    for payload in ({"password": CANARY}, {"pin": CANARY}, {"token": CANARY}, {"other": CANARY}):
        for statement in (
            "select enqueue_job(%s, %s, %s)",
            "insert into jobs (tenant_id, type, payload) values (%s, %s, %s)",
        ):
            with pytest.raises(psycopg.Error) as refused:
                member.execute(statement, [tenant, type, Jsonb(payload)])
            told = refused.value.diag
            assert refused.value.sqlstate == "TWPAY"
            assert CANARY not in f"{told.message_primary} {told.message_detail} {told.message_hint} {told.context}"


def test_a_schema_sees_the_whole_payload(world: World) -> None:
    schema = {"properties": {"token": {"type": "string", "pattern": "^canary"}}, "required": ["token"]}
    type = world.type(payload_schema=schema)

    assert world.job(type, payload={"token": CANARY}).payload == {"token": HIDDEN}


def test_what_a_trigger_would_start_is_shown_redacted(world: World) -> None:
    type, tenant = world.type(), world.tenant()
    world.service.triggers.create_event_trigger(
        tenant, "a trigger", "came", type, payload_template={"pwd": "{{event.a}}"}
    )

    (foreseen,) = world.rows("select * from test_event(%s, 'came', %s)", tenant, Jsonb({"a": CANARY}))

    assert foreseen["job_payload"] == {"pwd": HIDDEN}


@pytest.mark.parametrize("name", ["pwd", "iban"])
def test_a_template_that_members_read_holds_no_such_value(world: World, name: str) -> None:
    type, tenant = redacting_type(world, ["payload.iban"]), world.tenant()

    def create_both(template: dict[str, str]) -> Iterator[Callable[[], object]]:
        schedules, triggers = world.service.schedules, world.service.triggers
        yield lambda: schedules.create_schedule(tenant, "nightly", type, "@daily", payload_template=template)
        yield lambda: triggers.create_event_trigger(tenant, "nightly", "came", type, payload_template=template)

    for create in create_both({name: CANARY, "n": "{{tenant_id}}"}):
        with pytest.raises(InvalidRequest) as refused:
            create()
        assert refused.value.sqlstate == "TWTPL"
        assert CANARY not in str(refused.value)
    for create in create_both({name: "Bearer {{tenant_id}}", "n": CANARY}):
        create()


def test_an_edit_by_hand_is_redacted_too_and_never_loses_a_value(world: World) -> None:
    type, tenant = redacting_type(world), world.tenant()
    job = world.service.jobs.enqueue_job(tenant, type, PAYLOAD)

    with pytest.raises(psycopg.Error) as refused:
        world.run("update jobs set payload = payload || '{\"n\": 1}'")
    assert refused.value.sqlstate == "TWPAY"

    world.run("update jobs set payload = %s", Jsonb({"token": "another-one", "n": 1}))
    assert world.reload(job).payload == {"token": HIDDEN, "n": 1}
    assert world.claim().payload == {"token": "another-one", "n": 1}


def platform_admin(world: World, may_reveal: bool = True) -> Connection:
    user_id = uuid4()
    world.run("insert into tickwork.platform_admins (user_id, may_reveal) values (%s, %s)", user_id, may_reveal)
    return world.connect("authenticated", user_id)


def test_platform_admins_reveal_a_job_and_are_on_record(world: World) -> None:
    job = world.running_job(type=redacting_type(world), payload=PAYLOAD)
    world.queue.complete_job(job, {"code": CANARY})
    admin = platform_admin(world)

    revealed = admin.execute("select * from reveal_job(%s, 'ticket 4711')", [job.id]).fetchone()

    assert revealed == {"payload": PAYLOAD, "result": {"code": CANARY}}
    (noted,) = world.rows("select job_id, tenant_id, reason from tickwork.reveals")
    assert noted == {"job_id": job.id, "tenant_id": job.tenant_id, "reason": "ticket 4711"}
    assert admin.execute("select payload from jobs").fetchone() == {"payload": SHOWN}


def test_nobody_else_reveals_anything(world: World) -> None:
    job = world.job(redacting_type(world), payload=PAYLOAD)
    callers = {
        "TWADM": [world.member_of(job.tenant_id, role="owner"), platform_admin(world, may_reveal=False)],
        "TWJOB": [world.member_of(world.tenant("other")), world.connect("authenticated", uuid4())],
        "42501": [world.connect("service_role"), world.connect("anon"), world.connect_worker()],
    }

    for code, connections in callers.items():
        for connection in connections:
            with pytest.raises(psycopg.Error) as refused:
                connection.execute("select * from reveal_job(%s, 'why')", [job.id])
            assert refused.value.sqlstate == code

    for reason, code in {"": "TWARG", " ": "TWARG", "x" * 1001: "TWBIG"}.items():
        with pytest.raises(psycopg.Error) as refused:
            platform_admin(world).execute("select * from reveal_job(%s, %s)", [job.id, reason])
        assert refused.value.sqlstate == code
    assert world.value("select count(*) from tickwork.reveals") == 0
