"""Webhooks: where the events of a tenant are posted to, and how that went."""

from tickwork.api.fields import (
    FLAG,
    ID,
    JSON_OBJECT,
    NAME,
    NOTE,
    NUMBER,
    ROWS,
    TIME,
    ForTenant,
    OfTenant,
    Request,
    list_of,
    text,
)
from tickwork.api.route import Route


class OfDelivery(Request):
    webhook_delivery_id = ID


class OfEndpoint(Request):
    webhook_endpoint_id = ID


class Redeliver(OfEndpoint):
    since = TIME
    only_failed = FLAG.or_else(True)


class Create(ForTenant):
    url = text(2000)
    event_types = list_of(NAME, 100).or_else([])
    description = NOTE.or_else("")
    header_prefix = NAME.or_else("X-BPC-")
    format = NAME.or_else("standard")
    timeout_seconds = NUMBER.or_else(30)


class Change(OfEndpoint):
    changes = JSON_OBJECT


class Rotate(OfEndpoint):
    overlap_hours = NUMBER.or_else(24)


class Deliveries(OfTenant):
    webhook_endpoint_id = ID.or_null()
    delivery_status = NAME.or_null()
    after_delivery_id = ID.or_null()
    max_rows = ROWS.or_else(50)


ROUTES = (
    Route("GET", "webhooks", "list_webhook_endpoints", OfTenant, "rows"),
    Route("POST", "webhooks", "create_webhook_endpoint", Create, filled=frozenset({"with_secret"}), seals=True),
    Route(
        "GET",
        "webhooks/deliveries",
        "list_webhook_deliveries",
        Deliveries,
        "rows",
        cursor="id",
        page_size="max_rows",
    ),
    Route("POST", "webhooks/deliveries/{webhook_delivery_id}/redeliver", "redeliver_webhook", OfDelivery),
    Route("POST", "webhooks/{webhook_endpoint_id}/redeliver", "redeliver_webhooks", Redeliver, "value"),
    Route("POST", "webhooks/{webhook_endpoint_id}/test", "test_webhook", OfEndpoint),
    Route(
        "POST",
        "webhooks/{webhook_endpoint_id}/rotate",
        "rotate_webhook_secret",
        Rotate,
        filled=frozenset({"sealed_secret"}),
        seals=True,
    ),
    Route("PATCH", "webhooks/{webhook_endpoint_id}", "change_webhook_endpoint", Change),
    Route("DELETE", "webhooks/{webhook_endpoint_id}", "delete_webhook_endpoint", OfEndpoint, "nothing"),
)
