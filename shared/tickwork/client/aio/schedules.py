"""Schedules: jobs that start by the calendar. One method per SQL function, with the same name."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from tickwork.client.aio.way import Row, Way
from tickwork.client.json_values import as_json, ids


class Schedules:
    def __init__(self, way: Way) -> None:
        self._way = way

    async def create_schedule(
        self,
        tenant_id: UUID | str | None,
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
    ) -> Row:
        """Start jobs at the times of a cron expression, in the tenant's time zone if none is given."""
        given = {name: value for name, value in locals().items() if name != "self"}
        given["payload_template"] = as_json(payload_template or {})
        (row,) = await self._way.rows("create_schedule", given, repeatable=False)
        return row

    async def change_schedule(self, schedule_id: UUID | str, changes: Mapping[str, Any]) -> Row:
        """Change fields, named as the parameters of `create_schedule`."""
        given = {"schedule_id": schedule_id, "changes": as_json(dict(changes))}
        (row,) = await self._way.rows("change_schedule", given)
        return row

    async def pause_schedules(self, schedule_ids: Sequence[UUID | str], note: str | None = None) -> list[Row]:
        return await self._way.rows("pause_schedules", {"schedule_ids": ids(schedule_ids), "note": note})

    async def resume_schedules(self, schedule_ids: Sequence[UUID | str]) -> list[Row]:
        return await self._way.rows("resume_schedules", {"schedule_ids": ids(schedule_ids)})

    async def run_schedule(self, schedule_id: UUID | str) -> Row:
        """Start its job now, beside the calendar."""
        (row,) = await self._way.rows("run_schedule", {"schedule_id": schedule_id}, repeatable=False)
        return row

    async def backfill_schedule(
        self, schedule_id: UUID | str, since: datetime | str, until: datetime | str, dry_run: bool = True
    ) -> list[Row]:
        """Start the jobs of past times that did not start; with `dry_run` only return which."""
        given = {"schedule_id": schedule_id, "since": since, "until": until, "dry_run": dry_run}
        return await self._way.rows("backfill_schedule", given)

    async def delete_schedule(self, schedule_id: UUID | str) -> None:
        await self._way.rows("delete_schedule", {"schedule_id": schedule_id})

    async def preview_schedule(
        self, cron_expr: str, timezone: str = "UTC", after: datetime | str | None = None, times: int = 5
    ) -> list[Row]:
        """When a cron expression fires next, with a note where the clock changes."""
        given = {"cron_expr": cron_expr, "timezone": timezone, "after": after, "times": times}
        return await self._way.rows("preview_schedule", given)

    async def list_schedules(self, tenant_id: UUID | str | None = None) -> list[Row]:
        return await self._way.rows("list_schedules", {"tenant_id": tenant_id})

    async def get_schedule(self, schedule_id: UUID | str) -> Row:
        (row,) = await self._way.rows("get_schedule", {"schedule_id": schedule_id})
        return row

    async def list_schedule_fires(
        self, schedule_id: UUID | str, nominal_before: datetime | str | None = None, max_rows: int = 50
    ) -> list[Row]:
        """What became of its last times, the newest first."""
        given = {"schedule_id": schedule_id, "nominal_before": nominal_before, "max_rows": max_rows}
        return await self._way.rows("list_schedule_fires", given)
