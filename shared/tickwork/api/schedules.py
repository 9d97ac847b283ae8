"""Schedules: what starts jobs by the calendar."""

from tickwork.api.fields import (
    COUNT,
    FLAG,
    ID,
    JSON_OBJECT,
    NAME,
    NOTE,
    ROWS,
    TIME,
    ForTenant,
    OfTenant,
    Request,
    list_of,
    whole_number,
)
from tickwork.api.route import Route

IDS = list_of(ID, 1000)


class Create(ForTenant):
    label = NAME
    type = NAME
    cron_expr = NAME
    timezone = NAME.or_null()
    payload_template = JSON_OBJECT.or_else({})
    overlap = NAME.or_else("skip")
    missed = NAME.or_else("latest")
    catch_up_seconds = COUNT.or_else(3600)
    spread_seconds = COUNT.or_else(0)
    starts_at = TIME.or_null()
    ends_at = TIME.or_null()
    priority = COUNT.or_null()
    lane = NAME.or_null()
    pause_after_failures = COUNT.or_null()


class OfSchedule(Request):
    schedule_id = ID


class Change(OfSchedule):
    changes = JSON_OBJECT


class Resume(Request):
    schedule_ids = IDS


class Pause(Resume):
    note = NOTE.or_null()


class Backfill(OfSchedule):
    since = TIME
    until = TIME
    dry_run = FLAG.or_else(True)


class Fires(OfSchedule):
    nominal_before = TIME.or_null()
    max_rows = ROWS.or_else(50)


class Preview(Request):
    cron_expr = NAME
    timezone = NAME.or_else("UTC")
    after = TIME.or_null()
    times = whole_number(0, 100).or_else(5)


ROUTES = (
    Route("GET", "schedules", "list_schedules", OfTenant, "rows"),
    Route("POST", "schedules", "create_schedule", Create),
    Route("GET", "schedules/preview", "preview_schedule", Preview, "rows"),
    Route("POST", "schedules/pause", "pause_schedules", Pause, "rows"),
    Route("POST", "schedules/resume", "resume_schedules", Resume, "rows"),
    Route("GET", "schedules/{schedule_id}", "get_schedule", OfSchedule),
    Route("GET", "schedules/{schedule_id}/fires", "list_schedule_fires", Fires, "rows"),
    Route("PATCH", "schedules/{schedule_id}", "change_schedule", Change),
    Route("DELETE", "schedules/{schedule_id}", "delete_schedule", OfSchedule, "nothing"),
    Route("POST", "schedules/{schedule_id}/run", "run_schedule", OfSchedule),
    Route("POST", "schedules/{schedule_id}/backfill", "backfill_schedule", Backfill, "rows"),
)
