"""Connectors: the cloud drives of a tenant, and imports from them."""

from tickwork.api.fields import COUNT, FLAG, ID, JSON_OBJECT, JSON_OBJECTS, NAME, ForTenant, OfTenant, Request, text
from tickwork.api.route import Route


class OfConnector(Request):
    connector_id = ID


class Import(OfConnector):
    remote_path = text(4000).or_else("")
    files = JSON_OBJECTS.or_null()
    priority = COUNT.or_null()


class Create(ForTenant):
    provider = NAME
    name = NAME
    engine = NAME.or_null()
    consent = FLAG.or_else(False)


class Change(OfConnector):
    changes = JSON_OBJECT


class Token(OfConnector):
    refresh_token = text(8000)


ROUTES = (
    Route("GET", "connectors", "list_connectors", OfTenant, "rows"),
    Route("POST", "connectors", "create_connector", Create),
    Route("PATCH", "connectors/{connector_id}", "change_connector", Change),
    Route("DELETE", "connectors/{connector_id}", "delete_connector", OfConnector, "nothing"),
    Route(
        "POST",
        "connectors/{connector_id}/token",
        "set_connector_token",
        Token,
        "nothing",
        filled=frozenset({"is_sealed"}),
        seals=True,
    ),
    Route("POST", "connectors/{connector_id}/imports", "request_import", Import),
)
