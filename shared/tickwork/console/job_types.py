"""Types of job: everybody sees them, platform admins change them."""

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from psycopg.rows import DictRow

from tickwork.console.page import Page, Redirect, Refused, Shown
from tickwork.errors import InvalidRequest, QueueError

if TYPE_CHECKING:
    from tickwork.console.view import View

FIELDS = (
    *("description", "timeout_seconds", "max_attempts", "lease_seconds", "priority", "enqueued_by", "max_running"),
    *("max_running_per_tenant", "starts_per_minute"),
)
LISTS = ("follow_ups", "redacted", "not_redacted")
JSONS = ("payload_schema", "result_schema", "backoff", "keep_days")
# Exact, as the database writes them.
TEXTS = "".join(f", jsonb_pretty({name}) as {name}_text" for name in JSONS)
ENQUEUED_BY = ("member", "admin", "service")
# JSON as it was typed: no number in it goes through Python.
CHANGE = f"""
    select *
    from public.change_job_type(
      %(type)s, %(changes)s::jsonb || jsonb_build_object({", ".join(f"'{name}', %({name})s::jsonb" for name in JSONS)})
    )
"""


def types_page(view: "View") -> Shown:
    return view.show("job_types.html", types=view.rows("list_job_types"))


def type_page(view: "View", key: str) -> Shown:
    found = job_type(view, key)
    stored = {**found, **{name: found[f"{name}_text"] for name in JSONS}}
    stored |= {name: "\n".join(found[name]) for name in LISTS}
    return shown(view, found, stored)


def change_type(view: "View", key: str) -> Shown | Redirect:
    found = job_type(view, key)
    changes: dict[str, Any] = {name: view.typed(name) for name in FIELDS}
    changes |= {"description": view.typed("description") or "", "is_active": view.form.get("is_active") == "yes"}
    changes |= {name: lines(view.form.get(name, "")) for name in LISTS}
    given = {"type": key, "changes": json.dumps(changes), **{name: view.typed(name) for name in JSONS}}
    try:
        with view.savepoint():
            view.select(CHANGE, given)
    except InvalidRequest as error:
        typed = {**dict.fromkeys((*FIELDS, *LISTS, *JSONS)), **view.form, "is_active": changes["is_active"]}
        return shown(view, found, typed, error)
    return Redirect(view.url(f"/types/{key}"), view.say("The type was changed."))


def lines(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip()]


def job_type(view: "View", key: str) -> DictRow:
    rows = view.select(f"select *{TEXTS} from public.list_job_types() where key = %(key)s", {"key": key})
    if not rows:
        raise Refused(404, view.say("There is no such type."))
    return rows[0]


def shown(view: "View", found: DictRow, typed: Mapping[str, Any], error: QueueError | None = None) -> Shown:
    options = {each: each for each in ENQUEUED_BY}
    return view.show("job_type.html", 422 if error else 200, type=found, typed=typed, error=error, options=options)


PAGES = (
    Page("GET", "/types", types_page),
    Page("GET", "/types/{key}", type_page),
    Page("POST", "/types/{key}", change_type),
)
