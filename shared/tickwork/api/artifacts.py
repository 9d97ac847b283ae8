"""Artifacts: large payloads and results, and files that jobs make."""

from tickwork.api.fields import COUNT, ID, NAME, ROWS, ForTenant, OfTenant, Request, text, whole_number
from tickwork.api.route import Route


class Add(ForTenant):
    size = whole_number(0, 10**12)
    sha256 = text(64, min_length=64)
    name = NAME.or_else("payload.json")
    mime_type = NAME.or_else("application/json")


class List(OfTenant):
    job_id = ID.or_null()
    max_rows = ROWS.or_else(50)


class Sign(Request):
    artifact_id = ID
    seconds = COUNT.or_else(300)


ROUTES = (
    Route("GET", "artifacts", "list_artifacts", List, "rows"),
    Route("POST", "artifacts", "add_artifact", Add),
    Route("GET", "artifacts/{artifact_id}/file", "sign_artifact", Sign),
)
