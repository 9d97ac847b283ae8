"""The audit log: who changed what."""

from tickwork.api.fields import ID, NAME, ROWS, TIME, OfTenant, whole_number
from tickwork.api.route import Route


class List(OfTenant):
    action = NAME.or_null()
    target = NAME.or_null()
    actor_id = ID.or_null()
    created_after = TIME.or_null()
    created_before = TIME.or_null()
    after_id = whole_number(0, 2**63 - 1).or_null()
    max_rows = ROWS.or_else(100)


ROUTES = (Route("GET", "audit", "list_audit", List, "rows", cursor="id", page_size="max_rows"),)
