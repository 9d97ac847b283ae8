"""Schedules as people manage them: who may, what is refused, and what a change does to what is under way."""

from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import psycopg
import pytest

from tests.world import World
from tests.world.calendar import LEAD, NOON, fires, outcomes, schedule, set_next, tick
from tickwork.errors import InvalidRequest, NoSuchTrigger, WrongStatus

HOUR = timedelta(hours=1)
CREATE = "select (create_schedule(%s, 'nightly', 'greet_person', '0 2 * * *')).id as id"
VERBS = {
    "change": 'select change_schedule(%s, \'{"label": "other"}\')',
    "pause": "select pause_schedules(array[%s]::uuid[])",
    "resume": "select resume_schedules(array[%s]::uuid[])",
    "run": "select run_schedule(%s)",
    "backfill": "select backfill_schedule(%s, now() - interval '1 day', now(), false)",
    "delete": "select delete_schedule(%s)",
}


def test_admins_manage_schedules_and_members_only_see_them(world: World) -> None:
    tenant = world.tenant()
    world.type()
    admin, member = world.member_of(tenant, role="admin"), world.member_of(tenant)

    with pytest.raises(psycopg.Error, match="only admins of the tenant"):
        member.execute(CREATE, [tenant])
    created = admin.execute(CREATE, [tenant]).fetchone()
    assert created is not None

    assert [row["label"] for row in member.execute("select * from list_schedules()")] == ["nightly"]
    for statement in VERBS.values():
        with pytest.raises(psycopg.Error, match="only admins of the tenant"):
            member.execute(statement, [created["id"]])
    for statement in VERBS.values():
        admin.execute(statement, [created["id"]])
    assert world.rows("select * from schedules") == []


@pytest.mark.parametrize("verb", VERBS)
def test_a_foreign_schedule_is_as_good_as_none(world: World, verb: str) -> None:
    foreign, stranger = schedule(world), world.member_of(world.tenant("other"), role="owner")

    complaints = []
    for id in (foreign, uuid4()):
        with pytest.raises(psycopg.Error) as refused:
            stranger.execute(VERBS[verb], [id])
        complaints.append((refused.value.sqlstate, str(refused.value).replace(str(id), "ID").splitlines()[0]))

    assert complaints[0] == complaints[1]
    assert complaints[0][0] == "TWTRG"
    assert stranger.execute("select * from list_schedules()").fetchall() == []
    assert stranger.execute("select * from schedule_fires").fetchall() == []


@pytest.mark.parametrize("role", ["member", "admin"])
def test_a_schedule_starts_only_what_its_creator_may_enqueue(world: World, role: str) -> None:
    tenant = world.tenant()
    world.type(enqueued_by="service")
    creator = world.member_of(tenant, role=role)

    with pytest.raises(psycopg.Error) as refused:
        creator.execute(CREATE, [tenant])

    assert refused.value.sqlstate == ("TWENQ" if role == "admin" else "TWADM")


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"cron_expr": "0 0 31 2 *"}, "does not fire within nine years"),
    ({"cron_expr": "x"}, "has 1 fields"),
    ({"timezone": "Nowhere"}, "there is no time zone 'Nowhere'"),
    ({"overlap": "perhaps"}, "overlap: must be skip, allow, queue_one or cancel_previous"),
    ({"missed": ""}, "missed: must be skip, latest or all"),
    ({"catch_up_seconds": -1}, "catch_up_seconds: must be 0 to 86400"),
    ({"spread_seconds": 86401}, "spread_seconds: must be 0 to 86400"),
    ({"pause_after_failures": 0}, "pause_after_failures: must be 1 to 10"),
    ({"starts_at": "2031-01-01Z", "ends_at": "2030-01-01Z"}, "ends_at: must be after starts_at"),
    ({"label": ""}, "label: must have 1 to 200 characters"),
    ({"label": "x" * 201}, "label: must have 1 to 200 characters"),
    ({"type": "greet_persons"}, "there is no job type 'greet_persons'"),
    ({"priority": 101}, "priority: 101 is out of range"),
    ({"lane": ""}, "lane"),
    ({"payload_template": {"at": "{{event.id}}"}}, "there is no value named 'event'"),
    ({"payload_template": {"number": "seven"}}, "number"),
]


@pytest.mark.parametrize(("wrong", "complaint"), REFUSED, ids=lambda given: str(given)[:40])
def test_what_makes_no_sense_is_refused_when_it_is_saved(world: World, wrong: dict[str, Any], complaint: str) -> None:
    tenant = world.tenant()
    world.type(payload_schema={"type": "object", "properties": {"number": {"type": "integer"}}})
    right: dict[str, Any] = {"label": "nightly", "type": "greet_person", "cron_expr": "0 2 * * *"}
    created = world.service.schedules.create_schedule(tenant, **{**right, "label": "other"})

    with pytest.raises(InvalidRequest, match=complaint):
        world.service.schedules.create_schedule(tenant, **{**right, **wrong})
    with pytest.raises(InvalidRequest, match=complaint):
        world.service.schedules.change_schedule(created["id"], wrong)

    assert world.rows("select * from schedules") == [created]


