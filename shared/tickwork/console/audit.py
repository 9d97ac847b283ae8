"""Audit: who did what to which, from where, before and after, and what was refused."""

from datetime import datetime
from typing import TYPE_CHECKING, Any

from psycopg.rows import DictRow

from tickwork.console.export import as_json, every_row, exported, is_export
from tickwork.console.page import Page, Refused, Shown

if TYPE_CHECKING:
    from tickwork.console.view import View

PAGE_SIZE = 50
COLUMNS = (
    *("id", "at", "tenant_id", "actor_kind", "actor_id", "actor_name", "action", "target"),
    *("before", "after", "code", "detail", "request_id", "ip", "user_agent"),
)


def audit_page(view: "View") -> Shown:
    wanted = filters(view)

    def read(after_id: Any, most: int) -> list[DictRow]:
        return view.rows("list_audit", **wanted, after_id=after_id, max_rows=most)

    if is_export(view):
        return exported(view, "audit", COLUMNS, every_row(read))
    rows = read(place_in(view), PAGE_SIZE + 1)
    shown = rows[:PAGE_SIZE]
    return view.show(
        "audit.html",
        rows=[(row, differences(row)) for row in shown],
        next=view.here(after=shown[-1]["id"]) if len(rows) > PAGE_SIZE else None,
    )


def filters(view: "View") -> dict[str, Any]:
    actor = view.query.get("actor")
    return {
        "tenant_id": view.tenant_id,
        "action": view.query.get("action"),
        "target": view.query.get("target"),
        "actor_id": view.id_of(actor) if actor else None,
        "created_after": time_in(view, "since"),
        "created_before": time_in(view, "until"),
    }


def time_in(view: "View", name: str) -> datetime | None:
    """In the viewer's zone, as the field of the form has it."""
    if not (text := view.query.get(name)):
        return None
    try:
        given = datetime.fromisoformat(text)
    except ValueError:
        raise Refused(400, view.say("The time could not be read: write it as 2026-11-18 14:30.")) from None
    return given if given.tzinfo else given.replace(tzinfo=view.preferences.zone)


def place_in(view: "View") -> int | None:
    text = view.query.get("after", "")
    if text and not (text.isascii() and text.isdigit() and len(text) < 19):
        raise Refused(404, view.say("There is nothing with this id."))
    return int(text) if text else None


def differences(row: DictRow) -> list[tuple[str, str, str]]:
    """Field by field: what it was, and what it became."""
    before, after = row["before"] or {}, row["after"] or {}
    return [(name, readable(before.get(name)), readable(after.get(name))) for name in sorted({*before, *after})]


def readable(value: Any) -> str:
    if value is None:
        return "–"
    return value if isinstance(value, str) else as_json(value)


PAGES = (Page("GET", "/audit", audit_page),)
