"""Events: stored with their deliveries or not at all, told to whoever listens and to nobody else."""

from typing import Any
from uuid import UUID, uuid4

import psycopg
import pytest

from tests.database.test_plans import scans_of
from tests.world import World
from tests.world.crowd import transaction
from tests.world.receivers import deliveries, emit, endpoint
from tests.world.waiting import PATIENCE
from tickwork.errors import InvalidRequest, LeaseLost
from tickwork.jobs.rows import FollowUp
from tickwork.queue import lease_of
from tickwork.tools import events


def types(world: World, tenant: UUID | None = None) -> list[str]:
    rows = world.rows(
        "select type from events where tenant_id = coalesce(%s, tenant_id) order by occurred_at, id", tenant
    )
    return [row["type"] for row in rows]


def test_an_event_is_delivered_to_each_endpoint_that_wants_it(world: World) -> None:
    tenant, stranger = world.tenant(), world.tenant("birch")
    wanted = [
        endpoint(world, tenant),
        endpoint(world, tenant, "*"),
        endpoint(world, tenant, "invoice.paid"),
        endpoint(world, tenant, "order.made", "invoice.*"),
    ]
    for filters in (["invoice"], ["invoice.paid.late"], ["invoice.pai"], ["inv.*"], ["order.*"]):
        endpoint(world, tenant, *filters)
    endpoint(world, tenant, status="disabled")
    endpoint(world, stranger)

    event = emit(world, tenant, amount=3)

    made = deliveries(world)
    assert {each["webhook_endpoint_id"] for each in made} == {*wanted}
    assert {each["event_id"] for each in made} == {event}
    jobs = {row["id"]: row for row in world.rows("select * from jobs")}
    assert {each["job_id"] for each in made} == jobs.keys()
    for each in made:
        job = jobs[each["job_id"]]
        assert (job["type"], job["source"], job["source_ref"]) == ("deliver_webhook", "event", str(event))
        assert (job["lane"], job["tenant_id"]) == (f"endpoint:{each['webhook_endpoint_id']}", tenant)
        assert job["payload"] == {"webhook_delivery_id": str(each["id"])}


def test_event_and_deliveries_are_committed_together_or_not_at_all(world: World) -> None:
    tenant = world.tenant()
    endpoint(world, tenant)
    connection = transaction(world)

    connection.execute("select emit_event(%s, 'invoice.paid')", [tenant])
    connection.rollback()

    assert (world.rows("select from events"), deliveries(world), world.rows("select from jobs")) == ([], [], [])

    connection.execute("select emit_event(%s, 'invoice.paid')", [tenant])
    assert world.rows("select from events") == []
    connection.commit()

    assert [len(rows) for rows in (world.rows("select from events"), deliveries(world))] == [1, 1]
    assert world.value("select count(*) from jobs") == 1


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ({"type": ""}, "TWARG"),
        ({"type": None}, "TWARG"),
        ({"type": "invoice."}, "TWARG"),
        ({"type": "invoice paid"}, "TWARG"),
        ({"type": "a" * 101}, "TWARG"),
        ({"type": "a", "aggregate": ""}, "TWKEY"),
        ({"type": "a", "aggregate": "x" * 201}, "TWBIG"),
        ({"type": "a", "payload": ["x"]}, "TWPAY"),
        ({"type": "a", "payload": {"x": "y" * 65_536}}, "TWBIG"),
        ({"type": "a", "tenant_id": uuid4()}, "TWTNT"),
    ],
)
def test_what_is_no_event_is_refused(world: World, arguments: dict[str, Any], code: str) -> None:
    given = {"tenant_id": world.tenant(), **arguments}

    with pytest.raises(InvalidRequest) as refused:
        world.service.events.emit_event(**given)

    assert refused.value.sqlstate == code
    assert types(world) == []


def test_a_payload_may_be_as_large_as_allowed(world: World) -> None:
    tenant = world.tenant()

    emit(world, tenant, x="y" * (65_536 - len('{"x": ""}')))

    assert types(world) == ["invoice.paid"]


