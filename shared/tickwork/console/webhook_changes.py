"""Changes of endpoints: created, changed, given a new secret, deleted."""

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from tickwork.console.page import Page, Redirect, Shown
from tickwork.console.webhooks import ENDPOINT, only
from tickwork.errors import InvalidRequest, QueueError
from tickwork.tools import sealed_verbs

if TYPE_CHECKING:
    from tickwork.console.view import View

FIELDS = ("url", "description", "header_prefix", "format", "timeout_seconds")
# What create_webhook_endpoint takes for what is left out.
NEW: Mapping[str, Any] = {
    **{"url": None, "description": None, "event_types": None, "status": "active"},
    **{"header_prefix": "X-BPC-", "format": "standard", "timeout_seconds": 30},
}


def new_page(view: "View") -> Shown:
    return form(view, NEW, "/webhooks/new")


def edit_page(view: "View", endpoint_id: str) -> Shown:
    endpoint = only(view, ENDPOINT, endpoint_id)
    stored = {**endpoint, "event_types": "\n".join(endpoint["event_types"])}
    return form(view, stored, f"/webhooks/{endpoint['id']}/edit")


def form(view: "View", typed: Mapping[str, Any], path: str, error: QueueError | None = None) -> Shown:
    return view.show("webhook_form.html", 422 if error else 200, typed=typed, path=path, error=error)


def create_endpoint(view: "View") -> Shown:
    """Its secret is shown in the response itself: it is in no cookie, no address, and on no other page."""
    given = {name: value for name, value in typed_fields(view).items() if value is not None}
    try:
        with view.savepoint():
            created = view.sealed(sealed_verbs.create_webhook_endpoint, tenant_id=view.tenant_id, **given)
    except InvalidRequest as error:
        return form(view, {**NEW, **view.form}, "/webhooks/new", error)
    return view.show("webhook_secret.html", **created)


def change_endpoint(view: "View", endpoint_id: str) -> Shown | Redirect:
    changes = {**typed_fields(view), "status": view.typed("status"), "description": view.typed("description", "")}
    path = f"/webhooks/{view.id_of(endpoint_id)}"
    try:
        with view.savepoint():
            view.rows(
                "change_webhook_endpoint", webhook_endpoint_id=view.id_of(endpoint_id), changes=json.dumps(changes)
            )
    except InvalidRequest as error:
        return form(view, {**NEW, **view.form}, f"{path}/edit", error)
    return Redirect(view.url(path), view.say("The endpoint was changed."))


def typed_fields(view: "View") -> dict[str, Any]:
    return {name: view.typed(name) for name in FIELDS} | {"event_types": view.form.get("event_types", "").split()}


def rotate_secret(view: "View", endpoint_id: str) -> Shown:
    hours = view.typed("overlap_hours", "24")
    id = view.id_of(endpoint_id)
    rotated = view.sealed(sealed_verbs.rotate_webhook_secret, webhook_endpoint_id=id, overlap_hours=hours)
    return view.show("webhook_secret.html", **rotated)


def delete_endpoint(view: "View", endpoint_id: str) -> Redirect:
    view.rows("delete_webhook_endpoint", webhook_endpoint_id=view.id_of(endpoint_id))
    return Redirect(view.url("/webhooks"), view.say("The endpoint was deleted."))


PAGES = (
    Page("GET", "/webhooks/new", new_page, module="webhooks", needs_tenant=True),
    Page("POST", "/webhooks/new", create_endpoint, module="webhooks", needs_tenant=True),
    Page("GET", "/webhooks/{endpoint_id}/edit", edit_page, module="webhooks"),
    Page("POST", "/webhooks/{endpoint_id}/edit", change_endpoint, module="webhooks"),
    Page("POST", "/webhooks/{endpoint_id}/rotate", rotate_secret, module="webhooks"),
    Page("POST", "/webhooks/{endpoint_id}/delete", delete_endpoint, module="webhooks"),
)
