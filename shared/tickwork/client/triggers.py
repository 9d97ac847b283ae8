"""Event triggers: jobs that start when something happens. One method per SQL function, with the same name."""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from psycopg.rows import DictRow

from tickwork.client.labels import find_by_label
from tickwork.database.call import call
from tickwork.database.connection import Database
from tickwork.database.json_text import as_given


class Triggers:
    def __init__(self, database: Database) -> None:
        self._database = database

    def create_event_trigger(
        self,
        tenant_id: UUID | str,
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
    ) -> DictRow:
        """Start a job whenever an event of that name happens; the payload is checked with a sample of an event."""
        given = {name: value for name, value in locals().items() if name != "self"}
        given["payload_template"] = as_given(payload_template or {})
        given["sample"] = None if sample is None else as_given(sample)
        (row,) = call(self._database, "create_event_trigger", repeatable=False, **given)
        return row

    def change_event_trigger(
        self, trigger_id: UUID | str, changes: Mapping[str, Any], sample: Mapping[str, Any] | None = None
    ) -> DictRow:
        """Change fields, named as the parameters of `create_event_trigger`."""
        (row,) = call(
            self._database,
            "change_event_trigger",
            trigger_id=trigger_id,
            changes=as_given(changes),
            sample=None if sample is None else as_given(sample),
        )
        return row

    def pause_event_triggers(self, trigger_ids: Sequence[UUID], note: str | None = None) -> list[DictRow]:
        return call(self._database, "pause_event_triggers", trigger_ids=list(trigger_ids), note=note)

    def resume_event_triggers(self, trigger_ids: Sequence[UUID]) -> list[DictRow]:
        return call(self._database, "resume_event_triggers", trigger_ids=list(trigger_ids))

    def delete_event_trigger(self, trigger_id: UUID | str) -> None:
        call(self._database, "delete_event_trigger", trigger_id=trigger_id)

    def list_event_triggers(self, tenant_id: UUID | str | None = None) -> list[DictRow]:
        """Triggers, each with its last decision."""
        return call(self._database, "list_event_triggers", tenant_id=tenant_id)

    def test_event(
        self,
        tenant_id: UUID | str,
        type: str,
        payload: Mapping[str, Any] | None = None,
        aggregate: str | None = None,
    ) -> list[DictRow]:
        """What each trigger of the tenant would make of an event, without emitting it."""
        return call(
            self._database,
            "test_event",
            tenant_id=tenant_id,
            type=type,
            payload=as_given(payload or {}),
            aggregate=aggregate,
        )

    def find(self, label_or_id: str, tenant_id: UUID | None = None) -> DictRow:
        """The row of the only trigger with this id or label."""
        return find_by_label(self._database, "public.event_triggers", "trigger", label_or_id, tenant_id)

    def fires(self, trigger_id: UUID | str, limit: int = 10) -> list[DictRow]:
        """What it made of the last events, the newest first."""
        return self._database.rows(FIRES, {"trigger_id": trigger_id, "limit": limit})


FIRES = """
    select trigger_fires.*, jobs.status
    from public.trigger_fires
    left join public.jobs on jobs.id = trigger_fires.job_id
    where trigger_id = %(trigger_id)s
    order by decided_at desc
    limit %(limit)s
"""