def test_a_member_forges_no_event(world: World) -> None:
    tenant = world.tenant()
    member = world.member_of(tenant, role="owner")

    for statement in (
        f"select tickwork.add_event('{tenant}', 'job.done', null, '{{}}')",
        "select emit_held_event('job.done')",
        f"insert into events (tenant_id, type) values ('{tenant}', 'job.done')",
    ):
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            member.execute(statement)
    with pytest.raises(psycopg.Error) as refused:
        member.execute("select emit_event(%s, 'job.done')", [tenant])

    assert refused.value.sqlstate == "TWADM"
    assert types(world) == []


def test_a_worker_emits_for_the_tenant_whose_job_it_holds_and_for_no_other(world: World) -> None:
    tenant = world.tenant()
    endpoint(world, world.tenant("birch"))
    job = world.running_job(tenant=tenant)

    with pytest.raises(LeaseLost):
        world.queue.database.transaction(lambda connection: events.emit_held_event(connection, "document.imported"))

    def emit_held(connection: Any) -> None:
        world.queue.hold_job(job, connection)
        events.emit_held_event(connection, "document.imported", "document:1", {"name": "x"})

    world.queue.database.transaction(emit_held)

    event = world.row("select * from events")
    assert (event["tenant_id"], event["type"], event["payload"]) == (tenant, "document.imported", {"name": "x"})
    assert deliveries(world) == []


def test_each_way_in_which_a_job_ends_is_an_event_for_tenants_that_listen(world: World) -> None:
    tenant, deaf = world.tenant(), world.tenant("deaf")
    endpoint(world, tenant, "job.*")
    endpoint(world, deaf, "invoice.*")
    error = {"code": "BROKEN", "message": "It broke"}
    for one in (tenant, deaf):
        world.queue.complete_job(world.running_job(tenant=one))
        world.queue.fail_job(world.running_job(tenant=one), error, retryable=False)
        world.queue.fail_job(world.running_job(tenant=one, max_attempts=1), error)
        world.service.jobs.cancel_job(world.job(tenant=one).id)
        cancelled = world.running_job(tenant=one)
        world.service.jobs.cancel_job(cancelled.id)
        world.queue.release_job(cancelled)
        world.expire(world.running_job(tenant=one, max_attempts=1))
        world.service.maintenance.maintain()
        # Neither of these is an end.
        retried = world.running_job(tenant=one)
        world.queue.fail_job(retried, error, retry_after_seconds=1000)
        world.run("update jobs set attempts = max_attempts where id = %s", retried.id)
        world.service.maintenance.maintain()

    assert types(world, deaf) == []
    assert types(world, tenant) == [
        *("job.done", "job.failed", "job.dead", "job.cancelled", "job.cancelled", "job.dead", "job.dead")
    ]
    failed = world.row("select * from events where type = 'job.failed'")
    job = world.row("select * from jobs where status = 'failed' and tenant_id = %s", tenant)
    assert failed["aggregate"] == f"job:{job['id']}"
    assert failed["payload"].items() >= {"job_id": str(job["id"]), "error_code": "BROKEN", "attempts": 1}.items()


def payload_of(world: World, type: str) -> dict[str, Any]:
    found: dict[str, Any] = world.value("select payload from events where type = %s", type)
    return found


def test_the_end_of_a_job_tells_its_result_or_error_and_who_enqueued_it(world: World) -> None:
    tenant = world.tenant()
    endpoint(world, tenant, "job.*")
    member, type = world.member_of(tenant), world.type()
    user = world.value("select user_id from memberships")
    member.execute("select enqueue_job(%s, %s)", [tenant, type])

    world.queue.complete_job(world.claim(), {"pages": 3, "title": None})
    world.queue.fail_job(world.running_job(), {"code": "BROKEN", "message": "It broke"}, retryable=False)

    done, failed = payload_of(world, "job.done"), payload_of(world, "job.failed")
    assert (done["result"], done["created_by"]) == ({"pages": 3, "title": None}, str(user))
    assert failed["error"] == {"code": "BROKEN", "message": "It broke"}
    assert (failed["error_code"], failed["error_message"]) == ("BROKEN", "It broke")
    assert (
        {"error", "result_left_out"} & set(done) == {"result", "result_left_out", "created_by"} & set(failed) == set()
    )


