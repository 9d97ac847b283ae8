"""Types of job, which the source documents call definitions."""

from typing import ClassVar

from tickwork.api.fields import COUNT, FLAG, JSON_OBJECT, NAME, NOTE, OBJECT, Request, json_value, list_of
from tickwork.api.route import Route

BACKOFF = json_value({"anyOf": [{"type": "array", "items": {}}, OBJECT]}, list, dict)


class Create(Request):
    key = NAME
    family = NAME.or_else("command")
    description = NOTE.or_else("")
    payload_schema = JSON_OBJECT.or_null()
    result_schema = JSON_OBJECT.or_null()
    timeout_seconds = COUNT.or_else(300)
    max_attempts = COUNT.or_else(4)
    backoff = BACKOFF.or_else([60, 300, 1800])
    lease_seconds = COUNT.or_else(60)
    priority = COUNT.or_else(0)
    enqueued_by = NAME.or_else("admin")
    max_running = COUNT.or_null()
    max_running_per_tenant = COUNT.or_null()
    starts_per_minute = COUNT.or_null()
    follow_ups = list_of(NAME, 100).or_else([])
    keep_days = JSON_OBJECT.or_else({})
    redacted = list_of(NOTE, 50).or_else([])
    not_redacted = list_of(NAME, 50).or_else([])
    is_active = FLAG.or_else(True)


class Change(Request):
    change_aliases: ClassVar[dict[str, str]] = {"arg_schema": "payload_schema"}

    type = NAME
    changes = JSON_OBJECT


# As the source documents name them.
ALSO = ", key as id, payload_schema as arg_schema"

ROUTES = (
    Route("GET", "admin/jobs/definitions", "list_job_types", Request, "rows", also=ALSO),
    Route("POST", "admin/jobs/definitions", "create_job_type", Create, also=ALSO),
    Route("PATCH", "admin/jobs/definitions/{type}", "change_job_type", Change, also=ALSO, not_found="TWTYP"),
)
