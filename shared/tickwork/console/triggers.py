"""Triggers: the list, one of them, the form, and what an event would do."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from tickwork.console.page import Page, Shown
from tickwork.console.schedules import PAYLOAD
from tickwork.errors import InvalidRequest, QueueError

if TYPE_CHECKING:
    from tickwork.console.view import View

FIRES = 50
NUMBERS = (
    *("dedupe_window_seconds", "debounce_seconds", "debounce_max_seconds", "max_per_minute", "delay_seconds"),
    "priority",
)
FIELDS = ("label", "event_name", "type", "condition", "dedupe_key", "lane", *NUMBERS)
# What create_event_trigger takes for what is left out.
NEW: Mapping[str, Any] = {
    **dict.fromkeys((*FIELDS, "sample")),
    **{"dedupe_window_seconds": 300, "debounce_max_seconds": 3600, "delay_seconds": 0, "payload_template": "{}"},
}


def triggers_page(view: "View") -> Shown:
    return view.show("triggers.html", **view.all_rows("list_event_triggers"))


def trigger_page(view: "View", trigger_id: str) -> Shown:
    trigger = view.row("get_event_trigger", PAYLOAD, trigger_id=view.id_of(trigger_id))
    fires = view.rows(
        "list_trigger_fires", trigger_id=trigger["id"], decided_before=view.query.get("before"), max_rows=FIRES
    )
    older = view.here(before=fires[-1]["decided_at"].isoformat()) if len(fires) == FIRES else None
    return view.show("trigger.html", trigger=trigger, fires=fires, older=older)


def history_page(view: "View", trigger_id: str) -> Shown:
    trigger = view.row("get_event_trigger", trigger_id=view.id_of(trigger_id))
    changes = view.history(trigger["tenant_id"], f"event_triggers {trigger['id']}")
    return view.show("history.html", name=trigger["label"], back=f"/triggers/{trigger['id']}", changes=changes)


def new_page(view: "View") -> Shown:
    return form(view, {**NEW, **view.query}, "/triggers/new")


def edit_page(view: "View", trigger_id: str) -> Shown:
    trigger = view.row("get_event_trigger", PAYLOAD, trigger_id=view.id_of(trigger_id))
    stored = {**NEW, **trigger, "payload_template": trigger["payload_text"]}
    return form(view, stored, f"/triggers/{trigger['id']}/edit")


def form(view: "View", typed: Mapping[str, Any], path: str, error: QueueError | None = None) -> Shown:
    types = view.rows("list_job_types")
    return view.show("trigger_form.html", 422 if error else 200, typed=typed, path=path, error=error, types=types)


def test_page(view: "View") -> Shown:
    """Nothing is emitted, so the event is in the address, to be passed on."""
    typed = {"type": "", "aggregate": "", "payload": "{}", **view.query}
    outcomes, error = None, None
    if typed["type"]:
        try:
            with view.savepoint():
                outcomes = view.rows(
                    "test_event",
                    ", jsonb_pretty(job_payload) as payload_text",
                    tenant_id=view.tenant_id,
                    type=typed["type"],
                    payload=typed["payload"],
                    aggregate=typed["aggregate"] or None,
                )
        except InvalidRequest as refusal:
            error = refusal
    return view.show("test_event.html", 422 if error else 200, typed=typed, outcomes=outcomes, error=error)


PAGES = (
    Page("GET", "/triggers", triggers_page, module="webhooks"),
    Page("GET", "/triggers/new", new_page, module="webhooks", needs_tenant=True),
    Page("GET", "/triggers/test", test_page, module="webhooks", needs_tenant=True),
    Page("GET", "/triggers/{trigger_id}", trigger_page, module="webhooks"),
    Page("GET", "/triggers/{trigger_id}/edit", edit_page, module="webhooks"),
    Page("GET", "/triggers/{trigger_id}/history", history_page, module="webhooks"),
)