def test_whoever_wants_to_know_is_told_that_a_job_is_dead(world: World) -> None:
    tenant, type = world.tenant(), world.type()
    template = {"user": "{{event.created_by}}", "job": "{{event.job_id}}"}
    world.service.triggers.create_event_trigger(
        tenant, "tell", "job.dead", world.type("tell_user"), "$.event.notify == true", payload_template=template
    )
    member, listener = world.member_of(tenant), world.connect()
    user = world.value("select user_id from memberships")
    listener.execute("listen tickwork_done")
    for notify in (True, False, True):
        member.execute("select enqueue_job(%s, %s, notify => %s)", [tenant, type, notify])
    world.run("update jobs set max_attempts = 1")

    failed, quiet, lost = (world.claim() for _ in range(3))
    world.queue.fail_job(failed, {"code": "BROKEN"})
    world.queue.fail_job(quiet, {"code": "BROKEN"})
    world.expire(lost)
    world.service.maintenance.maintain()

    told = world.rows("select payload from jobs where type = 'tell_user' order by created_at")
    assert [row["payload"] for row in told] == [{"user": str(user), "job": str(each.id)} for each in (failed, lost)]
    heard = [notice.payload for notice in listener.notifies(timeout=PATIENCE, stop_after=2)]
    assert heard == [str(failed.id), str(lost.id)]


def nested(levels: int) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = [value]
    return value


@pytest.mark.parametrize(
    ("result", "is_told"),
    [
        ("x" * 32_766, True),
        ("x" * 32_767, False),
        (nested(31), True),
        (nested(32), False),
        (nested(200), False),
        (int("9" * 400), False),
        ([], True),
        (False, True),
    ],
    ids=["32 kB", "over 32 kB", "deep", "too deep", "far too deep", "a huge number", "an empty list", "false"],
)
def test_a_result_that_no_event_can_hold_is_left_out(world: World, result: Any, is_told: bool) -> None:
    endpoint(world, world.tenant(), "job.*")
    job = world.running_job()

    ended = world.queue.complete_job(job, result)

    told = payload_of(world, "job.done")
    assert ended.status == "done"
    assert ("result" in told, told.get("result_left_out")) == (is_told, None if is_told else True)
    assert told.get("result") == (result if is_told else None)


def test_the_longest_error_and_the_largest_result_fit_into_an_event(world: World) -> None:
    endpoint(world, world.tenant(), "job.*")
    worst = "\x01" * 8000

    world.queue.fail_job(world.running_job(), {"code": worst, "message": worst}, retryable=False)
    world.queue.complete_job(world.running_job(correlation_id="\x01" * 200), "x" * 32_766)

    assert types(world) == ["job.failed", "job.done"]


def test_the_jobs_of_a_batch_are_told_one_by_one(world: World) -> None:
    tenant, deaf = world.tenant(), world.tenant("deaf")
    endpoint(world, tenant)
    for one in (tenant, tenant, deaf):
        world.job(tenant=one)
    jobs = world.queue.claim_jobs("test", 3)
    outcomes = [
        {"job_id": str(job.id), "lease_token": str(job.lease_token), "status": status, "retryable": False}
        for job, status in zip(jobs, ("done", "failed", "done"), strict=True)
    ]

    world.queue.settle_jobs(outcomes)

    expected = sorted(
        f"job.{outcome['status']}" for job, outcome in zip(jobs, outcomes, strict=True) if job.tenant_id == tenant
    )
    assert sorted(types(world)) == expected


