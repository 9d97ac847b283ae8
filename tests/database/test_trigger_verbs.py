"""What people do with triggers: who may, what is checked when one is saved, lists and dry runs."""

from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import psycopg
import pytest

from tests.database.test_event_triggers import let_pass, outcomes, started, trigger
from tests.world import World
from tests.world.receivers import emit
from tickwork.errors import InvalidRequest, NoSuchTrigger, QueueError, WrongStatus

SCHEMA = {
    "type": "object",
    "properties": {"n": {"type": "integer"}, "mode": {"type": "string", "enum": ["fast", "slow"]}},
    "required": ["n"],
    "additionalProperties": False,
}


def test_a_trigger_has_everything_it_was_given(world: World) -> None:
    tenant = world.tenant()
    world.type()
    given: dict[str, Any] = {
        "label": "Greet on payment",
        "event_name": "invoice.*",
        "type": "greet_person",
        "condition": "$.event.amount > 1",
        "payload_template": {"name": "{{event.name}}"},
        "dedupe_key": "{{event.name}}",
        "dedupe_window_seconds": 1,
        "debounce_seconds": 2,
        "debounce_max_seconds": 3,
        "max_per_minute": 4,
        "delay_seconds": 0,
        "priority": 6,
        "lane": "a lane",
    }

    made = world.service.triggers.create_event_trigger(tenant, **given)

    stored = world.row("select * from event_triggers")
    assert made == stored
    assert stored.items() >= {**given, "tenant_id": tenant, "paused_at": None}.items()


def test_fields_are_changed_and_checked_as_when_it_was_made(world: World) -> None:
    tenant = world.tenant()
    made = trigger(world, tenant, payload_template={"a": 1})
    before = world.row("select * from event_triggers")

    changed = world.service.triggers.change_event_trigger(
        made, {"event_name": "order.*", "condition": "$.event.n == 1", "max_per_minute": 5}
    )

    assert changed == world.row("select * from event_triggers")
    differences = {name for name in before if before[name] != changed[name]}
    assert differences == {"event_name", "condition", "max_per_minute", "updated_at"}
    for changes in (
        {"condition": "$.event"},
        {"payload_template": {"a": "{{gone}}"}},
        {"tenant_id": str(uuid4())},
        {"paused_at": None},
        {"delay_seconds": -1},
        {"type": "nothing"},
    ):
        with pytest.raises(InvalidRequest):
            world.service.triggers.change_event_trigger(made, changes)
    assert changed == world.row("select * from event_triggers")


@pytest.mark.parametrize(
    ("given", "complaint"),
    [
        ({"label": ""}, "label: must have 1 to 200 characters"),
        ({"label": None}, "label: must have 1 to 200 characters"),
        ({"event_name": ""}, "event_name: must be a type"),
        ({"event_name": None}, "event_name: must be a type"),
        ({"event_name": "invoice.*.paid"}, "event_name: must be a type"),
        ({"event_name": "inv*"}, "event_name: must be a type"),
        ({"event_name": "a" * 101}, "event_name: must be a type"),
        ({"type": "nothing"}, "there is no job type 'nothing'"),
        ({"type": None}, "there is no job type null"),
        ({"condition": "$.event.a"}, "condition: is a path"),
        ({"payload_template": {"a": "{{gone}}"}}, "there is no value named 'gone'"),
        ({"dedupe_key": "{{gone}}"}, "there is no value named 'gone'"),
        ({"dedupe_key": ""}, "dedupe_key: must not be empty"),
        ({"dedupe_window_seconds": -1}, "dedupe_window_seconds: must be 0"),
        ({"dedupe_window_seconds": 604_801}, "dedupe_window_seconds: must be 0"),
        ({"debounce_seconds": 0}, "debounce_seconds: must be 1"),
        ({"debounce_seconds": 10, "debounce_max_seconds": 9}, "debounce_max_seconds: must be at least"),
        ({"debounce_seconds": 10, "delay_seconds": 1}, "delay_seconds: a debounced job is delayed already"),
        ({"max_per_minute": 0}, "max_per_minute: must be 1"),
        ({"delay_seconds": 2_592_001}, "delay_seconds: must be 0"),
        ({"priority": 101}, "priority: 101 is out of range"),
        ({"lane": ""}, "lane: must not be empty"),
        ({"sample": [1]}, "payload: must be an object"),
    ],
)
def test_what_cannot_work_is_refused_with_a_reason(world: World, given: dict[str, Any], complaint: str) -> None:
    tenant = world.tenant()

    with pytest.raises(InvalidRequest, match=complaint) as refused:
        trigger(world, tenant, **given)

    assert refused.value.hint
    assert world.rows("select from event_triggers") == []


