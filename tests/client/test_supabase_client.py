"""The real `supabase` client, on a PostgREST-compatible server: what a web application does."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import pytest
from postgrest.exceptions import APIError
from supabase import Client

from tests.servers import pg_cron as cron_server
from tests.servers import pg_net
from tests.servers.supabase import SupabaseServer, running_supabase
from tests.world import World
from tests.world.node import why_not
from tickwork.waking import pg_cron

pytestmark = pytest.mark.skipif(why_not() is not None, reason=str(why_not()))


@pytest.fixture
def tenant(world: World) -> UUID:
    world.type()
    return world.tenant()


@pytest.fixture
def user(world: World, tenant: UUID) -> str:
    user_id = uuid4()
    world.run("insert into memberships (tenant_id, user_id) values (%s, %s)", tenant, user_id)
    return str(user_id)


@pytest.fixture
def supabase(world: World, tenant: UUID, tmp_path: Path) -> Iterator[SupabaseServer]:
    assert tenant
    with running_supabase(world.url, tmp_path) as server:
        yield server


def call(client: Client, function: str, **arguments: Any) -> Any:
    return client.rpc(function, arguments).execute().data


def test_a_member_inserts_follows_and_steers_a_job(
    world: World, tenant: UUID, user: str, supabase: SupabaseServer
) -> None:
    client = supabase.client(user)
    row = {"tenant_id": str(tenant), "type": "greet_person"}

    inserted: Any = client.table("jobs").insert({**row, "payload": {"n": 1}}).execute().data[0]
    asked = call(client, "enqueue_job", **row, idempotency_key="k", max_attempts=9)
    again = call(client, "enqueue_job", **row, idempotency_key="k")
    claimed = world.claim()
    why = call(client, "explain_job", job_id=inserted["id"])
    cancelled = call(client, "cancel_job", job_id=asked["id"])
    with pytest.raises(APIError) as refusal:
        call(client, "retry_job", job_id=asked["id"])
    world.run("update memberships set role = 'admin'")
    retried = call(client, "retry_job", job_id=asked["id"])
    listed = call(client, "list_jobs", tenant_id=str(tenant))
    seen = client.table("jobs").select("*").execute().data

    assert (inserted["status"], inserted["created_by"], inserted["family"]) == ("queued", user, "test")
    assert (asked["max_attempts"], asked["deduplicated"]) == (9, False)
    assert (again["id"], again["deduplicated"]) == (asked["id"], True)
    assert str(claimed.id) == inserted["id"]
    assert "attempt 1 of 4, on worker-1" in why
    assert (cancelled["status"], refusal.value.code, retried["status"]) == ("cancelled", "TWADM", "queued")
    assert len(listed) == len(seen) == 2


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("status", "done"),
        ("attempts", -999),
        ("max_attempts", 25),
        ("family", "other"),
        ("created_by", "11111111-1111-4111-8111-111111111111"),
    ],
)
def test_a_column_that_is_not_the_clients_is_refused(
    world: World, tenant: UUID, user: str, supabase: SupabaseServer, column: str, value: object
) -> None:
    row = {"tenant_id": str(tenant), "type": "greet_person", column: value}

    with pytest.raises(APIError) as refusal:
        supabase.client(user).table("jobs").insert(row).execute()

    assert refusal.value.code == "42501"
    assert world.value("select count(*) from jobs") == 0


def test_a_client_neither_updates_nor_deletes(world: World, user: str, supabase: SupabaseServer) -> None:
    job = world.job()
    table = supabase.client(user).table("jobs")

    for attempt in (table.update({"priority": 9}), table.delete()):
        with pytest.raises(APIError) as refusal:
            attempt.eq("id", str(job.id)).execute()
        assert refusal.value.code == "42501"

    assert world.reload(job) == job


def test_the_codes_of_the_queue_reach_the_client(tenant: UUID, user: str, supabase: SupabaseServer) -> None:
    client = supabase.client(user)

    with pytest.raises(APIError) as unknown:
        call(client, "enqueue_job", tenant_id=str(tenant), type="unknown")
    with pytest.raises(APIError) as foreign:
        call(client, "enqueue_job", tenant_id=str(uuid4()), type="greet_person")
    with pytest.raises(APIError) as missing:
        call(client, "cancel_job", job_id=str(uuid4()))

    assert (unknown.value.code, unknown.value.message) == ("TWTYP", "type: there is no job type 'unknown'")
    assert (foreign.value.code, missing.value.code) == ("TWMEM", "TWJOB")
    assert unknown.value.hint == "Check the spelling, or insert it into job_types."


def test_strangers_and_visitors_get_nothing(world: World, tenant: UUID, supabase: SupabaseServer) -> None:
    job = world.job()
    stranger, visitor = supabase.client(str(uuid4())), supabase.client()

    assert stranger.table("jobs").select("*").execute().data == []
    for client in (stranger, visitor):
        with pytest.raises(APIError):
            client.table("jobs").insert({"tenant_id": str(tenant), "type": "greet_person"}).execute()
        with pytest.raises(APIError):
            call(client, "cancel_job", job_id=str(job.id))
        with pytest.raises(APIError):
            call(client, "claim_next_job", family="test", worker_id="thief")
    assert world.reload(job) == job


def test_the_service_key_enqueues_many_and_works_for_every_tenant(world: World, supabase: SupabaseServer) -> None:
    tenants = [world.tenant("one"), world.tenant("two")]
    service = supabase.service_client()

    jobs = [{"tenant_id": str(tenant), "type": "greet_person"} for tenant in tenants]
    answers = call(service, "enqueue_jobs", jobs=jobs)
    (claimed,) = call(service, "claim_next_job", family="test", worker_id="service")
    lease = {"job_id": claimed["id"], "lease_token": claimed["lease_token"]}
    done = call(service, "complete_job", **lease, result={"n": 1})

    assert [row["tenant_id"] for row in answers] == [str(tenant) for tenant in tenants]
    assert (done["status"], done["result"]) == ("done", {"n": 1})


def test_an_insert_by_a_member_wakes_the_function_of_its_family(
    world: World, tenant: UUID, user: str, tmp_path: Path
) -> None:
    for statement in (cron_server.SQL, pg_net.SQL, pg_net.HOSTED):
        world.admin.execute(statement)
    pg_cron.install(world.url, pg_cron.Plan({"test": "https://test.example"}), "s" * 32)
    row = {"tenant_id": str(tenant), "type": "greet_person"}

    with running_supabase(world.url, tmp_path) as server:
        client = server.client(user)
        client.table("jobs").insert(row).execute()
        call(client, "enqueue_job", **row)

    requests = world.rows("select url, headers from net.http_request_queue")
    assert [request["url"] for request in requests] == ["https://test.example"] * 2
    assert all(request["headers"]["X-Tickwork-Signature"].startswith("sha256=") for request in requests)


def test_an_admin_adds_tries_and_reads_triggers(
    world: World, tenant: UUID, user: str, supabase: SupabaseServer
) -> None:
    client = supabase.client(user)
    given = {
        "tenant_id": str(tenant),
        "label": "Greet payers",
        "event_name": "invoice.*",
        "type": "greet_person",
        "condition": "$.event.amount > 1",
        "payload_template": {"name": "{{event.name}}"},
    }
    with pytest.raises(APIError) as refusal:
        call(client, "create_event_trigger", **given)
    world.run("update memberships set role = 'admin'")

    made = call(client, "create_event_trigger", **given)
    event = {"tenant_id": str(tenant), "type": "invoice.paid", "payload": {"name": "Ann", "amount": 2}}
    tried = call(client, "test_event", **event)
    world.service.events.emit_event(**event)  # type: ignore[arg-type]
    fires: Any = client.table("trigger_fires").select("*").execute().data
    shown: Any = client.table("job_triggers").select("*").execute().data
    paused = call(client, "pause_event_triggers", trigger_ids=[made["id"]], note="Later")

    assert refusal.value.code == "TWADM"
    assert made["created_by"] == user
    assert [(row["outcome"], row["job_payload"]) for row in tried] == [("fired", {"name": "Ann"})]
    assert [(fire["trigger_id"], fire["outcome"]) for fire in fires] == [(made["id"], "fired")]
    assert [(row["label"], row["trigger_type"]) for row in shown] == [("Greet payers", "event")]
    assert [row["pause_note"] for row in paused] == ["Later"]