@pytest.mark.parametrize("is_in_a_batch", [False, True])
def test_the_event_comes_after_the_follow_ups(world: World, is_in_a_batch: bool) -> None:
    """Who emits holds allowances, and follow-ups with keys may have to wait for somebody who wants these."""
    tenant = world.tenant()
    endpoint(world, tenant)
    job = world.running_job(tenant=tenant)
    follow_up = FollowUp(type=job.type, dedupe_key="next")

    if is_in_a_batch:
        given = [{**lease_of(job), "status": "done", "follow_ups": [follow_up.model_dump(mode="json")]}]
        world.queue.settle_jobs(given)
    else:
        world.queue.complete_job(job, follow_ups=[follow_up])

    made = world.rows("select type from jobs where id <> %s order by created_at", job.id)
    assert [each["type"] for each in made] == [job.type, "deliver_webhook"]


def test_a_zombie_tells_nothing(world: World) -> None:
    tenant = world.tenant()
    endpoint(world, tenant)
    zombie = world.running_job(tenant=tenant)
    world.expire(zombie)
    job = world.claim()
    world.queue.complete_job(job)

    with pytest.raises(LeaseLost):
        world.other_queue.complete_job(zombie)
    world.other_queue.settle_jobs(
        [{"job_id": str(zombie.id), "lease_token": str(zombie.lease_token), "status": "done"}]
    )

    assert types(world) == ["job.done"]


def test_only_the_events_that_are_wanted_are_stored_of_jobs(world: World) -> None:
    tenant = world.tenant()
    endpoint(world, tenant, "job.failed")

    world.queue.complete_job(world.running_job(tenant=tenant))
    world.queue.fail_job(world.running_job(tenant=tenant), {"code": "X"}, retryable=False)

    assert types(world) == ["job.failed"]


def test_a_delivery_is_no_event_of_its_own(world: World) -> None:
    tenant = world.tenant()
    endpoint(world, tenant)
    emit(world, tenant)

    world.queue.complete_job(world.claim("webhook"))

    assert types(world) == ["invoice.paid"]


def test_a_full_queue_neither_refuses_the_end_of_a_job_nor_loses_the_delivery(world: World) -> None:
    tenant = world.tenant()
    job = world.running_job(tenant=tenant)
    endpoint(world, tenant)
    world.run("update tenant_settings set max_queued = 0")

    world.queue.complete_job(job)

    assert (world.reload(job).status, types(world)) == ("done", ["job.done"])
    assert [(each["status"], each["job_id"]) for each in deliveries(world)] == [("pending", None)]

    world.service.maintenance.maintain()
    assert world.queue.claim_next_job("webhook") is None
    world.run("update tenant_settings set max_queued = 10")
    world.service.maintenance.maintain()

    claimed = world.claim("webhook")
    assert [each["job_id"] for each in deliveries(world)] == [claimed.id]


def test_where_nothing_but_workers_runs_late_deliveries_come_as_well(world: World) -> None:
    tenant = world.tenant()
    endpoint(world, tenant)
    world.run("update tenant_settings set max_queued = 0")
    emit(world, tenant)
    world.run("update tenant_settings set max_queued = 10")

    world.queue.maintain()

    claimed = world.claim("webhook")
    assert [each["job_id"] for each in deliveries(world)] == [claimed.id]


def test_a_tick_looks_at_a_hundred_tenants_with_late_deliveries_and_then_at_others(world: World) -> None:
    world.run("insert into organizations (name) select 'acme ' || n from generate_series(1, 150) n")
    world.run("update tenant_settings set max_queued = 0")
    for row in world.rows("select id from organizations"):
        endpoint(world, row["id"])
        emit(world, row["id"])
    connection = transaction(world)
    connection.execute("set track_functions = 'all'")
    connection.commit()

    connection.execute("select maintain()")
    looked_at = connection.execute(
        "select calls from pg_stat_xact_user_functions where funcname = 'enqueue_late_deliveries_of'"
    ).fetchone()
    connection.commit()
    world.run("update tenant_settings set max_queued = 10")
    for _ in range(20):
        world.service.maintenance.maintain()

    assert looked_at is not None
    assert 0 < looked_at["calls"] <= 100
    assert world.value("select count(*) from webhook_deliveries where job_id is null") == 0