@pytest.mark.parametrize(
    ("template", "sample", "complaint"),
    [
        ({"n": 1}, None, None),
        ({"n": "one"}, None, "payload.n: must be an integer"),
        ({}, None, "payload: n is missing|required"),
        ({"n": "{{event.n}}"}, None, None),
        ({"n": "{{event.n}}", "mode": "fast"}, None, None),
        ({"n": "{{event.n}}", "mode": "quick"}, None, "payload.mode"),
        ({"mode": "{{event.mode}}"}, None, "n"),
        ({"n": "{{event.n}}", "other": "{{event.n}}"}, None, "other"),
        ({"n": "{{event.n}}"}, {"n": 1}, None),
        ({"n": "{{event.n}}"}, {"n": "one"}, "payload.n: must be an integer"),
        ({"n": "no. {{event.n}}"}, {"n": 1}, "payload.n: must be an integer"),
        ({"n": "{{event.n}}"}, {}, "there is no value at event.n"),
        ({"n": "{{event.n | 1}}"}, {}, None),
    ],
)
def test_the_payload_is_checked_as_far_as_it_is_known(
    world: World, template: Any, sample: Any, complaint: str | None
) -> None:
    tenant = world.tenant()
    world.type("count_things", payload_schema=SCHEMA)

    if complaint is None:
        trigger(world, tenant, type="count_things", payload_template=template, sample=sample)
    else:
        with pytest.raises(InvalidRequest, match=complaint):
            trigger(world, tenant, type="count_things", payload_template=template, sample=sample)


def test_a_schema_with_other_keywords_is_checked_where_that_is_possible(world: World) -> None:
    tenant = world.tenant()
    schema = {"type": "object", "additionalProperties": {"type": "integer"}, "title": "x"}
    world.type("count_things", payload_schema=schema)

    trigger(world, tenant, type="count_things", payload_template={"any": "{{event.n}}"})
    with pytest.raises(InvalidRequest, match=r"payload\.any"):
        trigger(world, tenant, type="count_things", payload_template={"any": "x"})


def test_two_triggers_of_a_tenant_have_different_labels(world: World) -> None:
    tenant, other = world.tenant(), world.tenant("birch")
    trigger(world, tenant, label="one")
    second = trigger(world, tenant, label="two")
    trigger(world, other, label="one")

    with pytest.raises(WrongStatus, match="has another trigger named 'one'"):
        trigger(world, tenant, label="one")
    with pytest.raises(WrongStatus, match="has another trigger named 'one'"):
        world.service.triggers.change_event_trigger(second, {"label": "one"})


def test_a_tenant_has_a_thousand_triggers_at_most_and_twenty_of_a_name(world: World) -> None:
    tenant = world.tenant()
    for _ in range(20):
        made = trigger(world, tenant)
    with pytest.raises(InvalidRequest, match="has 20 triggers already, 20 of them on"):
        trigger(world, tenant)
    # A change of one of them is no further one.
    world.service.triggers.change_event_trigger(made, {"priority": 1})

    world.run(
        "insert into event_triggers (tenant_id, label, event_name, type) "
        "select %s, 'n' || n, 'n' || n, 'greet_person' from generate_series(1, 980) as n",
        tenant,
    )
    with pytest.raises(InvalidRequest, match="has 1000 triggers already, 0 of them on"):
        trigger(world, tenant, "order.made")


CREATE = "select create_event_trigger(%s, %s, 'invoice.paid', %s)"


def test_admins_manage_triggers_and_start_only_what_they_may_enqueue(world: World) -> None:
    tenant = world.tenant()
    world.type("for_members")
    world.type("for_admins", enqueued_by="admin")
    world.type("for_the_service", enqueued_by="service")
    member, admin = world.member_of(tenant), world.member_of(tenant, role="admin")
    stranger = world.member_of(world.tenant("birch"), role="owner")

    for connection, type, code in (
        (member, "for_members", "TWADM"),
        (stranger, "for_members", "TWMEM"),
        (admin, "for_the_service", "TWENQ"),
        (admin, "for_members", None),
        (admin, "for_admins", None),
    ):
        if code is None:
            connection.execute(CREATE, [tenant, type, type])
        else:
            with pytest.raises(psycopg.Error) as refused:
                connection.execute(CREATE, [tenant, type, type])
            assert refused.value.sqlstate == code
    # Nor may it be changed into something else.
    made = world.value("select id from event_triggers where type = 'for_admins'")
    with pytest.raises(psycopg.Error) as refused:
        admin.execute("""select change_event_trigger(%s, '{"type": "for_the_service"}')""", [made])
    assert refused.value.sqlstate == "TWENQ"
    assert world.value("select created_by from event_triggers where id = %s", made) is not None


