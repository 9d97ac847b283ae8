"""Jobs: enqueue, read and manage them."""

from typing import ClassVar

from tickwork.api.fields import (
    COUNT,
    FLAG,
    ID,
    JSON_OBJECT,
    JSON_OBJECTS,
    NAME,
    NOTE,
    ROWS,
    STATUS,
    TIME,
    ForTenant,
    OfJob,
    OfTenant,
    Request,
    list_of,
    whole_number,
)
from tickwork.api.route import Route

# list_jobs reads at most that many from its start.
OFFSET = whole_number(0, 1000)
SECONDS = whole_number(0, 20)


class Enqueue(ForTenant):
    type = NAME
    payload = JSON_OBJECT.or_else({})
    priority = COUNT.or_null()
    run_at = TIME.or_null()
    idempotency_key = NAME.or_null()
    dedupe_key = NAME.or_null()
    lane = NAME.or_null()
    max_attempts = COUNT.or_null()
    correlation_id = NAME.or_null()
    notify = FLAG.or_else(False)
    after = list_of(ID, 1000).or_null()
    after_when = NAME.or_else("all_done")
    traceparent = NAME.or_null()


class EnqueueMany(Request):
    of_tenants: ClassVar[str | None] = "jobs"

    jobs = JSON_OBJECTS


class Filter(OfTenant):
    family = NAME.or_null()
    type = NAME.or_null()
    status = STATUS.or_null()
    lane = NAME.or_null()
    error_code = NAME.or_null()
    created_after = TIME.or_null()
    created_before = TIME.or_null()
    correlation_id = NAME.or_null()


class ListJobs(Filter):
    after_id = ID.or_null()
    max_jobs = ROWS.or_else(50)
    source = NAME.or_null()
    key_starts_with = NAME.or_null()
    finished_after = TIME.or_null()
    finished_before = TIME.or_null()
    oldest_first = FLAG.or_else(False)
    offset = OFFSET.or_else(0)


class CancelMany(Filter):
    max_jobs = COUNT.or_else(1000)


class RetryMany(CancelMany):
    run_at = TIME.or_null()
    max_attempts = COUNT.or_null()


class RescheduleMany(CancelMany):
    run_at = TIME


class Get(OfJob):
    wait = SECONDS.or_else(0)


class Retry(OfJob):
    run_at = TIME.or_null()
    max_attempts = COUNT.or_null()


class Reschedule(OfJob):
    run_at = TIME


class Bury(OfJob):
    reason = NOTE.or_null()


class Reveal(OfJob):
    reason = NOTE


class Find(Request):
    filter = JSON_OBJECT.or_else({})
    max_jobs = ROWS.or_else(50)
    after_id = ID.or_null()
    oldest_first = FLAG.or_else(False)


class CountMatching(Request):
    filter = JSON_OBJECT.or_else({})
    at_most = whole_number(0, 100_000).or_else(10_000)


class ChangeMatching(Request):
    action = NAME
    filter = JSON_OBJECT
    reason = NOTE
    run_at = TIME.or_null()
    max_attempts = COUNT.or_null()


class Errors(OfTenant):
    since = TIME.or_null()
    steps = whole_number(1, 120).or_else(24)


# As the source documents name them.
ALSO = ", type as definition_key, created_at as queued_at, run_at as scheduled_for"

AGE = ", extract(epoch from now() - oldest_due_at)::integer as oldest_due_seconds"

ROUTES = (
    Route("POST", "jobs", "enqueue_job", Enqueue, also=ALSO),
    Route(
        "GET",
        "jobs",
        "list_jobs",
        ListJobs,
        "rows",
        cursor="id",
        page_size="max_jobs",
        also=ALSO,
        own_fields=frozenset({"offset"}),
    ),
    Route("POST", "jobs/batch", "enqueue_jobs", EnqueueMany, "rows"),
    Route("GET", "jobs/summary", "summarize_jobs", OfTenant, also=AGE),
    Route("GET", "jobs/summary/types", "queue_summary", OfTenant, "rows"),
    Route("POST", "jobs/cancel", "cancel_jobs", CancelMany),
    Route("POST", "jobs/retry", "retry_jobs", RetryMany),
    Route("POST", "jobs/reschedule", "reschedule_jobs", RescheduleMany),
    Route("POST", "jobs/find", "find_matching_jobs", Find, "rows", cursor="id", page_size="max_jobs", also=ALSO),
    Route("POST", "jobs/count", "count_matching_jobs", CountMatching, "value"),
    Route("POST", "jobs/change", "change_matching_jobs", ChangeMatching, also=ALSO),
    Route("GET", "jobs/errors", "list_errors", Errors, "rows"),
    Route("GET", "jobs/{job_id}", "get_job", Get, also=ALSO, own_fields=frozenset({"wait"})),
    Route("GET", "jobs/{job_id}/attempts", "list_attempts", OfJob, "rows"),
    Route("GET", "jobs/{job_id}/steps", "list_steps", OfJob, "rows"),
    Route("GET", "jobs/{job_id}/explain", "explain_job", OfJob, "value"),
    Route("GET", "jobs/{job_id}/start", "estimate_start", OfJob, "rows"),
    Route("POST", "jobs/{job_id}/cancel", "cancel_job", OfJob, also=ALSO),
    Route("POST", "jobs/{job_id}/retry", "retry_job", Retry, also=ALSO),
    Route("POST", "jobs/{job_id}/reschedule", "reschedule_job", Reschedule, also=ALSO),
    Route("POST", "jobs/{job_id}/bury", "bury_job", Bury, also=ALSO),
    Route("POST", "jobs/{job_id}/reveal", "reveal_job", Reveal),
)
