"""What a worker does: claim jobs, keep its leases, and settle. For keys with the scope worker:<family>."""

from tickwork.api.fields import (
    COUNT,
    FLAG,
    ID,
    JSON_OBJECT,
    JSON_OBJECTS,
    JSON_VALUE,
    NAME,
    NUMBER,
    TEXT,
    Request,
    list_of,
    whole_number,
)
from tickwork.api.route import Route

SECONDS = whole_number(0, 20)
INT32 = whole_number(-(2**31), 2**31 - 1)


class Wanted(Request):
    family = NAME
    worker_id = NAME
    max_jobs = whole_number(1, 1000).or_else(1)
    lease_seconds = COUNT.or_null()
    types = list_of(NAME, 1000).or_null()


class Claim(Wanted):
    wait_seconds = SECONDS.or_else(0)


class OfLease(Request):
    job_id = ID
    lease_token = ID


class Heartbeat(OfLease):
    progress = NUMBER.or_null()
    message = TEXT.or_null()


class Complete(OfLease):
    result = JSON_VALUE.or_else(None)
    follow_ups = JSON_OBJECTS.or_null()
    logs = TEXT.or_null()


class Fail(OfLease):
    error = JSON_OBJECT
    retryable = FLAG.or_else(True)
    retry_after_seconds = NUMBER.or_null()
    logs = TEXT.or_null()
    pid = INT32.or_null()
    exit_code = INT32.or_null()
    stdout_tail = TEXT.or_null()
    stderr_tail = TEXT.or_null()
    exception = TEXT.or_null()


class Release(OfLease):
    delay_seconds = NUMBER.or_else(0)


class SettleAndClaim(Wanted):
    outcomes = JSON_OBJECTS


ROUTES = (
    Route("POST", "worker/jobs/claim", "worker_claim_jobs", Claim, "rows", own_fields=frozenset({"wait_seconds"})),
    Route("POST", "worker/jobs/settle_and_claim", "worker_settle_and_claim", SettleAndClaim),
    Route("POST", "worker/jobs/{job_id}/heartbeat", "worker_heartbeat_job", Heartbeat, "value"),
    Route("POST", "worker/jobs/{job_id}/complete", "worker_complete_job", Complete),
    Route("POST", "worker/jobs/{job_id}/fail", "worker_fail_job", Fail),
    Route("POST", "worker/jobs/{job_id}/release", "worker_release_job", Release),
)
