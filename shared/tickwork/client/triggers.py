# Written by `make client` from aio/triggers.py: change that one.
"""Event triggers: jobs that start when something happens. One method per SQL function, with the same name."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from tickwork.client.json_values import as_json, ids
from tickwork.client.way import Row, Way


class Triggers:
    def __init__(self, way: Way) -> None:
        self._way = way

    def create_event_trigger(
        self,
        tenant_id: UUID | str | None,
        label: str,
        event_name: str,
        type: str,
        condition: str | None = None,
        payload_template: Mapping[str, Any] | None = None,
        dedupe_key: str | None = None,
        dedupe_window_seconds: int = 300,
        debounce_seconds: int | None = None,
        debounce_max_seconds: int = 3600,
        max_per_minute: int | None = None,
        delay_seconds: int = 0,
        priority: int | None = None,
        lane: str | None = None,
        sample: Mapping[str, Any] | None = None,
    ) -> Row:
        """Start a job whenever an event of that name happens; the payload is checked with a sample of an event."""
        given = {name: value for name, value in locals().items() if name != "self"}
        given["payload_template"] = as_json(payload_template or {})
        given["sample"] = None if sample is None else as_json(sample)
        (row,) = self._way.rows("create_event_trigger", given, repeatable=False)
        return row

    def change_event_trigger(
        self, trigger_id: UUID | str, changes: Mapping[str, Any], sample: Mapping[str, Any] | None = None
    ) -> Row:
        """Change fields, named as the parameters of `create_event_trigger`."""
        tried = None if sample is None else as_json(sample)
        given = {"trigger_id": trigger_id, "changes": as_json(changes), "sample": tried}
        (row,) = self._way.rows("change_event_trigger", given)
        return row

    def pause_event_triggers(self, trigger_ids: Sequence[UUID | str], note: str | None = None) -> list[Row]:
        return self._way.rows("pause_event_triggers", {"trigger_ids": ids(trigger_ids), "note": note})

    def resume_event_triggers(self, trigger_ids: Sequence[UUID | str]) -> list[Row]:
        return self._way.rows("resume_event_triggers", {"trigger_ids": ids(trigger_ids)})

    def delete_event_trigger(self, trigger_id: UUID | str) -> None:
        self._way.rows("delete_event_trigger", {"trigger_id": trigger_id})

    def list_event_triggers(self, tenant_id: UUID | str | None = None) -> list[Row]:
        """Triggers, each with its last decision."""
        return self._way.rows("list_event_triggers", {"tenant_id": tenant_id})

    def test_event(
        self,
        tenant_id: UUID | str | None,
        type: str,
        payload: Mapping[str, Any] | None = None,
        aggregate: str | None = None,
    ) -> list[Row]:
        """What each trigger of the tenant would make of an event, without emitting it."""
        given = {"tenant_id": tenant_id, "type": type, "payload": as_json(payload or {}), "aggregate": aggregate}
        return self._way.rows("test_event", given)

    def get_event_trigger(self, trigger_id: UUID | str) -> Row:
        (row,) = self._way.rows("get_event_trigger", {"trigger_id": trigger_id})
        return row

    def list_trigger_fires(
        self, trigger_id: UUID | str, decided_before: datetime | str | None = None, max_rows: int = 50
    ) -> list[Row]:
        """What it made of the last events, the newest first."""
        given = {"trigger_id": trigger_id, "decided_before": decided_before, "max_rows": max_rows}
        return self._way.rows("list_trigger_fires", given)

    def list_job_triggers(self, tenant_id: UUID | str | None = None) -> list[Row]:
        """Schedules and event triggers."""
        return self._way.rows("list_job_triggers", {"tenant_id": tenant_id})

    def create_job_trigger(
        self,
        tenant_id: UUID | str | None,
        label: str,
        trigger_type: str,
        type: str,
        *,
        event_name: str | None = None,
        cron_expr: str | None = None,
        timezone: str | None = None,
        payload_template: Mapping[str, Any] | None = None,
        dedupe_window_seconds: int = 300,
        is_enabled: bool = True,
    ) -> Row:
        """An event trigger or a schedule, by trigger_type."""
        given = {name: value for name, value in locals().items() if name != "self"}
        given["payload_template"] = as_json(payload_template or {})
        (row,) = self._way.rows("create_job_trigger", given, repeatable=False)
        return row

    def change_job_trigger(self, trigger_id: UUID | str, changes: Mapping[str, Any]) -> Row:
        given = {"trigger_id": trigger_id, "changes": as_json(changes)}
        (row,) = self._way.rows("change_job_trigger", given)
        return row

    def delete_job_trigger(self, trigger_id: UUID | str) -> None:
        self._way.rows("delete_job_trigger", {"trigger_id": trigger_id})