@pytest.mark.parametrize(
    "statement",
    [
        "select change_event_trigger(%s, '{}')",
        "select pause_event_triggers(array[%s::uuid])",
        "select resume_event_triggers(array[%s::uuid])",
        "select delete_event_trigger(%s)",
    ],
)
def test_members_and_strangers_manage_no_trigger(world: World, statement: str) -> None:
    tenant = world.tenant()
    made = trigger(world, tenant)
    before = world.row("select * from event_triggers")
    member, stranger = world.member_of(tenant), world.member_of(world.tenant("birch"), role="owner")

    for connection, id, code in ((member, made, "TWADM"), (stranger, made, "TWTRG"), (stranger, uuid4(), "TWTRG")):
        with pytest.raises(psycopg.Error) as refused:
            connection.execute(statement, [id])
        assert refused.value.sqlstate == code

    assert world.row("select * from event_triggers") == before


def test_several_are_paused_with_a_note_and_resumed(world: World) -> None:
    tenant = world.tenant()
    ids = [trigger(world, tenant) for _ in range(3)]
    admin = world.member_of(tenant, role="admin")
    user = world.value("select user_id from memberships")

    admin.execute("select pause_event_triggers(%s, 'Too much')", [ids[:2]])

    rows = world.rows("select * from event_triggers order by label")
    assert [(row["pause_note"], row["paused_by"]) for row in rows] == [*[("Too much", user)] * 2, (None, None)]
    assert [row["is_enabled"] for row in world.rows("select * from job_triggers order by label")] == [
        False,
        False,
        True,
    ]

    world.service.triggers.resume_event_triggers(ids)
    assert {row["paused_at"] for row in world.rows("select * from event_triggers")} == {None}
    # All of them, or none.
    with pytest.raises(NoSuchTrigger):
        world.service.triggers.pause_event_triggers([ids[0], uuid4()])
    assert {row["paused_at"] for row in world.rows("select * from event_triggers")} == {None}


def test_a_deleted_trigger_leaves_its_jobs_and_decisions(world: World) -> None:
    tenant = world.tenant()
    made = trigger(world, tenant)
    emit(world, tenant)

    world.service.triggers.delete_event_trigger(made)
    emit(world, tenant)

    assert world.rows("select from event_triggers") == []
    assert (len(started(world)), outcomes(world)) == (1, ["fired"])
    with pytest.raises(NoSuchTrigger):
        world.service.triggers.delete_event_trigger(made)


def test_triggers_are_listed_with_their_last_decision(world: World) -> None:
    tenant, other = world.tenant(), world.tenant("birch")
    trigger(world, tenant, label="heard", condition="$.event.n == 1")
    trigger(world, tenant, "order.made", label="not heard")
    trigger(world, other)
    for n in (1, 2):
        emit(world, tenant, n=n)

    heard, not_heard = world.service.triggers.list_event_triggers(tenant)
    assert (heard["label"], heard["last_outcome"], heard["last_event_type"]) == (
        *("heard", "condition_false", "invoice.paid"),
    )
    assert (not_heard["label"], not_heard["last_outcome"]) == ("not heard", None)

    emit(world, tenant, n=1)
    heard, _ = world.service.triggers.list_event_triggers(tenant)
    assert (heard["last_outcome"], heard["last_job_status"]) == ("fired", "queued")
    assert len(world.service.triggers.list_event_triggers()) == 3
    seen = world.member_of(other).execute("select label from list_event_triggers()").fetchall()
    assert len(seen) == 1


def foreseen(world: World, tenant: UUID, type: str = "invoice.paid", **payload: Any) -> dict[str, Any]:
    rows = world.service.triggers.test_event(tenant, type, payload, "invoice:1")
    return {row["label"]: (row["outcome"], row["job_payload"]) for row in rows}


