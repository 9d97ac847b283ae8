"""Figures: metrics, percentiles, rates, and the numbers of a dashboard."""

from tickwork.api.fields import COUNT, ID, NAME, TIME, Request
from tickwork.api.route import Route


class Metrics(Request):
    tenant_id = ID.or_null()
    prefix = NAME.or_null()
    tenant_label = NAME.or_null()
    max_tenants = COUNT.or_null()


class Widgets(Request):
    tenant_id = ID.or_null()


class Latency(Widgets):
    type = NAME.or_null()
    since = TIME.or_null()
    until = TIME.or_null()


class Throughput(Latency):
    step = NAME.or_null()


class ByTenant(Request):
    max_tenants = COUNT.or_null()


ROUTES = (
    Route("GET", "metrics", "metrics", Metrics, "value"),
    Route("GET", "metrics/latency", "latency", Latency, "rows"),
    Route("GET", "metrics/throughput", "throughput", Throughput, "rows"),
    Route("GET", "metrics/percentiles", "percentiles", Throughput, "rows"),
    Route("GET", "metrics/widgets", "queue_widgets", Widgets),
    Route("GET", "metrics/types", "queue_by_type", Widgets, "rows"),
    Route("GET", "metrics/tenants", "queue_by_tenant", ByTenant, "rows"),
)
