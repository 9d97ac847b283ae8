"""Tenants: those that the viewer may see, with their settings and what they have to do."""

from typing import TYPE_CHECKING

from tickwork.console.export import exported, is_export
from tickwork.console.page import Page, Shown

if TYPE_CHECKING:
    from tickwork.console.view import View

# The most that find_tenants returns.
MAX_TENANTS = 1000
MAX_SHOWN = 100
COLUMNS = (
    *("tenant_id", "name", "timezone", "weight", "max_running", "max_queued", "max_lanes"),
    *("keep_done_days", "keep_failed_days", "keep_dead_days", "keep_cancelled_days"),
)
# There is no verb for settings: row-level security decides what is seen.
SETTINGS = "select * from public.tenant_settings where tenant_id = any(%(ids)s)"


def tenants_page(view: "View") -> Shown:
    words = view.query.get("words", "").strip()
    most = MAX_TENANTS if is_export(view) else MAX_SHOWN + 1
    found = view.rows("find_tenants", words=words or None, max_tenants=most)
    settings = {row["tenant_id"]: row for row in view.select(SETTINGS, {"ids": [row["tenant_id"] for row in found]})}
    rows = [{**settings[row["tenant_id"]], **row} for row in found if row["tenant_id"] in settings]
    if is_export(view):
        return exported(view, "tenants", COLUMNS, rows)
    return view.show("tenants.html", words=words, rows=rows[:MAX_SHOWN], is_cut=len(found) > MAX_SHOWN)


PAGES = (Page("GET", "/tenants", tenants_page),)