def test_a_dry_run_says_what_every_trigger_would_do_and_does_nothing(world: World) -> None:
    tenant = world.tenant()
    world.type("count_things", payload_schema=SCHEMA)
    template = {"n": "{{event.n}}"}
    trigger(world, tenant, label="fires", payload_template={**template, "of": "{{aggregate_id}}"})
    trigger(world, tenant, label="false", condition="$.event.n > 5")
    trigger(world, tenant, "order.*", label="other")
    trigger(world, tenant, label="missing", payload_template={"a": "{{event.gone}}"})
    trigger(world, tenant, label="refused", type="count_things", payload_template=template)
    paused = trigger(world, tenant, label="paused")
    world.service.triggers.pause_event_triggers([paused])
    trigger(world, tenant, label="same", payload_template=template, dedupe_window_seconds=300)
    trigger(world, tenant, label="calm", payload_template=template, debounce_seconds=60)
    trigger(world, tenant, label="limit", payload_template=template, max_per_minute=1)

    first = foreseen(world, tenant, n="one")

    assert first == {
        "fires": ("fired", {"n": "one", "of": "1"}),
        "false": ("condition_false", None),
        "other": ("other_event", None),
        "missing": ("not_rendered", None),
        "refused": ("refused", {"n": "one"}),
        "paused": ("paused", None),
        **{label: ("fired", {"n": "one"}) for label in ("same", "calm", "limit")},
    }
    for table in ("events", "jobs", "trigger_fires", "tickwork.trigger_windows"):
        assert world.value(f"select count(*) from {table}") == 0

    # What it says is what happens.
    for _ in range(2):
        expected = foreseen(world, tenant, n="one")
        emit(world, tenant, n="one")
        decided = world.rows(
            "select label, (array_agg(outcome order by decided_at desc))[1] as outcome "
            "from trigger_fires join event_triggers on event_triggers.id = trigger_id group by label"
        )
        assert {row["label"]: row["outcome"] for row in decided} == {
            label: outcome for label, (outcome, _) in expected.items() if outcome not in ("other_event", "paused")
        }
    assert {foreseen(world, tenant, n="one")[label][0] for label in ("same", "calm", "limit")} == {
        *("deduplicated", "debounced", "limited"),
    }
    let_pass(world, timedelta(minutes=6))
    assert {foreseen(world, tenant, n="one")[label][0] for label in ("same", "limit")} == {"fired"}


def test_only_members_of_the_tenant_try_events_and_only_well_formed_ones(world: World) -> None:
    tenant = world.tenant()
    trigger(world, tenant)
    query = "select outcome from test_event(%s, 'invoice.paid')"

    assert world.member_of(tenant).execute(query, [tenant]).fetchall() == [{"outcome": "fired"}]
    with pytest.raises(psycopg.Error) as refused:
        world.member_of(world.tenant("birch")).execute(query, [tenant])
    assert refused.value.sqlstate == "TWMEM"
    for arguments in ({"type": "no type!"}, {"type": "a", "payload": {"a": "x" * 70_000}}):
        with pytest.raises(QueueError):
            world.service.triggers.test_event(tenant, **arguments)


def test_one_view_shows_schedules_and_triggers_as_the_source_documents_do(world: World) -> None:
    tenant = world.tenant()
    made = trigger(world, tenant, label="an event", payload_template={"a": 1}, dedupe_window_seconds=120)
    world.run("select create_schedule(%s, 'a schedule', 'greet_person', '0 2 * * *', 'Europe/Berlin')", tenant)

    by_calendar, by_event = world.rows("select * from job_triggers order by label")

    assert [*by_event] == [
        *("id", "tenant_id", "label", "is_enabled", "trigger_type", "event_name", "cron_expr", "timezone", "type"),
        *("payload_template", "dedupe_window_seconds", "created_by", "created_at", "updated_at"),
    ]
    assert (by_event["id"], by_event["trigger_type"], by_event["event_name"], by_event["dedupe_window_seconds"]) == (
        *(made, "event", "invoice.paid", 120),
    )
    assert (by_event["cron_expr"], by_event["timezone"], by_event["payload_template"]) == (None, None, {"a": 1})
    assert (by_calendar["trigger_type"], by_calendar["cron_expr"], by_calendar["timezone"]) == (
        *("schedule", "0 2 * * *", "Europe/Berlin"),
    )
    assert (by_calendar["event_name"], by_calendar["dedupe_window_seconds"]) == (None, None)
    assert by_event["type"] == by_calendar["type"] == "greet_person"
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        world.member_of(tenant, role="owner").execute("delete from event_triggers")


def test_a_change_names_only_fields(world: World) -> None:
    made = trigger(world, world.tenant())

    for changes in ("[]", "1", '{"nothing": 1}'):
        with pytest.raises(psycopg.Error) as refused:
            world.run("select change_event_trigger(%s, %s)", made, changes)
        assert refused.value.sqlstate == "TWARG"
