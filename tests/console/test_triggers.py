"""Triggers in the console: seen, tested, changed, and by whom."""

from typing import Any
from uuid import UUID, uuid4

import pytest

from tests.console.conftest import Viewers

Form = dict[str, Any]
HOSTILE = "<img src=x onerror=alert(1)>"


def created(viewers: Viewers, label: str, event_name: str = "invoice.paid", **given: Any) -> UUID:
    row = viewers.world.service.triggers.create_event_trigger(viewers.acme, label, event_name, "greet_person", **given)
    found: UUID = row["id"]
    return found


def stored(viewers: Viewers, trigger: UUID) -> dict[str, Any]:
    return viewers.world.row("select * from event_triggers where id = %s", trigger)


def test_a_tenants_own_see_the_trigger_and_nobody_else(viewers: Viewers) -> None:
    trigger = created(viewers, HOSTILE, condition='$.event.name == "<b>"', payload_template={"name": HOSTILE})

    for browser in (viewers.admin, viewers.member, viewers.operator):
        listed, shown = browser.get("/triggers"), browser.get(f"/triggers/{trigger}")
        assert HOSTILE in listed.text
        assert HOSTILE in shown.text
        assert HOSTILE not in listed.html + shown.html
    assert HOSTILE not in viewers.stranger.get("/triggers").text
    for page in ("", "/edit", "/history"):
        assert viewers.stranger.get(f"/triggers/{trigger}{page}").status == 404
        assert viewers.admin.get(f"/triggers/{uuid4()}{page}").status == 404


def test_an_admin_creates_and_changes_one(viewers: Viewers) -> None:
    form: Form = {"label": "Greet payers", "event_name": "invoice.paid", "type": "greet_person"}
    template = '{"name": "{{event.name}}"}'

    seen = viewers.admin.post("/triggers/new", **form, payload_template=template, sample='{"name": "Ada"}')

    assert "The trigger was created." in seen.text
    trigger = viewers.world.value("select id from event_triggers where label = 'Greet payers'")
    form |= {"dedupe_window_seconds": "0", "debounce_max_seconds": "60", "delay_seconds": "5", "max_per_minute": "9"}
    seen = viewers.admin.post(
        f"/triggers/{trigger}/edit", **form, condition="$.event.amount > 1", payload_template="{}"
    )
    assert "The trigger was changed." in seen.text
    row = stored(viewers, trigger)
    assert (row["max_per_minute"], row["delay_seconds"], row["dedupe_window_seconds"]) == (9, 5, 0)
    assert (row["condition"], row["payload_template"]) == ("$.event.amount > 1", {})
    assert "event_triggers.changed" in viewers.admin.get(f"/triggers/{trigger}/history").text


@pytest.mark.parametrize(
    "wrong",
    [
        {"event_name": "not a name"},
        {"condition": "$.event.amount >"},
        {"payload_template": "{oops"},
        {"payload_template": '{"name": "{{event.name}}"}', "sample": '{"name": 1}'},
        {"max_per_minute": "many"},
    ],
)
def test_what_was_typed_stays_if_it_is_refused(viewers: Viewers, wrong: dict[str, Any]) -> None:
    form: Form = {"label": "Refused " + HOSTILE, "event_name": "a.b", "type": "greet_person", **wrong}

    seen = viewers.admin.post("/triggers/new", **form)

    assert seen.status == 422
    assert 'role="alert"' in seen.html
    assert "Refused &lt;img" in seen.html


def test_an_event_is_tested_against_all_triggers(viewers: Viewers) -> None:
    created(
        viewers,
        "Large ones",
        "test.paid",
        condition="$.event.amount > 100",
        payload_template={"name": "{{event.name}}"},
    )
    created(viewers, "All of them", "test.*")
    created(viewers, "Something else", "test2.paid")
    paused = created(viewers, "Asleep", "test.paid")
    viewers.world.service.triggers.pause_event_triggers([paused])
    jobs = viewers.world.value("select count(*) from jobs")

    large = viewers.member.get("/triggers/test", type="test.paid", payload='{"amount": 500, "name": "<b>Ada"}')
    small = viewers.member.get("/triggers/test", type="test.paid", payload='{"amount": 5}')

    assert "The job would start." in large.text
    assert "<b>Ada" in large.text
    assert "&lt;b&gt;Ada" in large.html
    assert "It waits for other events." in large.text
    assert "It is paused." in large.text
    assert "Its condition is not true for this event." in small.text
    assert viewers.world.value("select count(*) from jobs") == jobs
    assert viewers.member.get("/triggers/test", type="test.paid", payload="{oops").status == 422
    assert viewers.stranger.get("/triggers/test", type="test.paid", tenant=viewers.acme).status == 403
    assert "Choose a tenant" in viewers.operator.get("/triggers/test").text


def test_recent_events_are_shown_with_what_was_decided(viewers: Viewers) -> None:
    trigger = created(viewers, "Decisions", "decided.here", condition="$.event.amount > 100")
    viewers.world.service.events.emit_event(viewers.acme, "decided.here", None, {"amount": 500})
    viewers.world.service.events.emit_event(viewers.acme, "decided.here", None, {"amount": 5})

    seen = viewers.member.get(f"/triggers/{trigger}")

    job = viewers.world.value("select job_id from trigger_fires where trigger_id = %s and outcome = 'fired'", trigger)
    assert f"/jobs/{job}" in seen.html
    assert "condition_false" in seen.text


def test_it_is_paused_resumed_and_deleted(viewers: Viewers) -> None:
    trigger = created(viewers, "Paused")

    assert "too noisy" in viewers.admin.post(f"/triggers/{trigger}/pause", note="too noisy").text
    assert stored(viewers, trigger)["paused_at"] is not None
    viewers.admin.post(f"/triggers/{trigger}/resume")
    assert stored(viewers, trigger)["paused_at"] is None
    assert "The trigger was deleted." in viewers.admin.post(f"/triggers/{trigger}/delete").text
    assert viewers.admin.get(f"/triggers/{trigger}").status == 404


@pytest.mark.parametrize("change", ["edit", "pause", "resume", "delete"])
def test_who_may_not_change_it_is_refused(viewers: Viewers, change: str) -> None:
    trigger = created(viewers, f"Not yours to {change}")
    before = stored(viewers, trigger)
    form: Form = {"label": "x", "event_name": "a.b", "type": "greet_person", "dedupe_window_seconds": "0"}

    assert viewers.member.post(f"/triggers/{trigger}/{change}", **form).status == 403
    assert viewers.stranger.post(f"/triggers/{trigger}/{change}", **form).status == 404
    assert stored(viewers, trigger) == before
    assert f"/triggers/{trigger}/{change}" not in viewers.member.get(f"/triggers/{trigger}").html


def test_a_member_creates_none(viewers: Viewers) -> None:
    form: Form = {"label": "A member's", "event_name": "a.b", "type": "greet_person"}

    assert viewers.member.post("/triggers/new", **form).status == 403
    assert viewers.stranger.post(f"/triggers/new?tenant={viewers.acme}", **form).status == 403
