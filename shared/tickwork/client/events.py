"""Events: one method per SQL function, with the same name."""

from datetime import timedelta
from uuid import UUID

from tickwork.database.call import call
from tickwork.database.connection import Database
from tickwork.database.json_text import as_given
from tickwork.jobs.outcomes import Json


class Events:
    def __init__(self, database: Database) -> None:
        self._database = database

    def emit_event(
        self, tenant_id: UUID | str, type: str, aggregate: str | None = None, payload: Json | None = None
    ) -> UUID:
        """Emit an event for the endpoints that want it. Returns its id."""
        (row,) = call(
            self._database,
            "emit_event",
            # Repeating it after a broken connection might emit the event twice.
            repeatable=False,
            tenant_id=tenant_id,
            type=type,
            aggregate=aggregate,
            payload=as_given(payload or {}),
        )
        id: UUID = row["emit_event"]
        return id

    def purge_events(self, older_than: timedelta, batch_size: int = 1000) -> int:
        (row,) = call(self._database, "purge_events", repeatable=False, older_than=older_than, batch_size=batch_size)
        return int(row["purge_events"])
