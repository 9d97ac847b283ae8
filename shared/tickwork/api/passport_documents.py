"""Documents that facts for passports come from, and their versions."""

from tickwork.api.fields import ID, NAME, ROWS, ForTenant, OfTenant, Request, text
from tickwork.api.route import Route


class Create(ForTenant):
    name = text(500, min_length=1)
    kind = NAME


class Add(Request):
    passport_document_id = ID
    document_id = ID
    schema_version = NAME.or_else("1")


class List(OfTenant):
    kind = NAME.or_null()
    name = text(500).or_null()
    after_document_id = ID.or_null()
    max_rows = ROWS.or_else(50)


class Versions(OfTenant):
    passport_document_id = ID.or_null()
    after_document_version_id = ID.or_null()
    max_rows = ROWS.or_else(50)


ROUTES = (
    Route("GET", "passport_documents", "list_passport_documents", List, "rows"),
    Route("POST", "passport_documents", "create_passport_document", Create),
    Route("GET", "passport_documents/versions", "list_document_versions", Versions, "rows"),
    Route("POST", "passport_documents/{passport_document_id}/versions", "add_document_version", Add),
)