def test_late_deliveries_fill_the_room_there_is_and_keep_no_other_tenant_waiting(world: World) -> None:
    # By id, one comes before the other.
    full, other = sorted((world.tenant(), world.tenant("birch")))
    for tenant in (full, other):
        endpoint(world, tenant)
    world.run("update tenant_settings set max_queued = 0")
    for tenant in (*[full] * 5, other):
        emit(world, tenant)
    world.run("update tenant_settings set max_queued = 3 where tenant_id = %s", other)

    world.service.maintenance.maintain()
    assert world.value("select array_agg(tenant_id) from jobs") == [other]

    world.run("update tenant_settings set max_queued = 3")
    world.service.maintenance.maintain()
    assert world.value("select count(*) from jobs where tenant_id = %s", full) == 3


def test_an_inactive_type_keeps_deliveries_waiting(world: World) -> None:
    tenant = world.tenant()
    endpoint(world, tenant)
    world.run("update job_types set is_active = false where key = 'deliver_webhook'")

    emit(world, tenant)
    world.service.maintenance.maintain()
    assert deliveries(world)[0]["job_id"] is None

    world.run("update job_types set is_active = true where key = 'deliver_webhook'")
    world.service.maintenance.maintain()
    assert world.claim("webhook").id == deliveries(world)[0]["job_id"]


def test_old_events_are_purged_but_not_what_is_still_to_be_delivered(world: World) -> None:
    tenant = world.tenant()
    emit(world, tenant, "old.told")
    endpoint(world, tenant)
    emit(world, tenant, "old.untold")
    world.run("update events set occurred_at = now() - interval '31 days'")
    emit(world, tenant, "new.untold")
    assert world.service.events.purge_events("30 days") == 1  # type: ignore[arg-type]

    assert sorted(types(world)) == ["new.untold", "old.untold"]


def test_ticks_purge_what_is_30_days_old_a_portion_at_a_time(world: World) -> None:
    tenant = world.tenant()
    endpoint(world, tenant, "old.untold")
    for _ in range(2):
        emit(world, tenant, "old.untold")
    fill_in_old_events(world, tenant, 450)
    emit(world, tenant, "new.told")
    left = []

    for _ in range(4):
        world.run("update tickwork.event_purge set purged_at = purged_at - interval '31 seconds'")
        for _ in range(3):
            world.service.maintenance.maintain()
        left.append(world.value("select count(*) from events"))

    assert left == [453 - 198, 453 - 398, 3, 3]
    assert sorted(types(world)) == ["new.told", "old.untold", "old.untold"]
    assert len(deliveries(world)) == 2


def fill_in_old_events(world: World, tenant: UUID, count: int) -> None:
    world.run(
        "insert into events (tenant_id, type) select %s, 'old.told' from generate_series(1, %s)",
        tenant,
        count,
    )
    world.run("update events set occurred_at = occurred_at - interval '31 days'")


def test_nobody_who_purges_events_waits_for_a_delivery_that_is_being_changed(world: World) -> None:
    tenant = world.tenant()
    endpoint(world, tenant)
    emit(world, tenant)
    world.run("update webhook_deliveries set status = 'failed'")
    world.run("update events set occurred_at = occurred_at - interval '31 days'")
    changing = transaction(world)
    changing.execute("update webhook_deliveries set latency_ms = 1")
    world.run("set statement_timeout = '10s'")

    world.run("select maintain()")

    assert len(types(world)) == 1
    changing.rollback()
    assert world.service.events.purge_events("30 days") == 1  # type: ignore[arg-type]


def test_where_nobody_listens_the_end_of_a_job_looks_at_nothing_of_events(world: World) -> None:
    job = world.running_job()
    world.run("analyze")

    scans = scans_of(world, "select complete_job(%(id)s, %(token)s)", {"id": job.id, "token": job.lease_token})

    tables = {"webhook_endpoints", "events", "webhook_deliveries", "event_triggers", "trigger_fires"}
    assert {scan["Relation Name"] for scan in scans} & tables == set()
