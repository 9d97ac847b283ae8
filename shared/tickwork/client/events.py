# Written by `make client` from aio/events.py: change that one.
"""Events: one method per SQL function, with the same name."""

from datetime import timedelta
from uuid import UUID

from tickwork.client.json_values import as_json
from tickwork.client.way import Row, Way
from tickwork.jobs.outcomes import Json


class Events:
    def __init__(self, way: Way) -> None:
        self._way = way

    def emit_event(
        self, tenant_id: UUID | str | None, type: str, aggregate: str | None = None, payload: Json | None = None
    ) -> UUID:
        """Emit an event for the endpoints that want it. Returns its id."""
        given = {"tenant_id": tenant_id, "type": type, "aggregate": aggregate, "payload": as_json(payload or {})}
        # Repeating it after a broken connection might emit the event twice.
        (row,) = self._way.rows("emit_event", given, repeatable=False)
        id: UUID = row["emit_event"]
        return id

    def purge_events(self, older_than: timedelta, batch_size: int = 1000) -> int:
        given = {"older_than": older_than, "batch_size": batch_size}
        (row,) = self._way.rows("purge_events", given, repeatable=False)
        return int(row["purge_events"])

    def list_events(
        self,
        tenant_id: UUID | str | None = None,
        only_type: str | None = None,
        after_event_id: UUID | str | None = None,
        max_rows: int = 50,
    ) -> list[Row]:
        """The newest first; for the next page, pass the last id as after_event_id."""
        given = {name: value for name, value in locals().items() if name != "self"}
        return self._way.rows("list_events", given)
