"""Alerts and their rules, for platform admins."""

from tickwork.api.fields import COUNT, FLAG, ID, NAME, NUMBER, Request
from tickwork.api.route import Route


class List(Request):
    only_open = FLAG.or_null()
    max_alerts = COUNT.or_null()
    after_id = ID.or_null()


class Change(Request):
    key = NAME
    threshold = NUMBER.or_null()
    closes_at = NUMBER.or_null()
    for_seconds = COUNT.or_null()
    severity = NAME.or_null()
    is_on = FLAG.or_null()


class Tell(Request):
    tenant_id = ID.with_null()


ROUTES = (
    Route("GET", "alerts", "list_alerts", List, "rows"),
    Route("GET", "alerts/rules", "list_alert_rules", Request, "rows"),
    Route("PATCH", "alerts/rules/{key}", "change_alert_rule", Change),
    Route("PUT", "alerts/tenant", "set_platform_tenant", Tell, "nothing"),
)
