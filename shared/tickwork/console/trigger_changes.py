"""Changes of triggers: created, changed, paused, resumed, deleted."""

import json
from typing import TYPE_CHECKING

from tickwork.console.page import Page, Redirect, Shown
from tickwork.console.triggers import FIELDS, NEW, form
from tickwork.errors import InvalidRequest, WrongStatus

if TYPE_CHECKING:
    from tickwork.console.view import View

# The payload as it was typed: no number in it goes through Python.
CHANGE = """
    select *
    from public.change_event_trigger(
      %(trigger_id)s, %(changes)s::jsonb || jsonb_build_object('payload_template', %(payload_template)s::jsonb),
      %(sample)s::jsonb
    )
"""


def create_trigger(view: "View") -> Shown | Redirect:
    try:
        with view.savepoint():
            created = view.row(
                "create_event_trigger",
                tenant_id=view.tenant_id,
                payload_template=view.typed("payload_template", "{}"),
                sample=view.typed("sample"),
                **{name: view.typed(name) for name in FIELDS},
            )
    except (InvalidRequest, WrongStatus) as error:
        return form(view, {**NEW, **view.form}, "/triggers/new", error)
    return Redirect(view.url(f"/triggers/{created['id']}"), view.say("The trigger was created."))


def change_trigger(view: "View", trigger_id: str) -> Shown | Redirect:
    path = f"/triggers/{view.id_of(trigger_id)}"
    given = {
        "trigger_id": view.id_of(trigger_id),
        "changes": json.dumps({name: view.typed(name) for name in FIELDS}),
        "payload_template": view.typed("payload_template", "{}"),
        "sample": view.typed("sample"),
    }
    try:
        with view.savepoint():
            view.select(CHANGE, given)
    except (InvalidRequest, WrongStatus) as error:
        return form(view, {**NEW, **view.form}, f"{path}/edit", error)
    return Redirect(view.url(path), view.say("The trigger was changed."))


def pause_trigger(view: "View", trigger_id: str) -> Redirect:
    view.rows("pause_event_triggers", trigger_ids=[view.id_of(trigger_id)], note=view.typed("note"))
    return Redirect(view.url(f"/triggers/{trigger_id}"), view.say("The trigger is paused."))


def resume_trigger(view: "View", trigger_id: str) -> Redirect:
    view.rows("resume_event_triggers", trigger_ids=[view.id_of(trigger_id)])
    return Redirect(view.url(f"/triggers/{trigger_id}"), view.say("The trigger starts jobs again."))


def delete_trigger(view: "View", trigger_id: str) -> Redirect:
    view.rows("delete_event_trigger", trigger_id=view.id_of(trigger_id))
    return Redirect(view.url("/triggers"), view.say("The trigger was deleted."))


PAGES = (
    Page("POST", "/triggers/new", create_trigger, module="webhooks", needs_tenant=True),
    Page("POST", "/triggers/{trigger_id}/edit", change_trigger, module="webhooks"),
    Page("POST", "/triggers/{trigger_id}/pause", pause_trigger, module="webhooks"),
    Page("POST", "/triggers/{trigger_id}/resume", resume_trigger, module="webhooks"),
    Page("POST", "/triggers/{trigger_id}/delete", delete_trigger, module="webhooks"),
)
