"""Schedules: jobs that start by the calendar. One method per SQL function, with the same name."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from psycopg.rows import DictRow
from psycopg.types.json import Jsonb

from tickwork.client.labels import find_by_label
from tickwork.database.call import call
from tickwork.database.connection import Database


class Schedules:
    def __init__(self, database: Database) -> None:
        self._database = database

    def create_schedule(
        self,
        tenant_id: UUID | str,
        label: str,
        type: str,
        cron_expr: str,
        timezone: str | None = None,
        payload_template: Mapping[str, Any] | None = None,
        overlap: str = "skip",
        missed: str = "latest",
        catch_up_seconds: int = 3600,
        spread_seconds: int = 0,
        starts_at: datetime | str | None = None,
        ends_at: datetime | str | None = None,
        priority: int | None = None,
        lane: str | None = None,
        pause_after_failures: int | None = None,
    ) -> DictRow:
        """Start jobs at the times of a cron expression, in the tenant's time zone if none is given."""
        given = {name: value for name, value in locals().items() if name != "self"}
        given["payload_template"] = Jsonb(payload_template or {})
        (row,) = call(self._database, "create_schedule", repeatable=False, **given)
        return row

    def change_schedule(self, schedule_id: UUID | str, changes: Mapping[str, Any]) -> DictRow:
        """Change fields, named as the parameters of `create_schedule`."""
        (row,) = call(self._database, "change_schedule", schedule_id=schedule_id, changes=Jsonb(dict(changes)))
        return row

    def pause_schedules(self, schedule_ids: Sequence[UUID], note: str | None = None) -> list[DictRow]:
        return call(self._database, "pause_schedules", schedule_ids=list(schedule_ids), note=note)

    def resume_schedules(self, schedule_ids: Sequence[UUID]) -> list[DictRow]:
        return call(self._database, "resume_schedules", schedule_ids=list(schedule_ids))

    def run_schedule(self, schedule_id: UUID | str) -> DictRow:
        """Start its job now, beside the calendar."""
        (row,) = call(self._database, "run_schedule", repeatable=False, schedule_id=schedule_id)
        return row

    def backfill_schedule(
        self, schedule_id: UUID | str, since: datetime | str, until: datetime | str, dry_run: bool = True
    ) -> list[DictRow]:
        """Start the jobs of past times that did not start; with `dry_run` only return which."""
        return call(
            self._database, "backfill_schedule", schedule_id=schedule_id, since=since, until=until, dry_run=dry_run
        )

    def delete_schedule(self, schedule_id: UUID | str) -> None:
        call(self._database, "delete_schedule", schedule_id=schedule_id)

    def preview_schedule(
        self, cron_expr: str, timezone: str = "UTC", after: datetime | str | None = None, times: int = 5
    ) -> list[DictRow]:
        """When a cron expression fires next, with a note where the clock changes."""
        return call(
            self._database, "preview_schedule", cron_expr=cron_expr, timezone=timezone, after=after, times=times
        )

    def list_schedules(self, tenant_id: UUID | str | None = None) -> list[DictRow]:
        return call(self._database, "list_schedules", tenant_id=tenant_id)

    def find(self, label_or_id: str, tenant_id: UUID | None = None) -> DictRow:
        """The row of the only schedule with this id or label."""
        return find_by_label(self._database, "public.schedules", "schedule", label_or_id, tenant_id)

    def fires(self, schedule_id: UUID | str, limit: int = 10) -> list[DictRow]:
        """What became of its last times, the newest first."""
        return self._database.rows(FIRES, {"schedule_id": schedule_id, "limit": limit})


FIRES = """
    select schedule_fires.*, jobs.status
    from public.schedule_fires
    left join public.jobs on jobs.id = schedule_fires.job_id
    where schedule_id = %(schedule_id)s
    order by nominal_at desc
    limit %(limit)s
"""
