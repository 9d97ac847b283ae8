"""Schedules in the console: seen, previewed, changed, and by whom."""

from typing import Any
from uuid import UUID, uuid4

import pytest

from tests.console.conftest import Viewers

Form = dict[str, Any]
HOSTILE = "<img src=x onerror=alert(1)>"


def created(viewers: Viewers, label: str, **given: Any) -> UUID:
    fields = {"type": "greet_person", "cron_expr": "0 7 * * *", "timezone": "Europe/Berlin", **given}
    row = viewers.world.service.schedules.create_schedule(viewers.acme, label, **fields)
    found: UUID = row["id"]
    return found


def stored(viewers: Viewers, schedule: UUID) -> dict[str, Any]:
    return viewers.world.row("select * from schedules where id = %s", schedule)


def test_a_tenants_own_see_the_schedule_and_nobody_else(viewers: Viewers) -> None:
    schedule = created(viewers, HOSTILE, payload_template={"name": HOSTILE})

    for browser in (viewers.admin, viewers.member, viewers.operator):
        listed, shown = browser.get("/schedules"), browser.get(f"/schedules/{schedule}")
        assert HOSTILE in listed.text
        assert HOSTILE in shown.text
        assert HOSTILE not in listed.html + shown.html
    assert HOSTILE not in viewers.stranger.get("/schedules").text
    for page in ("", "/edit", "/history"):
        assert viewers.stranger.get(f"/schedules/{schedule}{page}").status == 404
        assert viewers.admin.get(f"/schedules/{uuid4()}{page}").status == 404
    assert viewers.nobody.get(f"/schedules/{schedule}").status == 303


def test_an_admin_creates_one(viewers: Viewers) -> None:
    form: Form = {
        "label": "Every morning",
        "type": "greet_person",
        "cron_expr": "0 7 * * 1-5",
        "catch_up_seconds": "60",
    }
    form |= {"catch_up_seconds": "60", "payload_template": '{"name": "Ada"}', "starts_at": "2027-01-01T00:00"}

    viewers.admin.client.set_cookie("tickwork-zone", "America/New_York")
    seen = viewers.admin.post("/schedules/new", **form)
    row = viewers.world.row("select * from schedules where label = 'Every morning'")
    edited = viewers.admin.get(f"/schedules/{row['id']}/edit")
    viewers.admin.client.delete_cookie("tickwork-zone")

    assert "The schedule was created." in seen.text
    assert row["tenant_id"] == viewers.acme
    assert row["payload_template"] == {"name": "Ada"}
    assert row["catch_up_seconds"] == 60
    assert row["starts_at"].isoformat() == "2027-01-01T05:00:00+00:00"
    assert 'value="2027-01-01T00:00:00"' in edited.html


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"cron_expr": "every day"}, "cron_expr"),
        ({"payload_template": "{oops"}, "json"),
        ({"payload_template": '{"name": 1}'}, "name"),
        ({"catch_up_seconds": "soon"}, "integer"),
        ({"timezone": "Mars/Base"}, "Mars/Base"),
    ],
)
def test_what_was_typed_stays_if_it_is_refused(viewers: Viewers, wrong: dict[str, Any], message: str) -> None:
    form: Form = {"label": "Refused " + HOSTILE, "type": "greet_person", "cron_expr": "0 7 * * *", **wrong}

    seen = viewers.admin.post("/schedules/new", **form)

    assert seen.status == 422
    assert message in seen.text
    assert "Refused &lt;img" in seen.html


def test_the_preview_shows_both_zones_and_where_the_clock_changes(viewers: Viewers) -> None:
    viewers.admin.client.set_cookie("tickwork-zone", "America/New_York")
    every_hour = viewers.admin.get("/schedules/new", cron_expr="0 7 * * *", timezone="Europe/Berlin")
    changes = viewers.admin.get("/schedules/new", cron_expr="30 2 28-31 3 SUN", timezone="Europe/Berlin")
    viewers.admin.client.delete_cookie("tickwork-zone")

    assert "In Europe/Berlin" in every_hour.text
    assert "07:00" in every_hour.text
    assert "EST" in every_hour.text or "EDT" in every_hour.text
    assert "⚠" in changes.text
    assert "cron_expr" in viewers.admin.get("/schedules/new", cron_expr="61 * * * *").text
    assert 'hx-get="/console/schedules/new"' in every_hour.html


