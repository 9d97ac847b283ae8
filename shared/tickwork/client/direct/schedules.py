"""Schedules, found by what people call them."""

from uuid import UUID

from psycopg.rows import DictRow

from tickwork.client import schedules
from tickwork.client.direct import Direct
from tickwork.client.direct.labels import find_by_label, find_listed


class Schedules(schedules.Schedules, Direct):
    def find(self, label_or_id: str, tenant_id: UUID | None = None) -> DictRow:
        """The row of the only schedule with this id or label; over HTTP, what `list_schedules` says of it."""
        if not self._has_database:
            return find_listed(self.list_schedules(tenant_id), "schedule", label_or_id)
        return find_by_label(self._database, "public.schedules", "schedule", label_or_id, tenant_id)
