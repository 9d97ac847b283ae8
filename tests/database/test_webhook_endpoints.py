"""Endpoints: what may be one, who hears when it is gone, and what becomes of what was meant for it."""

from typing import Any
from uuid import uuid4

import psycopg
import pytest

from tests.world import World
from tests.world.receivers import attempt, deliveries, emit, endpoint, make_due, note, state
from tickwork.errors import NoSuchDelivery, NoSuchEndpoint, WrongStatus
from tickwork.jobs.rows import Job


@pytest.mark.parametrize(
    "columns",
    [
        *({"url": url} for url in ("", "ftp://a.example", "https://", "https://user@a.example/", "https://a b/")),
        {"url": "https://a.example/\n"},
        {"url": "https://a.example/" + "x" * 2000},
        {"event_types": ["job done"]},
        {"event_types": ["job.*.x"]},
        {"event_types": ["job*"]},
        {"event_types": [None]},
        *({"header_prefix": prefix} for prefix in ("", "X", "X--", "webhook-", "Proxy-", "X:-", "X-\r\n-", "-")),
        {"status": "gone"},
        *({"format": format} for format in ("", "BPC", "xml")),
        *({"timeout_seconds": seconds} for seconds in (0, 0.09, -1, 50.1, float("nan"), float("inf"))),
    ],
)
def test_what_is_no_endpoint_is_refused(world: World, columns: dict[str, Any]) -> None:
    tenant = world.tenant()
    given = {"tenant_id": tenant, "url": "https://a.example/", **columns}
    marks = ", ".join(f"%({name})s" for name in given)

    with pytest.raises(psycopg.errors.CheckViolation):
        world.admin.execute(f"insert into webhook_endpoints ({', '.join(given)}) values ({marks})", given)


def test_an_endpoint_has_30_seconds_and_the_standard_body_unless_it_asks_for_others(world: World) -> None:
    tenant = world.tenant()

    usual = state(world, endpoint(world, tenant))
    own = state(world, endpoint(world, tenant, timeout_seconds=50, format="bpc"))

    assert (usual["timeout_seconds"], usual["format"]) == (30, "standard")
    assert (own["timeout_seconds"], own["format"]) == (50, "bpc")


def test_a_tenant_has_at_most_20_endpoints(world: World) -> None:
    tenant = world.tenant()
    for _ in range(20):
        endpoint(world, tenant)

    with pytest.raises(psycopg.Error) as refused:
        endpoint(world, tenant)

    assert refused.value.sqlstate == "TWBIG"
    endpoint(world, world.tenant("birch"))


def test_members_read_their_endpoints_and_change_none(world: World) -> None:
    tenant = world.tenant()
    endpoint(world, tenant)
    endpoint(world, world.tenant("birch"))
    member = world.member_of(tenant, role="owner")

    assert [row["tenant_id"] for row in member.execute("select * from webhook_endpoints")] == [tenant]
    for statement in (
        f"insert into webhook_endpoints (tenant_id, url) values ('{tenant}', 'https://a.example/')",
        "update webhook_endpoints set url = 'https://a.example/'",
        "delete from webhook_endpoints",
    ):
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            member.execute(statement)


@pytest.mark.parametrize(
    ("change", "left"),
    [
        ("update webhook_endpoints set status = 'disabled' where id = %s", ["failed", "failed"]),
        ("delete from webhook_endpoints where id = %s", []),
    ],
    ids=["disabled", "deleted"],
)
def test_what_waits_for_an_endpoint_that_is_gone_is_cancelled(world: World, change: Any, left: list[str]) -> None:
    tenant = world.tenant()
    gone, other = endpoint(world, tenant), endpoint(world, tenant)
    emit(world, tenant)
    world.run("update tenant_settings set max_queued = 0")
    emit(world, tenant)
    world.run("update tenant_settings set max_queued = 100")

    world.connect("service_role").execute(change, [gone])

    assert [each["status"] for each in deliveries(world, gone)] == left
    assert {each["error_code"] for each in deliveries(world, gone)} <= {"ENDPOINT_DISABLED"}
    statuses = world.rows("select status, lane from jobs order by status")
    assert [(row["status"], row["lane"]) for row in statuses] == [
        ("cancelled", f"endpoint:{gone}"),
        ("queued", f"endpoint:{other}"),
    ]
    world.service.maintenance.maintain()
    assert {job.lane for job in world.queue.claim_jobs("webhook", 10)} == {f"endpoint:{other}"}


