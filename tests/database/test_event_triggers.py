"""Event triggers: what happens starts jobs, in its own transaction, and every decision is recorded."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from threading import Barrier
from typing import Any
from uuid import UUID

import psycopg
import pytest

from tests.database.test_plans import scans_of
from tests.world import World
from tests.world.crowd import transaction
from tests.world.receivers import emit, endpoint
from tickwork.jobs.rows import ClaimedJob, FollowUp
from tickwork.tools import events

# Everything that started, whoever claims it.
STARTED = "select * from jobs where source = 'event' and type <> 'deliver_webhook' order by created_at, id"


def trigger(world: World, tenant: UUID, event_name: str = "invoice.paid", **columns: Any) -> UUID:
    """A trigger that starts greet_person for each event, with no window unless one is given."""
    if not world.rows("select from job_types where key = 'greet_person'"):
        world.type()
    number = world.value("select count(*) from event_triggers")
    given = {"label": f"trigger {number}", "type": "greet_person", "dedupe_window_seconds": 0, **columns}
    found: UUID = world.service.triggers.create_event_trigger(tenant, event_name=event_name, **given)["id"]
    return found


def outcomes(world: World, trigger_id: UUID | None = None) -> list[str]:
    rows = world.rows(
        "select outcome from trigger_fires where trigger_id = coalesce(%s, trigger_id) order by decided_at", trigger_id
    )
    return [row["outcome"] for row in rows]


def started(world: World) -> list[dict[str, Any]]:
    return world.rows(STARTED)


def let_pass(world: World, time: timedelta) -> None:
    """Let the windows and the minutes of triggers pass without waiting for them."""
    world.run("update tickwork.trigger_windows set ends_at = ends_at - %s, first_at = first_at - %s", time, time)
    world.run("update trigger_fires set decided_at = decided_at - %s", time)


def test_an_event_starts_the_jobs_of_the_triggers_that_match(world: World) -> None:
    tenant, stranger = world.tenant(), world.tenant("birch")
    heard = [trigger(world, tenant, name) for name in ("invoice.paid.late", "invoice.paid.*", "invoice.*", "*")]
    for name in ("invoice", "invoice.paid", "invoice.paid.late.more", "inv.*", "order.*", "invoice.paid.late.*"):
        trigger(world, tenant, name)
    trigger(world, stranger)

    event = emit(world, tenant, "invoice.paid.late")

    jobs = started(world)
    assert {job["source_ref"] for job in jobs} == {str(each) for each in heard}
    assert {(job["tenant_id"], job["type"], job["source"], job["correlation_id"]) for job in jobs} == {
        (tenant, "greet_person", "event", str(event))
    }
    fires = world.rows("select * from trigger_fires")
    assert {fire["job_id"] for fire in fires} == {job["id"] for job in jobs}
    assert {(fire["event_id"], fire["event_type"], fire["outcome"], fire["depth"]) for fire in fires} == {
        (event, "invoice.paid.late", "fired", 1)
    }


def test_a_template_is_filled_in_with_the_event(world: World) -> None:
    tenant = world.tenant()
    template = {
        "text": "{{event.folder}} of {{aggregate_type}} {{aggregate_id}}",
        "amount": "{{event.amount}}",
        "items": "{{event.items}}",
        "missing": "{{event.missing | [1]}}",
        "about": ["{{event_id}}", "{{event_type}}", "{{tenant_id}}", "{{occurred_at}}"],
    }
    trigger(world, tenant, payload_template=template, priority=7, lane="a lane", delay_seconds=60)

    event = emit(world, tenant, folder="/in", amount=3.5, items=[{"a": None}])

    (job,) = started(world)
    occurred_at = world.value("select to_jsonb(occurred_at) from events")
    assert job["payload"] == {
        "text": "/in of invoice 1",
        "amount": 3.5,
        "items": [{"a": None}],
        "missing": [1],
        "about": [str(event), "invoice.paid", str(tenant), occurred_at],
    }
    assert (job["priority"], job["lane"]) == (7, "a lane")
    assert timedelta(seconds=59) < job["run_at"] - job["created_at"] <= timedelta(seconds=61)


@pytest.mark.parametrize(
    ("aggregate", "type", "id"), [("invoice:1:2", "invoice", "1:2"), ("invoice", "invoice", None), (None, None, None)]
)
def test_an_aggregate_is_a_type_and_an_id(
    world: World, aggregate: str | None, type: str | None, id: str | None
) -> None:
    tenant = world.tenant()
    trigger(world, tenant, payload_template={"type": "{{aggregate_type}}", "id": "{{aggregate_id}}"})

    world.service.events.emit_event(tenant, "invoice.paid", aggregate)

    assert [job["payload"] for job in started(world)] == [{"type": type, "id": id}]


def test_an_event_that_is_rolled_back_starts_nothing(world: World) -> None:
    tenant = world.tenant()
    trigger(world, tenant, dedupe_window_seconds=300)
    connection = transaction(world)

    connection.execute("select emit_event(%s, 'invoice.paid')", [tenant])
    connection.rollback()

    assert (started(world), outcomes(world)) == ([], [])
    # The window is free again.
    emit(world, tenant)
    assert outcomes(world) == ["fired"]


def test_an_event_that_does_not_meet_the_condition_starts_nothing(world: World) -> None:
    tenant = world.tenant()
    trigger(world, tenant, condition='$.event.amount > 100 && $.event_type == "invoice.paid"')

    for payload in ({"amount": 101}, {"amount": 100}, {"amount": "many"}, {}):
        emit(world, tenant, **payload)

    assert outcomes(world) == ["fired", "condition_false", "condition_false", "condition_false"]
    assert len(started(world)) == 1


def test_whatever_is_wrong_with_a_trigger_is_recorded_and_the_event_happens(world: World) -> None:
    tenant = world.tenant()
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    world.type("count_things", payload_schema=schema)
    world.type("retired")
    made = {
        "not rendered": trigger(world, tenant, payload_template={"n": "{{event.gone}}"}),
        "refused": trigger(world, tenant, type="count_things", payload_template={"n": "{{event.name}}"}),
        "inactive": trigger(world, tenant, type="retired"),
        "too large": trigger(world, tenant, payload_template={"a": "{{event.large}}", "b": "{{event.large}}"}),
        "fine": trigger(world, tenant, type="count_things", payload_template={"n": "{{event.count}}"}),
    }
    world.run("update job_types set is_active = false where key = 'retired'")

    event = emit(world, tenant, name="x", count=3, large="x" * 40_000)

    assert world.value("select id from events") == event
    assert [job["payload"] for job in started(world)] == [{"n": 3}]
    fires = {row["trigger_id"]: row for row in world.rows("select * from trigger_fires")}
    assert {name: fires[id]["outcome"] for name, id in made.items()} == {
        **{"not rendered": "not_rendered", "refused": "refused", "inactive": "refused", "too large": "refused"},
        "fine": "fired",
    }
    assert fires[made["not rendered"]]["error"] == "payload_template: there is no value at event.gone"
    assert fires[made["refused"]]["error"] == "payload.n: must be an integer, not a string"


def test_a_full_queue_refuses_the_job_and_not_the_event(world: World) -> None:
    tenant = world.tenant()
    trigger(world, tenant, dedupe_window_seconds=300)
    world.run("update tenant_settings set max_queued = 0")

    emit(world, tenant)
    assert outcomes(world) == ["refused"]

    # The window was not used.
    world.run("update tenant_settings set max_queued = 10")
    emit(world, tenant)
    assert outcomes(world) == ["refused", "fired"]


def test_the_same_event_starts_one_job_in_a_window(world: World) -> None:
    tenant = world.tenant()
    trigger(world, tenant, payload_template={"n": "{{event.n}}"}, dedupe_window_seconds=300)

    for n in (1, 2, 1, 2):
        emit(world, tenant, n=n, at=str(n))
    let_pass(world, timedelta(seconds=299))
    emit(world, tenant, n=1)
    let_pass(world, timedelta(seconds=2))
    emit(world, tenant, n=1)
    emit(world, tenant, n=1)

    assert outcomes(world) == [*["fired"] * 2, *["deduplicated"] * 3, "fired", "deduplicated"]


def test_a_key_says_which_events_are_the_same(world: World) -> None:
    tenant = world.tenant()
    template = {"n": "{{event.n}}"}
    trigger(world, tenant, payload_template=template, dedupe_key="{{event.folder}}", dedupe_window_seconds=300)

    for n, folder in enumerate(("/a", "/b", "/a", "/b")):
        emit(world, tenant, n=n, folder=folder)

    assert [job["payload"]["n"] for job in started(world)] == [0, 1]


def test_sixteen_at_once_start_exactly_one_job_per_window(world: World) -> None:
    tenant, rounds = world.tenant(), 10
    trigger(world, tenant, payload_template={"n": "{{event.n}}"}, dedupe_window_seconds=300)
    connections = [world.connect() for _ in range(16)]
    barrier = Barrier(16)

    def emit_all(connection: Any) -> None:
        for n in range(rounds):
            barrier.wait()
            connection.execute("select emit_event(%s, 'invoice.paid', payload => %s)", [tenant, f'{{"n": {n}}}'])

    with ThreadPoolExecutor(16) as crowd:
        list(crowd.map(emit_all, connections))

    assert sorted(job["payload"]["n"] for job in started(world)) == [*range(rounds)]
    assert sorted(outcomes(world)) == [*["deduplicated"] * 15 * rounds, *["fired"] * rounds]


def test_an_event_waits_for_the_same_one_and_fires_if_that_is_rolled_back(world: World) -> None:
    tenant = world.tenant()
    trigger(world, tenant, dedupe_window_seconds=300)
    first, second = transaction(world), world.connect()
    first.execute("select emit_event(%s, 'invoice.paid')", [tenant])

    second.execute("set lock_timeout = '50ms'")
    with pytest.raises(psycopg.errors.LockNotAvailable):
        second.execute("select emit_event(%s, 'invoice.paid')", [tenant])
    first.rollback()
    second.execute("select emit_event(%s, 'invoice.paid')", [tenant])

    assert outcomes(world) == ["fired"]


def test_a_debounced_job_waits_until_things_have_calmed_down_and_has_the_last_payload(world: World) -> None:
    tenant = world.tenant()
    template = {"n": "{{event.n}}"}
    trigger(world, tenant, payload_template=template, debounce_seconds=60, debounce_max_seconds=100)

    emit(world, tenant, n=1)
    (first,) = started(world)
    assert timedelta(seconds=59) < first["run_at"] - first["created_at"] <= timedelta(seconds=61)

    emit(world, tenant, n=2)
    (second,) = started(world)
    assert second["id"] == first["id"]
    assert second["payload"] == {"n": 2}
    assert second["run_at"] > first["run_at"]

    # The maximum counts from the first event on.
    let_pass(world, timedelta(seconds=50))
    emit(world, tenant, n=3)
    (third,) = started(world)
    assert third["payload"] == {"n": 3}
    first_at = world.value("select first_at from tickwork.trigger_windows")
    assert third["run_at"] == first_at + timedelta(seconds=100) < second["run_at"] + timedelta(seconds=1)
    assert world.queue.claim_next_job("test") is None

    # Once it is due and has been claimed, the next event starts another.
    world.service.jobs.reschedule_job(first["id"], "2020-01-01")
    assert world.claim().payload == {"n": 3}
    emit(world, tenant, n=4)

    assert [job["payload"]["n"] for job in started(world)] == [3, 4]
    assert outcomes(world) == ["fired", "debounced", "debounced", "fired"]


def test_events_are_debounced_by_their_key(world: World) -> None:
    tenant = world.tenant()
    trigger(world, tenant, payload_template={"n": "{{event.n}}"}, dedupe_key="{{event.folder}}", debounce_seconds=60)

    for n, folder in enumerate(("/a", "/b", "/a", "/b")):
        emit(world, tenant, n=n, folder=folder)

    assert [job["payload"]["n"] for job in started(world)] == [2, 3]


def test_a_payload_that_is_refused_leaves_the_debounced_job_as_it_was(world: World) -> None:
    tenant = world.tenant()
    world.type("count_things", payload_schema={"type": "object", "properties": {"n": {"type": "integer"}}})
    trigger(world, tenant, type="count_things", payload_template={"n": "{{event.n}}"}, debounce_seconds=60)

    for n in (1, "two"):
        emit(world, tenant, n=n)

    assert [job["payload"] for job in started(world)] == [{"n": 1}]
    assert outcomes(world) == ["fired", "refused"]


def test_events_at_once_are_debounced_into_one_job(world: World) -> None:
    tenant = world.tenant()
    trigger(world, tenant, payload_template={"n": "{{event.n}}"}, debounce_seconds=60)
    connections = [world.connect() for _ in range(8)]
    barrier = Barrier(8)

    def emit_all(connection: Any) -> None:
        for n in range(5):
            barrier.wait()
            connection.execute("select emit_event(%s, 'invoice.paid', payload => %s)", [tenant, f'{{"n": {n}}}'])

    with ThreadPoolExecutor(8) as crowd:
        list(crowd.map(emit_all, connections))

    (job,) = started(world)
    assert job["payload"] == {"n": 4}
    assert sorted(outcomes(world)) == [*["debounced"] * 39, "fired"]
    # It is filed once, at its last time.
    assert world.rows("select job_id, wake_at from tickwork.parked") == [
        {"job_id": job["id"], "wake_at": job["run_at"]}
    ]


def test_no_more_jobs_start_in_a_minute_than_are_allowed(world: World) -> None:
    tenant = world.tenant()
    trigger(world, tenant, max_per_minute=2)
    connections = [world.connect() for _ in range(8)]

    with ThreadPoolExecutor(8) as crowd:
        list(crowd.map(lambda each: each.execute("select emit_event(%s, 'invoice.paid')", [tenant]), connections))
    assert sorted(outcomes(world)) == [*["fired"] * 2, *["limited"] * 6]

    let_pass(world, timedelta(seconds=61))
    for _ in range(3):
        emit(world, tenant)
    assert sorted(outcomes(world)) == [*["fired"] * 4, *["limited"] * 7]


def test_a_paused_trigger_starts_nothing_and_decides_nothing(world: World) -> None:
    tenant = world.tenant()
    paused = trigger(world, tenant)
    world.service.triggers.pause_event_triggers([paused])

    emit(world, tenant)
    assert (started(world), outcomes(world)) == ([], [])

    world.service.triggers.resume_event_triggers([paused])
    emit(world, tenant)
    assert outcomes(world) == ["fired"]


def run_to_the_end(world: World, most: int = 50) -> int:
    """Complete jobs as long as there are any; how many."""
    for count in range(most):
        job = world.queue.claim_next_job("test")
        if job is None:
            return count
        world.queue.complete_job(job)
    raise AssertionError("it goes on and on")


def test_the_end_of_a_job_starts_another_although_no_webhook_listens(world: World) -> None:
    tenant, deaf = world.tenant(), world.tenant("deaf")
    world.type("mourn_job", family="other")
    trigger(world, tenant, "job.failed", type="mourn_job", payload_template={"job": "{{event.job_id}}"})

    for one in (tenant, deaf):
        failed = world.running_job(tenant=one, correlation_id="a chain")
        world.queue.fail_job(failed, {"code": "BROKEN"}, retryable=False)
        world.queue.complete_job(world.running_job(tenant=one))

    (job,) = started(world)
    first = world.row("select * from jobs where status = 'failed' and tenant_id = %s", tenant)
    assert (job["payload"], job["correlation_id"]) == ({"job": str(first["id"])}, "a chain")
    assert world.rows("select type from events") == [{"type": "job.failed"}]


@pytest.mark.parametrize("event_name", ["*", "job.*", "job.done"])
def test_a_loop_is_stopped_at_depth_8(world: World, event_name: str) -> None:
    tenant = world.tenant()
    trigger(world, tenant, event_name)
    world.job(tenant=tenant)

    assert run_to_the_end(world) == 9

    assert outcomes(world) == [*["fired"] * 8, "loop_stopped"]
    assert world.value("select array_agg(depth order by depth) from trigger_fires") == [*range(1, 10)]


def test_a_loop_through_follow_ups_is_stopped(world: World) -> None:
    tenant = world.tenant()
    world.type("greet_again")
    trigger(world, tenant, "job.done", condition='$.event.type == "greet_again"')
    world.job(type="greet_person", tenant=tenant)

    for _ in range(50):
        job = world.queue.claim_next_job("test")
        if job is None:
            break
        follow_ups = [FollowUp(type="greet_again")] if job.type == "greet_person" else []
        world.queue.complete_job(job, follow_ups=follow_ups)

    assert outcomes(world).count("fired") == 8
    assert outcomes(world).count("loop_stopped") == 1


def emit_held(world: World, job: ClaimedJob, type: str) -> None:
    def work(connection: Any) -> None:
        world.queue.hold_job(job, connection)
        events.emit_held_event(connection, type)

    world.queue.database.transaction(work)


def test_a_loop_through_an_event_of_a_handler_is_stopped(world: World) -> None:
    tenant = world.tenant()
    trigger(world, tenant, "person.greeted")
    world.job(tenant=tenant)

    for _ in range(50):
        job = world.queue.claim_next_job("test")
        if job is None:
            break
        emit_held(world, job, "person.greeted")
        world.queue.complete_job(job)

    assert outcomes(world) == [*["fired"] * 8, "loop_stopped"]


def test_the_ends_of_many_jobs_at_once_start_one_each(world: World) -> None:
    tenant, other = world.tenant(), world.tenant("birch")
    world.type("mourn_job", family="other")
    for one in (tenant, other):
        trigger(world, one, "job.*", type="mourn_job", payload_template={"job": "{{event.job_id}}"})
        for _ in range(3):
            world.job(type="greet_person", tenant=one)
    jobs = world.queue.claim_jobs("test", 6)

    world.queue.settle_jobs(
        [{"job_id": str(job.id), "lease_token": str(job.lease_token), "status": "done"} for job in jobs]
    )

    assert {job["payload"]["job"] for job in started(world)} == {str(job.id) for job in jobs}


def test_a_trigger_may_not_hear_of_deliveries(world: World) -> None:
    tenant = world.tenant()
    endpoint(world, tenant, "invoice.*")
    trigger(world, tenant, "job.*")
    emit(world, tenant)

    world.queue.complete_job(world.claim("webhook"))

    assert started(world) == []


def test_a_member_reads_the_decisions_of_their_tenant_only(world: World) -> None:
    tenant, other = world.tenant(), world.tenant("birch")
    for one in (tenant, other):
        trigger(world, one)
        emit(world, one)
    member = world.member_of(tenant)

    for table in ("event_triggers", "trigger_fires", "job_triggers"):
        rows = member.execute(f"select tenant_id from {table}").fetchall()
        assert rows == [{"tenant_id": tenant}]


def test_ticks_forget_old_decisions_and_ended_windows(world: World) -> None:
    tenant = world.tenant()
    trigger(world, tenant, dedupe_window_seconds=300)
    for _ in range(3):
        emit(world, tenant)
    world.service.maintenance.maintain()
    assert (len(outcomes(world)), world.value("select count(*) from tickwork.trigger_windows")) == (3, 1)

    let_pass(world, timedelta(days=8))
    emit(world, tenant)
    world.run("update tickwork.trigger_windows set ends_at = now() - interval '1 second'")
    world.service.maintenance.maintain()

    assert (outcomes(world), world.rows("select from tickwork.trigger_windows")) == (["fired"], [])


def test_no_tick_forgets_more_than_a_thousand_at_once(world: World) -> None:
    tenant = world.tenant()
    world.run(
        "insert into trigger_fires (tenant_id, trigger_id, decided_at, event_id, event_type, outcome, depth) "
        "select %s, gen_random_uuid(), now() - interval '8 days', gen_random_uuid(), 'a', 'fired', 1 "
        "from generate_series(1, 1500)",
        tenant,
    )

    world.run("select tickwork.forget_decisions()")

    assert len(outcomes(world)) == 500


def test_a_tenant_without_triggers_pays_one_look_into_an_index(world: World) -> None:
    tenant, other = world.tenant(), world.tenant("birch")
    trigger(world, other)
    world.run("analyze")

    scans = scans_of(world, "select emit_event(%(tenant)s, 'invoice.paid')", {"tenant": tenant})

    looks = [scan for scan in scans if scan["Relation Name"] in ("event_triggers", "trigger_fires", "trigger_windows")]
    assert [(look["Node Type"], look["Actual Rows"]) for look in looks] == [("Index Only Scan", 0)]


@pytest.mark.parametrize("statistics", ["none", "fresh"])
def test_of_a_thousand_triggers_only_those_that_match_are_read(world: World, statistics: str) -> None:
    tenant = world.tenant()
    world.type()
    world.run(
        "insert into event_triggers (tenant_id, label, event_name, type) "
        "select %s, n, 'invoice.number' || n || case when n %% 2 = 0 then '.*' else '' end, 'greet_person' "
        "from generate_series(1, 998) as n",
        tenant,
    )
    heard = [trigger(world, tenant, name, dedupe_window_seconds=300) for name in ("invoice.paid", "invoice.*")]
    if statistics == "fresh":
        world.run("analyze")

    scans = scans_of(world, "select emit_event(%(tenant)s, 'invoice.paid')", {"tenant": tenant})

    assert len(started(world)) == len(heard)
    of_triggers = [scan for scan in scans if scan["Relation Name"] in ("event_triggers", "trigger_fires")]
    assert of_triggers
    for scan in of_triggers:
        assert scan["Node Type"] in ("Index Scan", "Index Only Scan"), scan
        assert scan["Actual Rows"] + scan.get("Rows Removed by Filter", 0) <= len(heard)
        assert scan["Shared Hit Blocks"] + scan["Shared Read Blocks"] <= 20


def test_a_tick_and_a_limit_read_only_what_they_need(world: World) -> None:
    tenant = world.tenant()
    limited = trigger(world, tenant, max_per_minute=5)
    world.run(
        "insert into trigger_fires (tenant_id, trigger_id, decided_at, event_id, event_type, outcome, depth) "
        "select %s, %s, now() - interval '1 hour' - n * interval '1 second', gen_random_uuid(), 'a', "
        "case when n %% 2 = 0 then 'fired' else 'limited' end, 1 from generate_series(1, 10000) as n",
        *(tenant, limited),
    )
    world.run(
        "insert into tickwork.trigger_windows (tenant_id, trigger_id, key, ends_at) "
        "select %s, %s, n::text::bytea, now() + interval '1 hour' from generate_series(1, 10000) as n",
        *(tenant, limited),
    )

    scans = [
        *scans_of(world, "select emit_event(%(tenant)s, 'invoice.paid')", {"tenant": tenant}),
        *scans_of(world, "select maintain()"),
    ]

    looks = [scan for scan in scans if scan["Relation Name"] in ("trigger_fires", "trigger_windows")]
    assert {look["Relation Name"] for look in looks} == {"trigger_fires", "trigger_windows"}
    for look in looks:
        assert look["Node Type"] in ("Index Scan", "Index Only Scan", "Tid Scan"), look
        assert look["Actual Rows"] + look.get("Rows Removed by Filter", 0) == 0
