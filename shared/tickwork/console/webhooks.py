"""Webhooks: endpoints, what was delivered to them, and delivering it again."""

from typing import TYPE_CHECKING
from uuid import UUID

from psycopg.rows import DictRow

from tickwork.console.page import Page, Redirect, Refused, Shown

if TYPE_CHECKING:
    from tickwork.console.view import View

PAGE_SIZE = 50
STATUSES = ("pending", "delivered", "failed")
ENDPOINT = "select * from public.list_webhook_endpoints() where id = %(id)s"
# With the event that was sent. There is no verb for a single one: row-level security decides what is seen.
DELIVERY = """
    select
      webhook_deliveries.*, events.type as event_type, events.aggregate, events.occurred_at,
      jsonb_pretty(events.payload) as payload_text, jsonb_pretty(webhook_deliveries.response_headers) as headers_text
    from public.webhook_deliveries
    join public.events on events.tenant_id = webhook_deliveries.tenant_id and events.id = webhook_deliveries.event_id
    where webhook_deliveries.id = %(id)s
"""


def webhooks_page(view: "View") -> Shown:
    return view.show("webhooks.html", **view.all_rows("list_webhook_endpoints"))


def webhook_page(view: "View", endpoint_id: str) -> Shown:
    endpoint = only(view, ENDPOINT, endpoint_id)
    after = view.query.get("after")
    deliveries = view.rows(
        "list_webhook_deliveries",
        tenant_id=endpoint["tenant_id"],
        webhook_endpoint_id=endpoint["id"],
        delivery_status=view.query.get("status"),
        after_delivery_id=view.id_of(after) if after else None,
        max_rows=PAGE_SIZE,
    )
    older = view.here(after=deliveries[-1]["id"]) if len(deliveries) == PAGE_SIZE else None
    return view.show("webhook.html", endpoint=endpoint, deliveries=deliveries, older=older, statuses=STATUSES)


def delivery_page(view: "View", delivery_id: str) -> Shown:
    return view.show("delivery.html", delivery=only(view, DELIVERY, delivery_id))


def only(view: "View", query: str, id: str) -> DictRow:
    rows = view.select(query, {"id": view.id_of(id)})
    if not rows:
        raise Refused(404, view.say("There is nothing with this id."))
    return rows[0]


def redeliver(view: "View", delivery_id: str) -> Redirect:
    view.rows("redeliver_webhook", webhook_delivery_id=view.id_of(delivery_id))
    return Redirect(view.url(f"/webhooks/deliveries/{delivery_id}"), view.say("It is delivered again."))


def redeliver_all(view: "View", endpoint_id: str) -> Redirect:
    count = view.value(
        "redeliver_webhooks",
        webhook_endpoint_id=view.id_of(endpoint_id),
        since=view.typed_time("since"),
        only_failed=view.form.get("which") != "all",
    )
    return Redirect(view.url(f"/webhooks/{endpoint_id}"), view.say("{} deliveries are repeated.", count))


def test_endpoint(view: "View", endpoint_id: str) -> Redirect:
    delivery: UUID = view.row("test_webhook", webhook_endpoint_id=view.id_of(endpoint_id))["id"]
    return Redirect(view.url(f"/webhooks/deliveries/{delivery}"), view.say("The test event is on its way."))


PAGES = (
    Page("GET", "/webhooks", webhooks_page, module="webhooks"),
    Page("GET", "/webhooks/{endpoint_id}", webhook_page, module="webhooks"),
    Page("GET", "/webhooks/deliveries/{delivery_id}", delivery_page, module="webhooks"),
    Page("POST", "/webhooks/deliveries/{delivery_id}/redeliver", redeliver, module="webhooks"),
    Page("POST", "/webhooks/{endpoint_id}/redeliver", redeliver_all, module="webhooks"),
    Page("POST", "/webhooks/{endpoint_id}/test", test_endpoint, module="webhooks"),
)
