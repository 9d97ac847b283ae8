"""Imports: connected drives, their runs, and files that could not be imported."""

from typing import TYPE_CHECKING

from tickwork.console.page import Page, Redirect, Shown
from tickwork.console.webhooks import only

if TYPE_CHECKING:
    from tickwork.console.view import View

RUNS = 20
FAILURES = 100
CONNECTOR = "select * from public.list_connectors() where id = %(id)s"
# There is no verb for these: row-level security decides what is seen.
FAILED = """
    select item_id, path, name, reason, message, tries, job_id, updated_at
    from public.imported_items
    where connector_id = %(connector_id)s and status = 'failed'
    order by folder
    limit %(limit)s
"""


def imports_page(view: "View") -> Shown:
    return view.show("imports.html", **view.all_rows("list_connectors"))


def import_page(view: "View", connector_id: str) -> Shown:
    connector = only(view, CONNECTOR, connector_id)
    lane = f"connector:{connector['id']}"
    runs = view.rows(
        "list_jobs", tenant_id=connector["tenant_id"], type=f"import_{connector['provider']}", lane=lane, max_jobs=RUNS
    )
    failures = view.select(FAILED, {"connector_id": connector["id"], "limit": FAILURES})
    return view.show("import.html", connector=connector, runs=runs, failures=failures, is_cut=len(failures) == FAILURES)


def request_import(view: "View", connector_id: str) -> Redirect:
    path = view.form.get("remote_path", "").strip()
    view.rows("request_import", connector_id=view.id_of(connector_id), remote_path=path)
    return Redirect(view.url(f"/imports/{connector_id}"), view.say("The import was requested."))


PAGES = (
    Page("GET", "/imports", imports_page, module="imports"),
    Page("GET", "/imports/{connector_id}", import_page, module="imports"),
    Page("POST", "/imports/{connector_id}/request", request_import, module="imports"),
)
