"""Triggers, found by what people call them."""

from uuid import UUID

from psycopg.rows import DictRow

from tickwork.client import triggers
from tickwork.client.direct import Direct
from tickwork.client.direct.labels import find_by_label, find_listed


class Triggers(triggers.Triggers, Direct):
    def find(self, label_or_id: str, tenant_id: UUID | None = None) -> DictRow:
        """The row of the only trigger with this id or label; over HTTP, what `list_event_triggers` says of it."""
        if not self._has_database:
            return find_listed(self.list_event_triggers(tenant_id), "trigger", label_or_id)
        return find_by_label(self._database, "public.event_triggers", "trigger", label_or_id, tenant_id)
