"""Pauses and lanes: what keeps jobs from starting."""

from tickwork.api.fields import COUNT, ID, NAME, NOTE, TIME, ForTenant, OfTenant, Request
from tickwork.api.route import Route


class Resume(Request):
    family = NAME.or_null()
    type = NAME.or_null()
    tenant_id = ID.or_null()


class Pause(Resume):
    reason = NOTE.or_null()


class Lane(ForTenant):
    family = NAME
    lane = NAME


class Hold(Lane):
    held_until = TIME
    reason = NOTE.or_null()


class Limit(Lane):
    max_running = COUNT.or_null()
    starts_per_minute = COUNT.or_null()


ROUTES = (
    Route("GET", "pauses", "list_holds", Request, "rows"),
    Route("POST", "pauses", "pause_jobs", Pause, "nothing"),
    Route("POST", "pauses/resume", "resume_jobs", Resume, "nothing"),
    Route("GET", "lanes", "list_lanes", OfTenant, "rows"),
    Route("POST", "lanes/hold", "hold_lane", Hold, "nothing"),
    Route("POST", "lanes/release", "release_lane", Lane, "nothing"),
    Route("POST", "lanes/limit", "limit_lane", Limit, "nothing"),
)