def test_an_endpoint_that_was_deleted_under_an_attempt_is_noted_nowhere(world: World) -> None:
    tenant = world.tenant()
    endpoint(world, tenant)
    emit(world, tenant)
    job = world.claim("webhook")
    world.run("delete from webhook_endpoints")

    with pytest.raises(NoSuchDelivery):
        note(world, job, "delivered")

    assert world.queue.fail_job(job, {"code": "X"}, retryable=False).status == "failed"


def test_an_attempt_is_kept_with_its_answer(world: World) -> None:
    tenant = world.tenant()
    endpoint(world, tenant)
    emit(world, tenant)

    attempt(
        world, "down", http_status=503, response_headers={"server": "x"}, response_body="y" * 5000, latency_ms=7,
        error_code="HTTP_503", error_message="It answered 503",
    )  # fmt: skip
    make_due(world)

    (failed,) = deliveries(world)
    assert (failed["status"], failed["attempts"], failed["http_status"]) == ("pending", 1, 503)
    assert (failed["response_headers"], len(failed["response_body"])) == ({"server": "x"}, 4096)
    assert (failed["latency_ms"], failed["error_code"]) == (7, "HTTP_503")

    attempt(world, "delivered", http_status=200)

    (delivered,) = deliveries(world)
    assert (delivered["status"], delivered["attempts"], delivered["http_status"]) == ("delivered", 2, 200)
    assert (delivered["error_code"], delivered["response_body"]) == (None, None)
    assert delivered["delivered_at"] is not None


def test_only_its_own_job_notes_a_delivery(world: World) -> None:
    tenant = world.tenant()
    endpoint(world, tenant)
    emit(world, tenant)
    (delivery,) = deliveries(world)
    payload = {"webhook_delivery_id": str(delivery["id"])}
    world.run("delete from jobs")
    forged = world.job("deliver_webhook", tenant, payload=payload, lane="another")
    job = world.claim("webhook")
    assert job.id == forged.id

    with pytest.raises(NoSuchDelivery):
        note(world, job, "delivered")

    assert deliveries(world) == [delivery]


@pytest.mark.parametrize("ending", ["cancelled", "dead", "lease expired"])
def test_a_delivery_whose_job_ends_without_a_word_has_failed(world: World, ending: str) -> None:
    tenant = world.tenant()
    endpoint(world, tenant)
    emit(world, tenant)
    job = world.claim("webhook")
    if ending == "cancelled":
        world.queue.release_job(job)
        world.service.jobs.cancel_job(job.id)
    else:
        world.run("update jobs set max_attempts = attempts")
        if ending == "dead":
            world.queue.fail_job(job, {"code": "CRASH"})
        else:
            world.expire(job)
            world.service.maintenance.maintain()

    (delivery,) = deliveries(world)
    assert delivery["status"] == "failed"
    assert delivery["error_code"] == {"cancelled": "CANCELLED", "dead": "CRASH"}.get(ending, "LEASE_EXPIRED")


def delivered(world: World) -> Job:
    endpoint(world, world.tenant())
    emit(world, world.value("select id from organizations"))
    return attempt(world, "delivered")


