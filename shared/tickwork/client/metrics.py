# Written by `make client` from aio/metrics.py: change that one.
"""Figures of the queue: one method per SQL function, with the same name."""

from datetime import datetime, timedelta
from uuid import UUID

from tickwork.client.way import Row, Way


class Metrics:
    def __init__(self, way: Way) -> None:
        self._way = way

    def metrics(
        self,
        tenant_id: UUID | str | None = None,
        prefix: str = "tickwork_",
        tenant_label: str | None = None,
        max_tenants: int = 100,
    ) -> str:
        """The metrics in the text format of Prometheus."""
        given = {"tenant_id": tenant_id, "prefix": prefix, "tenant_label": tenant_label, "max_tenants": max_tenants}
        (row,) = self._way.rows("metrics", given)
        return str(row["metrics"])

    def latency(
        self,
        tenant_id: UUID | str | None = None,
        type: str | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
    ) -> list[Row]:
        """Percentiles of wait and run in seconds, for each type; of the last hour unless a window is given."""
        given = {"tenant_id": tenant_id, "type": type, **window(since, until)}
        return self._way.rows("latency", given)

    def throughput(
        self,
        tenant_id: UUID | str | None = None,
        type: str | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        step: timedelta = timedelta(minutes=1),
    ) -> list[Row]:
        """How many jobs had which outcome in each step of the window."""
        given = {"tenant_id": tenant_id, "type": type, "step": step, **window(since, until)}
        return self._way.rows("throughput", given)

    def percentiles(
        self,
        tenant_id: UUID | str | None = None,
        type: str | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        step: timedelta | None = None,
    ) -> list[Row]:
        """Percentiles of wait and run of all types together, in each step of the window or in all of it."""
        given = {"tenant_id": tenant_id, "type": type, "step": step, **window(since, until)}
        return self._way.rows("percentiles", given)

    def queue_by_type(self, tenant_id: UUID | str | None = None) -> list[Row]:
        """How many jobs of each type are in each status; done are those that the figures have counted."""
        return self._way.rows("queue_by_type", {"tenant_id": tenant_id})

    def queue_by_tenant(self, max_tenants: int = 20) -> list[Row]:
        """The tenants with the most due jobs."""
        return self._way.rows("queue_by_tenant", {"max_tenants": max_tenants})

    def queue_widgets(self, tenant_id: UUID | str | None = None) -> Row:
        (row,) = self._way.rows("queue_widgets", {"tenant_id": tenant_id})
        return row


def window(since: datetime | None, until: datetime | None) -> dict[str, datetime]:
    """Those that are given: for the others the function has defaults."""
    return {name: time for name, time in (("since", since), ("until", until)) if time is not None}
