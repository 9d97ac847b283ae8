"""Types of job: everybody sees them, platform admins create and change them."""

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from psycopg.rows import DictRow

from tickwork.console.holds import holds, in_the_way
from tickwork.console.page import Page, Redirect, Refused, Shown
from tickwork.errors import InvalidRequest, QueueError, WrongStatus

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
OPTIONS = {each: each for each in ("member", "admin", "service")}
# What create_job_type takes for what is left out.
NEW: Mapping[str, Any] = {
    **dict.fromkeys((*FIELDS, *LISTS, *JSONS)),
    **{"key": None, "family": "command", "timeout_seconds": 300, "max_attempts": 4, "lease_seconds": 60, "priority": 0},
    **{"enqueued_by": "admin", "backoff": "[60, 300, 1800]", "keep_days": "{}", "is_active": True},
}
# JSON as it was typed: no number in it goes through Python.
CHANGE = f"""
    select *
    from public.change_job_type(
      %(type)s, %(changes)s::jsonb || jsonb_build_object({", ".join(f"'{name}', %({name})s::jsonb" for name in JSONS)})
    )
"""


def types_page(view: "View") -> Shown:
    types, found = view.rows("list_job_types"), holds(view)
    paused = {type["key"]: in_the_way(found, type["key"], type["family"]) for type in types}
    return view.show("job_types.html", types=types, paused=paused)


def type_page(view: "View", key: str) -> Shown:
    found = job_type(view, key)
    stored = {**found, **{name: found[f"{name}_text"] for name in JSONS}}
    stored |= {name: "\n".join(found[name]) for name in LISTS}
    return shown(view, found, stored)


def new_type_page(view: "View") -> Shown:
    return new_type_form(view, NEW)


def new_type_form(view: "View", typed: Mapping[str, Any], error: QueueError | None = None) -> Shown:
    families = sorted({type["family"] for type in view.rows("list_job_types")})
    status = 422 if error else 200
    return view.show("new_job_type.html", status, typed=typed, error=error, options=OPTIONS, families=families)


def create_type(view: "View") -> Shown | Redirect:
    key = view.typed("key", "")
    given = {name: value for name, value in typed_fields(view).items() if value is not None}
    given |= {name: view.typed(name) for name in JSONS if view.typed(name)}
    passed = ", ".join(f"{name} => %({name})s{'::jsonb' if name in JSONS else ''}" for name in given)
    query = f"select * from public.create_job_type(key => %(key)s, family => %(family)s, {passed})"
    try:
        with view.savepoint():
            view.select(query, {**given, "key": key, "family": view.typed("family", "")})
    except (InvalidRequest, WrongStatus) as error:
        return new_type_form(view, {**NEW, **view.form, "is_active": given["is_active"]}, error)
    return Redirect(view.url(f"/types/{key}"), view.say("The type was created."))


def change_type(view: "View", key: str) -> Shown | Redirect:
    found = job_type(view, key)
    changes = typed_fields(view)
    given = {"type": key, "changes": json.dumps(changes), **{name: view.typed(name) for name in JSONS}}
    try:
        with view.savepoint():
            view.select(CHANGE, given)
    except InvalidRequest as error:
        typed = {**dict.fromkeys((*FIELDS, *LISTS, *JSONS)), **view.form, "is_active": changes["is_active"]}
        return shown(view, found, typed, error)
    return Redirect(view.url(f"/types/{key}"), view.say("The type was changed."))


def typed_fields(view: "View") -> dict[str, Any]:
    """All but those that are JSON."""
    return {
        **{name: view.typed(name) for name in FIELDS},
        **{name: lines(view.form.get(name, "")) for name in LISTS},
        "description": view.typed("description") or "",
        "is_active": view.form.get("is_active") == "yes",
    }


def lines(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip()]


def job_type(view: "View", key: str) -> DictRow:
    rows = view.select(f"select *{TEXTS} from public.list_job_types() where key = %(key)s", {"key": key})
    if not rows:
        raise Refused(404, view.say("There is no such type."))
    return rows[0]


def shown(view: "View", found: DictRow, typed: Mapping[str, Any], error: QueueError | None = None) -> Shown:
    paused = in_the_way(holds(view), found["key"], found["family"])
    status = 422 if error else 200
    return view.show("job_type.html", status, type=found, typed=typed, error=error, options=OPTIONS, paused=paused)


PAGES = (
    Page("GET", "/types", types_page),
    # Not below /types, where it could be the key of a type.
    Page("GET", "/new-type", new_type_page),
    Page("POST", "/new-type", create_type),
    Page("GET", "/types/{key}", type_page),
    Page("POST", "/types/{key}", change_type),
)