def test_a_delivery_is_made_again_under_its_own_id(world: World) -> None:
    first = delivered(world)
    (delivery,) = deliveries(world)
    admin = world.member_of(delivery["tenant_id"], role="admin")

    admin.execute("select redeliver_webhook(%s)", [delivery["id"]])

    (again,) = deliveries(world)
    assert (again["id"], again["status"], again["delivered_at"]) == (delivery["id"], "pending", None)
    job = attempt(world, "delivered")
    assert job.payload == first.payload
    assert deliveries(world)[0]["attempts"] == 2


def test_what_is_pending_or_disabled_is_not_made_again(world: World) -> None:
    delivered(world)
    (delivery,) = deliveries(world)
    webhooks = world.service.webhooks
    webhooks.redeliver_webhook(delivery["id"])

    with pytest.raises(WrongStatus, match="still pending"):
        webhooks.redeliver_webhook(delivery["id"])
    world.run("update webhook_endpoints set status = 'disabled'")
    for refused in (
        lambda: webhooks.redeliver_webhook(delivery["id"]),
        lambda: webhooks.redeliver_webhooks(delivery["webhook_endpoint_id"], "yesterday"),
        lambda: webhooks.test_webhook(delivery["webhook_endpoint_id"]),
    ):
        with pytest.raises(WrongStatus, match="disabled"):
            refused()


def test_everything_since_a_time_is_made_again(world: World) -> None:
    tenant = world.tenant()
    one, other = endpoint(world, tenant), endpoint(world, tenant, "never")
    for verdict in ("refused", "delivered", "refused"):
        emit(world, tenant)
        attempt(world, verdict)
    emit(world, tenant)
    old = deliveries(world, one)[0]["id"]
    world.run("update webhook_deliveries set created_at = now() - interval '2 days' where id = %s", old)
    webhooks = world.service.webhooks

    assert webhooks.redeliver_webhooks(other, "yesterday") == 0
    assert webhooks.redeliver_webhooks(one, "yesterday") == 1
    assert webhooks.redeliver_webhooks(one, "yesterday", only_failed=False) == 1
    assert webhooks.redeliver_webhooks(one, "2020-01-01", only_failed=False) == 1
    assert {each["status"] for each in deliveries(world)} == {"pending"}
    assert world.value("select count(*) from jobs where status = 'queued'") == 4


def test_a_test_event_goes_to_one_endpoint_whatever_it_listens_to(world: World) -> None:
    tenant = world.tenant()
    one, _ = endpoint(world, tenant, "job.done"), endpoint(world, tenant)

    delivery = world.service.webhooks.test_webhook(one)

    assert [each["id"] for each in deliveries(world)] == [delivery["id"]]
    assert world.claim("webhook").payload == {"webhook_delivery_id": str(delivery["id"])}
    assert world.value("select type from events") == "webhook_endpoint.test"


def test_an_endpoint_or_delivery_of_another_tenant_is_like_none(world: World) -> None:
    delivered(world)
    (delivery,) = deliveries(world)
    stranger = world.member_of(world.tenant("birch"))

    for call, code in {
        f"redeliver_webhook('{delivery['id']}')": "TWDLV",
        f"redeliver_webhook('{uuid4()}')": "TWDLV",
        f"redeliver_webhooks('{delivery['webhook_endpoint_id']}', 'yesterday')": "TWEND",
        f"test_webhook('{delivery['webhook_endpoint_id']}')": "TWEND",
        f"test_webhook('{uuid4()}')": "TWEND",
    }.items():
        with pytest.raises(psycopg.Error) as refused:
            stranger.execute(f"select {call}")
        assert refused.value.sqlstate == code
    with pytest.raises(NoSuchEndpoint):
        world.service.webhooks.test_webhook(uuid4())


def test_enabling_starts_afresh(world: World) -> None:
    tenant = world.tenant()
    one = endpoint(world, tenant)
    emit(world, tenant)
    attempt(world, "gone", error_message="It answered 410")
    assert state(world, one)["status"] == "disabled"

    world.run("update webhook_endpoints set status = 'active'")

    after = state(world, one)
    assert (after["failures"], after["failing_since"], after["disabled_reason"]) == (0, None, None)
