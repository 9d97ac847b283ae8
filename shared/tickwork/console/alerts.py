"""Alerts: what is wrong and what was, and the rules that say so. For platform admins."""

from math import isfinite, nan
from typing import TYPE_CHECKING, Any

from psycopg.rows import DictRow

from tickwork.console.export import every_row, exported, is_export
from tickwork.console.page import Page, Redirect, Refused, Shown
from tickwork.errors import InvalidRequest, QueueError

if TYPE_CHECKING:
    from tickwork.console.view import View

COLUMNS = ("id", "rule", "severity", "message", "opened_at", "closed_at", "value", "worst")
SEVERITIES = ("warning", "critical")
PAGE_SIZE = 50
FIELDS = ("threshold", "closes_at", "for_seconds", "severity")


def alerts_page(view: "View") -> Shown:
    if is_export(view):
        return exported(view, "alerts", COLUMNS, every_row(lambda after, size: listed(view, after, size)))
    return shown(view)


def listed(view: "View", after: Any, size: int) -> list[DictRow]:
    return view.rows("list_alerts", after_id=after, max_alerts=size)


def shown(view: "View", refused: str | None = None, error: Refused | QueueError | None = None) -> Shown:
    """The page; with the form of the rule that was refused as it was typed."""
    after = view.id_of(view.query["after"]) if "after" in view.query else None
    alerts = listed(view, after, PAGE_SIZE + 1)
    page = alerts[:PAGE_SIZE]
    typed = {**dict.fromkeys(FIELDS, ""), **view.form, "is_on": view.form.get("is_on") == "yes"}
    return view.show(
        "alerts.html",
        422 if error else 200,
        open=view.rows("list_alerts", only_open=True),
        past=[alert for alert in page if alert["closed_at"]],
        next=view.here(after=page[-1]["id"]) if len(alerts) > PAGE_SIZE else None,
        rules=view.rows("list_alert_rules"),
        severities=SEVERITIES,
        refused=refused,
        typed=typed,
        error=error,
    )


def change_rule(view: "View", key: str) -> Shown | Redirect:
    try:
        with view.savepoint():
            view.row(
                "change_alert_rule",
                key=key,
                threshold=number_in(view, "threshold"),
                closes_at=number_in(view, "closes_at"),
                for_seconds=seconds_in(view, "for_seconds"),
                severity=view.form.get("severity") or None,
                is_on=view.form.get("is_on") == "yes",
            )
    except (Refused, InvalidRequest) as error:
        # What its links and its refresh lead to.
        view.path = "/alerts"
        return shown(view, key, error)
    return Redirect(view.url("/alerts"), said=view.say("The rule {} was changed.", key))


def number_in(view: "View", field: str) -> float | None:
    if not (text := view.form.get(field, "").strip()):
        return None
    try:
        given = float(text)
    except ValueError:
        given = nan
    if not isfinite(given):
        raise Refused(400, view.say("{}: must be a number.", field))
    return given


def seconds_in(view: "View", field: str) -> int | None:
    given = number_in(view, field)
    if given is not None and not 0 <= given <= 86_400:
        raise Refused(400, view.say("{}: must be 0 to 86400 seconds.", field))
    return None if given is None else int(given)


PAGES = (
    Page("GET", "/alerts", alerts_page),
    Page("POST", "/alerts/{key}", change_rule),
)
