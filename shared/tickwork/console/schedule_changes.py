"""Changes of schedules: created, changed, paused, resumed, run, backfilled, deleted."""

import json
from typing import TYPE_CHECKING, Any

from tickwork.console.page import Page, Redirect, Shown
from tickwork.console.schedules import FIELDS, NEW, TIMES, form
from tickwork.errors import InvalidRequest, WrongStatus

if TYPE_CHECKING:
    from tickwork.console.view import View

# The payload as it was typed: no number in it goes through Python.
CHANGE = """
    select *
    from public.change_schedule(
      %(schedule_id)s, %(changes)s::jsonb || jsonb_build_object('payload_template', %(payload_template)s::jsonb)
    )
"""


def create_schedule(view: "View") -> Shown | Redirect:
    try:
        with view.savepoint():
            created = view.row("create_schedule", tenant_id=view.tenant_id, **typed(view))
    except (InvalidRequest, WrongStatus) as error:
        return form(view, {**NEW, **view.form}, "/schedules/new", error)
    return Redirect(view.url(f"/schedules/{created['id']}"), view.say("The schedule was created."))


def change_schedule(view: "View", schedule_id: str) -> Shown | Redirect:
    schedule = view.row("get_schedule", schedule_id=view.id_of(schedule_id))
    changes = typed(view)
    payload = changes.pop("payload_template")
    given = {"schedule_id": schedule["id"], "changes": json.dumps(changes, default=str), "payload_template": payload}
    path = f"/schedules/{schedule['id']}"
    try:
        with view.savepoint():
            view.select(CHANGE, given)
    except (InvalidRequest, WrongStatus) as error:
        return form(view, {**NEW, **view.form}, f"{path}/edit", error, schedule["tenant_id"])
    return Redirect(view.url(path), view.say("The schedule was changed."))


def typed(view: "View") -> dict[str, Any]:
    values = {name: view.typed(name) for name in FIELDS} | {name: view.typed_time(name) for name in TIMES}
    return {**values, "payload_template": view.typed("payload_template", "{}")}


def pause_schedule(view: "View", schedule_id: str) -> Redirect:
    view.rows("pause_schedules", schedule_ids=[view.id_of(schedule_id)], note=view.typed("note"))
    return Redirect(view.url(f"/schedules/{schedule_id}"), view.say("The schedule is paused."))


def resume_schedule(view: "View", schedule_id: str) -> Redirect:
    view.rows("resume_schedules", schedule_ids=[view.id_of(schedule_id)])
    return Redirect(view.url(f"/schedules/{schedule_id}"), view.say("The schedule starts jobs again."))


def run_schedule(view: "View", schedule_id: str) -> Redirect:
    fire = view.row("run_schedule", schedule_id=view.id_of(schedule_id))
    said = view.say("The job was refused: {}", fire["error"]) if fire["error"] else view.say("The job was started.")
    return Redirect(view.url(f"/schedules/{schedule_id}"), said)


def backfill_schedule(view: "View", schedule_id: str) -> Shown | Redirect:
    """First what would start, and then, if the viewer agrees, it starts."""
    is_agreed = view.form.get("agreed") == "yes"
    fires = view.rows(
        "backfill_schedule",
        schedule_id=view.id_of(schedule_id),
        since=view.typed_time("since") or "infinity",
        until=view.typed_time("until") or "infinity",
        dry_run=not is_agreed,
    )
    if not is_agreed:
        schedule = view.row("get_schedule", schedule_id=view.id_of(schedule_id))
        return view.show("backfill.html", schedule=schedule, fires=fires, form=view.form)
    started = sum(fire["job_id"] is not None for fire in fires)
    return Redirect(view.url(f"/schedules/{schedule_id}"), view.say("{} jobs were started.", started))


def delete_schedule(view: "View", schedule_id: str) -> Redirect:
    view.rows("delete_schedule", schedule_id=view.id_of(schedule_id))
    return Redirect(view.url("/schedules"), view.say("The schedule was deleted."))


PAGES = (
    Page("POST", "/schedules/new", create_schedule, needs_tenant=True),
    Page("POST", "/schedules/{schedule_id}/edit", change_schedule),
    Page("POST", "/schedules/{schedule_id}/pause", pause_schedule),
    Page("POST", "/schedules/{schedule_id}/resume", resume_schedule),
    Page("POST", "/schedules/{schedule_id}/run", run_schedule),
    Page("POST", "/schedules/{schedule_id}/backfill", backfill_schedule),
    Page("POST", "/schedules/{schedule_id}/delete", delete_schedule),
)
