# Written by `make client` from aio/alerts.py: change that one.
"""Alerts and their rules: one method per SQL function, with the same name."""

from uuid import UUID

from tickwork.client.way import Row, Way


class Alerts:
    def __init__(self, way: Way) -> None:
        self._way = way

    def list_alerts(
        self, only_open: bool = False, max_alerts: int = 100, after_id: UUID | str | None = None
    ) -> list[Row]:
        """The newest first; `after_id` is the id of the last one that is known already."""
        given = {"only_open": only_open, "max_alerts": max_alerts, "after_id": after_id}
        return self._way.rows("list_alerts", given)

    def list_alert_rules(self) -> list[Row]:
        return self._way.rows("list_alert_rules", {})

    def change_alert_rule(
        self,
        key: str,
        threshold: float | None = None,
        closes_at: float | None = None,
        for_seconds: int | None = None,
        severity: str | None = None,
        is_on: bool | None = None,
    ) -> Row:
        """Change a rule; None leaves a value as it is."""
        given = {
            "key": key,
            "threshold": threshold,
            "closes_at": closes_at,
            "for_seconds": for_seconds,
            "severity": severity,
            "is_on": is_on,
        }
        (row,) = self._way.rows("change_alert_rule", given)
        return row

    def set_platform_tenant(self, tenant_id: UUID | str | None) -> None:
        """Set the tenant whose webhooks and triggers tell of alerts; None for none."""
        self._way.rows("set_platform_tenant", {"tenant_id": tenant_id})
