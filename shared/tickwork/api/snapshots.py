"""Snapshots: the facts that passports are compiled from."""

from tickwork.api.fields import ID, NAME, ROWS, ForTenant, OfTenant, Request, list_of, text
from tickwork.api.route import Route


class OfSnapshot(Request):
    snapshot_id = ID


class Create(ForTenant):
    name = text(500, min_length=1)


class Add(OfSnapshot):
    fact_ids = list_of(ID, 20_000).or_else([])
    document_version_id = ID.or_null()


class Remove(OfSnapshot):
    fact_ids = list_of(ID, 20_000)


class List(OfTenant):
    name = text(500).or_null()
    status = NAME.or_null()
    after_snapshot_id = ID.or_null()
    max_rows = ROWS.or_else(50)


ROUTES = (
    Route("GET", "snapshots", "list_snapshots", List, "rows"),
    Route("POST", "snapshots", "create_snapshot", Create),
    Route("POST", "snapshots/{snapshot_id}/items", "add_snapshot_items", Add),
    Route("POST", "snapshots/{snapshot_id}/items/remove", "remove_snapshot_items", Remove),
    Route("POST", "snapshots/{snapshot_id}/build", "request_build", OfSnapshot),
    Route("POST", "snapshots/{snapshot_id}/seal", "seal_snapshot", OfSnapshot),
)