def test_an_admin_changes_all_of_it(viewers: Viewers) -> None:
    schedule = created(viewers, "To be changed", lane="slow", payload_template={"name": "Ada"})
    assert "slow" in viewers.admin.get(f"/schedules/{schedule}/edit").html
    form: Form = {
        "label": "Changed",
        "type": "greet_person",
        "cron_expr": "@daily",
        "timezone": "",
        "overlap": "allow",
    }
    form |= {"missed": "all", "catch_up_seconds": "30", "spread_seconds": "5", "priority": "7"}

    seen = viewers.admin.post(f"/schedules/{schedule}/edit", **form, payload_template='{"name": "Bob"}')

    assert "The schedule was changed." in seen.text
    row = stored(viewers, schedule)
    assert (row["label"], row["cron_expr"], row["timezone"], row["lane"]) == ("Changed", "@daily", "UTC", None)
    assert (row["overlap"], row["missed"], row["priority"]) == ("allow", "all", 7)
    assert row["payload_template"] == {"name": "Bob"}
    assert "schedules.changed" in viewers.admin.get(f"/schedules/{schedule}/history").text
    assert viewers.admin.post(f"/schedules/{schedule}/edit", **{**form, "overlap": "maybe"}).status == 422


def test_it_is_paused_with_a_note_and_resumed(viewers: Viewers) -> None:
    schedule = created(viewers, "Paused")

    assert (
        "closed for the holidays"
        in viewers.admin.post(f"/schedules/{schedule}/pause", note="closed for the holidays").text
    )
    assert stored(viewers, schedule)["pause_note"] == "closed for the holidays"
    viewers.admin.post(f"/schedules/{schedule}/resume")
    assert stored(viewers, schedule)["paused_at"] is None


def test_it_runs_now_and_the_fire_is_shown(viewers: Viewers) -> None:
    schedule = created(viewers, "Run", payload_template={"name": "Ada"})

    seen = viewers.admin.post(f"/schedules/{schedule}/run")

    job = viewers.world.value("select job_id from schedule_fires where schedule_id = %s", schedule)
    assert "The job was started." in seen.text
    assert "manual" in seen.text
    assert f"/jobs/{job}" in seen.html


def test_a_backfill_starts_nothing_before_it_is_agreed_to(viewers: Viewers) -> None:
    schedule = created(viewers, "Backfill", cron_expr="0 0 * * *", timezone="UTC")
    days: Form = {"since": "2026-01-01T00:00", "until": "2026-01-03T00:00"}
    fires = "select count(*) from schedule_fires where schedule_id = %s"

    shown = viewers.admin.post(f"/schedules/{schedule}/backfill", **days)
    assert "3 jobs would be started" in shown.text
    assert viewers.world.value(fires, schedule) == 0

    assert "3 jobs were started." in viewers.admin.post(f"/schedules/{schedule}/backfill", **days, agreed="yes").text
    assert viewers.world.value(fires, schedule) == 3
    assert viewers.admin.post(f"/schedules/{schedule}/backfill").status == 422


def test_it_is_deleted(viewers: Viewers) -> None:
    schedule = created(viewers, "Deleted")

    assert "The schedule was deleted." in viewers.admin.post(f"/schedules/{schedule}/delete").text
    assert viewers.admin.get(f"/schedules/{schedule}").status == 404


@pytest.mark.parametrize("change", ["edit", "pause", "resume", "run", "backfill", "delete"])
def test_who_may_not_change_it_is_refused(viewers: Viewers, change: str) -> None:
    schedule = created(viewers, f"Not yours to {change}")
    before = stored(viewers, schedule)
    form: Form = {
        "label": "x",
        "type": "greet_person",
        "cron_expr": "@daily",
        "since": "2026-01-01",
        "until": "2026-01-02",
    }

    assert viewers.member.post(f"/schedules/{schedule}/{change}", **form).status == 403
    assert viewers.stranger.post(f"/schedules/{schedule}/{change}", **form).status == 404
    assert stored(viewers, schedule) == before
    assert f"/schedules/{schedule}/{change}" not in viewers.member.get(f"/schedules/{schedule}").html


def test_a_member_creates_none_and_whoever_sees_all_tenants_chooses_one(viewers: Viewers) -> None:
    form: Form = {"label": "A member's", "type": "greet_person", "cron_expr": "@daily"}

    assert viewers.member.post("/schedules/new", **form).status == 403
    assert viewers.operator.post("/schedules/new", **form).status == 400
    assert "Choose a tenant" in viewers.operator.get("/schedules/new").text
    assert viewers.stranger.post(f"/schedules/new?tenant={viewers.acme}", **form).status == 403
    assert "was created" in viewers.operator.post(f"/schedules/new?tenant={viewers.acme}", **form).text


def test_older_fires_are_on_the_next_page(viewers: Viewers) -> None:
    schedule = created(viewers, "Many", cron_expr="0 * * * *", timezone="UTC")
    viewers.world.service.schedules.backfill_schedule(schedule, "2026-01-01T00:00Z", "2026-01-02T00:00Z", dry_run=False)

    first = viewers.member.get(f"/schedules/{schedule}")
    older = viewers.member.get(f"/schedules/{schedule}", before="2026-01-01T05:00:00+00:00")

    assert "Next page" in first.text
    assert "2026-01-01 04:00:00" in older.text
    assert "2026-01-01 05:00:00" not in older.text
    assert viewers.member.get(f"/schedules/{schedule}", before="nonsense").status == 400
