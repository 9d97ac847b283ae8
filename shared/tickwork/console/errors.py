"""Errors: failed and dead jobs in groups, the most frequent first."""

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from tickwork.console.filters import written
from tickwork.console.page import Page, Shown

if TYPE_CHECKING:
    from tickwork.console.view import View

# How far back, and how many steps the sparkline has.
WINDOWS = {"1h": (1, 12), "24h": (24, 24), "7d": (168, 28), "30d": (720, 30)}


def errors_page(view: "View") -> Shown:
    window = view.query.get("window", "24h")
    hours, steps = WINDOWS.get(window, WINDOWS["24h"])
    since = datetime.now(UTC) - timedelta(hours=hours)
    errors = view.rows("list_errors", tenant_id=view.tenant_id, since=since, steps=steps)
    groups = [{**error, "q": filter_of(error, window)} for error in errors]
    return view.show("errors.html", groups=groups, windows=WINDOWS, window=window)


def filter_of(error: Any, window: str) -> str:
    return written(error=error["error_code"], message=error["error_message"], since=window)


PAGES = (Page("GET", "/errors", errors_page),)
