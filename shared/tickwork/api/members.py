"""Members: who belongs to a tenant, and which tenants there are."""

from tickwork.api.fields import COUNT, ID, NAME, ForTenant, Request
from tickwork.api.route import Route


class Find(Request):
    words = NAME.or_null()
    max_tenants = COUNT.or_null()


class Remove(ForTenant):
    user_id = ID


class Change(Remove):
    role = NAME.or_else("member")


ROUTES = (
    Route("GET", "tenants", "find_tenants", Find, "rows"),
    Route("GET", "members", "list_members", ForTenant, "rows"),
    Route("PUT", "members/{user_id}", "set_member", Change),
    Route("DELETE", "members/{user_id}", "remove_member", Remove, "value"),
)
