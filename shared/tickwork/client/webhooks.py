"""Events and webhooks, as an application and the handlers see them: one method per SQL function, of the same name."""

from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from tickwork.database.connection import Database
from tickwork.jobs.outcomes import Json
from tickwork.queue import as_given, check_integers, statement


class Webhooks:
    def __init__(self, database: Database) -> None:
        self.database = database

    def emit_event(
        self, tenant_id: UUID | str, type: str, aggregate: str | None = None, payload: Json | None = None
    ) -> UUID:
        """Say that something happened; whoever wants to hear of it will. Answers the event's id."""
        (row,) = self._call(
            "emit_event", tenant_id=tenant_id, type=type, aggregate=aggregate, payload=as_given(payload or {})
        )
        found: UUID = row["emit_event"]
        return found

    def test_webhook(self, webhook_endpoint_id: UUID | str) -> dict[str, Any]:
        return self._call("test_webhook", webhook_endpoint_id=webhook_endpoint_id)[0]

    def redeliver_webhook(self, webhook_delivery_id: UUID | str) -> dict[str, Any]:
        return self._call("redeliver_webhook", webhook_delivery_id=webhook_delivery_id)[0]

    def redeliver_webhooks(
        self, webhook_endpoint_id: UUID | str, since: datetime | str, only_failed: bool = True
    ) -> int:
        (row,) = self._call(
            "redeliver_webhooks", webhook_endpoint_id=webhook_endpoint_id, since=since, only_failed=only_failed
        )
        return int(row["redeliver_webhooks"])

    def purge_events(self, older_than: timedelta, batch_size: int = 1000) -> int:
        return int(self._call("purge_events", older_than=older_than, batch_size=batch_size)[0]["purge_events"])

    def _call(self, function: str, **arguments: Any) -> list[dict[str, Any]]:
        check_integers(arguments)
        # A repeat after a broken connection might say everything twice.
        return self.database.rows(statement(function, arguments), arguments, repeatable=False)
