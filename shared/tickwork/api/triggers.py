"""Triggers: what starts jobs when an event happens."""

from typing import ClassVar

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
    text,
)
from tickwork.api.route import Route

CONDITION = text(500)


class Create(ForTenant):
    label = NAME
    event_name = NAME
    type = NAME
    condition = CONDITION.or_null()
    payload_template = JSON_OBJECT.or_else({})
    dedupe_key = NAME.or_null()
    dedupe_window_seconds = COUNT.or_else(300)
    debounce_seconds = COUNT.or_null()
    debounce_max_seconds = COUNT.or_else(3600)
    max_per_minute = COUNT.or_null()
    delay_seconds = COUNT.or_else(0)
    priority = COUNT.or_null()
    lane = NAME.or_null()
    sample = JSON_OBJECT.or_null()


class OfTrigger(Request):
    trigger_id = ID


class Change(OfTrigger):
    changes = JSON_OBJECT
    sample = JSON_OBJECT.or_null()


class Resume(Request):
    trigger_ids = list_of(ID, 1000)


class Pause(Resume):
    note = NOTE.or_null()


class Fires(OfTrigger):
    decided_before = TIME.or_null()
    max_rows = ROWS.or_else(50)


class CreateAny(ForTenant):
    label = NAME
    trigger_type = NAME
    type = NAME
    event_name = NAME.or_null()
    cron_expr = NAME.or_null()
    timezone = NAME.or_null()
    payload_template = JSON_OBJECT.or_else({})
    dedupe_window_seconds = COUNT.or_else(300)
    is_enabled = FLAG.or_else(True)


class ChangeAny(OfTrigger):
    change_aliases: ClassVar[dict[str, str]] = {"definition_key": "type"}

    changes = JSON_OBJECT


# As the source documents name it.
ALSO = ", type as definition_key"

ROUTES = (
    Route("GET", "jobs/triggers", "list_job_triggers", OfTenant, "rows", also=ALSO),
    Route("POST", "jobs/triggers", "create_job_trigger", CreateAny, also=ALSO),
    Route("PATCH", "jobs/triggers/{trigger_id}", "change_job_trigger", ChangeAny, also=ALSO),
    Route("DELETE", "jobs/triggers/{trigger_id}", "delete_job_trigger", OfTrigger, "nothing"),
    Route("GET", "triggers", "list_event_triggers", OfTenant, "rows"),
    Route("POST", "triggers", "create_event_trigger", Create),
    Route("POST", "triggers/pause", "pause_event_triggers", Pause, "rows"),
    Route("POST", "triggers/resume", "resume_event_triggers", Resume, "rows"),
    Route("GET", "triggers/{trigger_id}", "get_event_trigger", OfTrigger),
    Route("GET", "triggers/{trigger_id}/fires", "list_trigger_fires", Fires, "rows"),
    Route("PATCH", "triggers/{trigger_id}", "change_event_trigger", Change),
    Route("DELETE", "triggers/{trigger_id}", "delete_event_trigger", OfTrigger, "nothing"),
)
