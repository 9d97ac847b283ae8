"""API keys, and who the caller is."""

from typing import ClassVar

from tickwork.api.fields import FLAG, ID, NAME, TIME, ForTenant, OfTenant, Request, list_of, text, whole_number
from tickwork.api.route import Route


class Create(ForTenant):
    """With tenant_id null: for every tenant."""

    takes_null_tenant: ClassVar[bool] = True

    name = NAME
    scopes = list_of(NAME, 50)
    expires_at = TIME.or_null()
    account = text(320).or_null()


class List(OfTenant):
    with_revoked = FLAG.or_else(False)
    max_keys = whole_number(1, 1000).or_else(100)
    after_id = ID.or_null()


class OfKey(Request):
    key_id = ID


ROUTES = (
    Route("GET", "whoami", "who_am_i", Request),
    Route("GET", "keys", "list_api_keys", List, "rows", cursor="id", page_size="max_keys"),
    Route("POST", "keys", "create_api_key", Create),
    Route("DELETE", "keys/{key_id}", "revoke_api_key", OfKey),
)
