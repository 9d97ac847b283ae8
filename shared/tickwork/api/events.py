"""Events: what happened, and what would come of it."""

from tickwork.api.fields import ID, JSON_OBJECT, NAME, ROWS, ForTenant, OfTenant
from tickwork.api.route import Route


class Emit(ForTenant):
    type = NAME
    aggregate = NAME.or_null()
    payload = JSON_OBJECT.or_else({})


class List(OfTenant):
    only_type = NAME.or_null()
    after_event_id = ID.or_null()
    max_rows = ROWS.or_else(50)


ROUTES = (
    Route("GET", "events", "list_events", List, "rows", cursor="id", page_size="max_rows"),
    Route("POST", "events", "emit_event", Emit, "value"),
    Route("POST", "events/test", "test_event", Emit, "rows"),
)