def test_two_schedules_of_a_tenant_cannot_have_the_same_label(world: World) -> None:
    one, other = schedule(world), schedule(world, label="other")

    with pytest.raises(WrongStatus, match="the tenant has another schedule named 'hourly'"):
        schedule(world)
    with pytest.raises(WrongStatus, match="the tenant has another schedule named 'hourly'"):
        world.service.schedules.change_schedule(other, {"label": "hourly"})

    schedule(world, tenant_id=world.tenant("elsewhere"))
    assert world.service.schedules.change_schedule(one, {"label": "hourly"})["label"] == "hourly"


def test_a_schedule_without_a_time_zone_has_that_of_its_tenant(world: World) -> None:
    tenant = world.tenant()
    world.run("update tenant_settings set timezone = 'Asia/Tokyo'")

    created = world.service.schedules.create_schedule(tenant, "nightly", world.type(), "0 2 * * *")

    assert created["timezone"] == "Asia/Tokyo"
    assert created["next_nominal_at"].hour == 17


def test_a_change_withdraws_the_job_that_was_ahead_of_its_time(world: World) -> None:
    hourly = schedule(world)
    tick(world, NOON - LEAD)

    changed = world.service.schedules.change_schedule(hourly, {"cron_expr": "30 * * * *", "overlap": "allow"})
    set_next(world, hourly, NOON)
    tick(world, NOON + HOUR)

    assert (changed["cron_expr"], changed["overlap"], changed["missed"]) == ("30 * * * *", "allow", "latest")
    assert outcomes(world, hourly) == [("12:30", "late")]
    assert world.rows("select status from jobs order by created_at") == [{"status": "cancelled"}, {"status": "queued"}]


def test_a_deleted_schedule_leaves_its_jobs_but_not_one_that_was_ahead_of_its_time(world: World) -> None:
    hourly = schedule(world, overlap="allow")
    tick(world, NOON)
    world.run("update jobs set run_at = now()")
    tick(world, NOON + HOUR)

    world.service.schedules.delete_schedule(hourly)

    assert fires(world) == []
    assert [row["status"] for row in world.rows("select status from jobs order by run_at")] == ["queued", "cancelled"]
    with pytest.raises(NoSuchTrigger):
        world.service.schedules.delete_schedule(hourly)


def test_run_now_starts_a_job_beside_the_calendar_even_of_a_paused_schedule(world: World) -> None:
    hourly = schedule(world)
    world.service.schedules.pause_schedules([hourly])

    fire = world.service.schedules.run_schedule(hourly)

    assert fire["outcome"] == "manual"
    claimed = world.claim()
    assert claimed.id == fire["job_id"]
    assert world.value("select next_nominal_at from schedules") == NOON


def backfilled(world: World, schedule_id: UUID, dry_run: bool) -> list[str]:
    rows = world.service.schedules.backfill_schedule(
        schedule_id, "2026-01-01T00:00Z", "2026-01-01T05:00Z", dry_run=dry_run
    )
    return [f"{row['nominal_at']:%H}{' started' if row['job_id'] else ''}" for row in rows]


def test_a_backfill_starts_what_did_not_start_and_nothing_else(world: World) -> None:
    hourly = schedule(world, overlap="allow")
    started = world.job()
    record = "insert into schedule_fires (schedule_id, tenant_id, nominal_at, run_at, outcome, job_id) "
    for time, outcome, job in (("02", "fired", started.id), ("03", "skipped_overlap", None)):
        values = "select id, tenant_id, %s, now(), %s, %s from schedules"
        world.run(record + values, f"2026-01-01T{time}:00Z", outcome, job)

    shown, nothing_yet = backfilled(world, hourly, dry_run=True), world.value("select count(*) from jobs")
    done, again = backfilled(world, hourly, dry_run=False), backfilled(world, hourly, dry_run=False)

    assert shown == ["00", "01", "03", "04", "05"]
    assert nothing_yet == 1
    assert done == ["00 started", "01 started", "03 started", "04 started", "05 started"]
    assert again == []
    assert world.value("select count(*) from jobs") == 6


@pytest.mark.parametrize(
    ("since", "until", "complaint"),
    [
        ("2026-01-02Z", "2026-01-01Z", "must be in the past"),
        ("2026-01-01Z", "2126-01-01Z", "must be in the past"),
        ("2020-01-01Z", "2026-01-01Z", "more than 1000 times"),
    ],
)
def test_a_backfill_is_bounded(world: World, since: str, until: str, complaint: str) -> None:
    with pytest.raises(InvalidRequest, match=complaint):
        world.service.schedules.backfill_schedule(schedule(world), since, until)
