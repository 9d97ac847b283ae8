"""Schedules: the list, one of them, and the form with its preview."""

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any

from tickwork.console.holds import Hold, holds, in_the_way
from tickwork.console.page import Page, Shown
from tickwork.errors import QueueError

if TYPE_CHECKING:
    from tickwork.console.view import View

FIRES = 20
PREVIEWED = 10
NUMBERS = ("catch_up_seconds", "spread_seconds", "priority", "pause_after_failures")
TIMES = ("starts_at", "ends_at")
FIELDS = ("label", "type", "cron_expr", "timezone", "overlap", "missed", "lane", *NUMBERS)
# What create_schedule takes for what is left out.
NEW: Mapping[str, Any] = {
    **dict.fromkeys((*FIELDS, *TIMES)),
    **{"overlap": "skip", "missed": "latest", "catch_up_seconds": 3600, "spread_seconds": 0, "payload_template": "{}"},
}
PAYLOAD = ", jsonb_pretty(payload_template) as payload_text"
ZONE = "select timezone from public.tenant_settings where tenant_id = %(tenant_id)s"


def schedules_page(view: "View") -> Shown:
    listed = view.all_rows("list_schedules")
    names = view.names_of(listed["rows"]) if view.tenant_id is None else {}
    return view.show("schedules.html", **listed, names=names, paused=obstacles(view))


def obstacles(view: "View") -> Callable[[Any], list[Hold]]:
    """For a schedule: what keeps its jobs from starting."""
    found = holds(view)
    families = {row["key"]: row["family"] for row in view.rows("list_job_types")} if found else {}
    return lambda row: in_the_way(found, row["type"], families.get(row["type"]), row["tenant_id"], row.get("lane"))


def schedule_page(view: "View", schedule_id: str) -> Shown:
    schedule = view.row("get_schedule", PAYLOAD, schedule_id=view.id_of(schedule_id))
    fires = view.rows(
        "list_schedule_fires", schedule_id=schedule["id"], nominal_before=view.query.get("before"), max_rows=FIRES
    )
    next_fires, _ = previewed(view, schedule["cron_expr"], schedule["timezone"])
    older = view.here(before=fires[-1]["nominal_at"].isoformat()) if len(fires) == FIRES else None
    return view.show(
        "schedule.html",
        schedule=schedule,
        fires=fires,
        next_fires=next_fires,
        older=older,
        paused=obstacles(view)(schedule),
    )


def history_page(view: "View", schedule_id: str) -> Shown:
    schedule = view.row("get_schedule", schedule_id=view.id_of(schedule_id))
    changes = view.history(schedule["tenant_id"], f"schedules {schedule['id']}")
    return view.show("history.html", name=schedule["label"], back=f"/schedules/{schedule['id']}", changes=changes)


def new_page(view: "View") -> Shown:
    return form(view, {**NEW, **view.query}, "/schedules/new")


def edit_page(view: "View", schedule_id: str) -> Shown:
    schedule = view.row("get_schedule", PAYLOAD, schedule_id=view.id_of(schedule_id))
    stored = {**schedule, "payload_template": schedule["payload_text"]}
    stored |= {name: local(view, schedule[name]) for name in TIMES}
    return form(view, {**stored, **view.query}, f"/schedules/{schedule['id']}/edit", tenant_id=schedule["tenant_id"])


def form(
    view: "View", typed: Mapping[str, Any], path: str, error: QueueError | None = None, tenant_id: Any = None
) -> Shown:
    zones = view.select(ZONE, {"tenant_id": tenant_id or view.tenant_id})
    zone = zones[0]["timezone"] if zones else "UTC"
    fires, wrong = previewed(view, typed["cron_expr"] or "", typed["timezone"] or zone)
    return view.show(
        "schedule_form.html",
        422 if error else 200,
        typed=typed,
        path=path,
        error=error,
        zone=zone,
        types=view.rows("list_job_types"),
        fires=fires,
        wrong=wrong,
    )


def previewed(view: "View", cron_expr: str, timezone: str) -> tuple[list[Any], QueueError | None]:
    """The next times, or what is wrong with the expression or the zone."""
    if not cron_expr:
        return [], None
    try:
        with view.savepoint():
            return view.rows("preview_schedule", cron_expr=cron_expr, timezone=timezone, times=PREVIEWED), None
    except QueueError as error:
        return [], error


def local(view: "View", time: datetime | None) -> str:
    """As a field for a date and time has it."""
    return time.astimezone(view.preferences.zone).strftime("%Y-%m-%dT%H:%M:%S") if time else ""


PAGES = (
    Page("GET", "/schedules", schedules_page),
    Page("GET", "/schedules/new", new_page, needs_tenant=True),
    Page("GET", "/schedules/{schedule_id}", schedule_page),
    Page("GET", "/schedules/{schedule_id}/edit", edit_page),
    Page("GET", "/schedules/{schedule_id}/history", history_page),
)
