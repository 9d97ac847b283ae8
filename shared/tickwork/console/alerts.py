"""Alerts: what is wrong and what was, and the rules that say so. For platform admins."""

from math import isfinite, nan
from typing import TYPE_CHECKING

from tickwork.console.export import exported, is_export
from tickwork.console.page import Page, Redirect, Refused, Shown

if TYPE_CHECKING:
    from tickwork.console.view import View

COLUMNS = ("id", "rule", "severity", "message", "opened_at", "closed_at", "value", "worst")
SEVERITIES = ("warning", "critical")
MAX_SHOWN = 100


def alerts_page(view: "View") -> Shown:
    if is_export(view):
        return exported(view, "alerts", COLUMNS, view.rows("list_alerts", max_alerts=1000))
    alerts = view.rows("list_alerts", max_alerts=MAX_SHOWN)
    return view.show(
        "alerts.html",
        open=view.rows("list_alerts", only_open=True),
        past=[alert for alert in alerts if alert["closed_at"]],
        rules=view.rows("list_alert_rules"),
        severities=SEVERITIES,
    )


def change_rule(view: "View", key: str) -> Redirect:
    view.row(
        "change_alert_rule",
        key=key,
        threshold=number_in(view, "threshold"),
        closes_at=number_in(view, "closes_at"),
        for_seconds=seconds_in(view, "for_seconds"),
        severity=view.form.get("severity") or None,
        is_on=view.form.get("is_on") == "yes",
    )
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
