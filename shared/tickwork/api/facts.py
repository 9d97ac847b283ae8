"""Facts: what documents say about batteries."""

from tickwork.api.fields import ID, NAME, ROWS, ForTenant, OfTenant, Request, list_of
from tickwork.api.route import Route


class List(OfTenant):
    document_version_id = ID.or_null()
    snapshot_id = ID.or_null()
    fact_type = NAME.or_null()
    after_fact_id = ID.or_null()
    max_rows = ROWS.or_else(50)


class Confirm(Request):
    fact_ids = list_of(ID, 20_000)


class Map(ForTenant):
    kind = NAME
    label = NAME
    field = NAME
    unit = NAME.or_null()


class Mappings(OfTenant):
    max_rows = ROWS.or_else(50)


ROUTES = (
    Route("GET", "facts", "list_facts", List, "rows", cursor="id", page_size="max_rows"),
    Route("POST", "facts/confirm", "confirm_facts", Confirm, "rows"),
    Route("GET", "facts/mappings", "list_fact_mappings", Mappings, "rows"),
    Route("POST", "facts/mappings", "map_fact_label", Map),
)
