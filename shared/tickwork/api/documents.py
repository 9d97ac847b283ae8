"""Documents: extract, classify and search them."""

from tickwork.api.fields import COUNT, FLAG, ID, NAME, ROWS, ForTenant, OfTenant, Request, text, whole_number
from tickwork.api.route import Route


class OfDocument(Request):
    document_id = ID


class Estimate(OfDocument):
    engine = NAME.or_else("local")


class Extract(Estimate):
    consent = FLAG.or_else(False)
    priority = COUNT.or_null()


class Correct(OfDocument):
    doc_type = NAME


class Sign(OfDocument):
    seconds = COUNT.or_else(300)


class Search(ForTenant):
    query = text(2000)
    max_hits = whole_number(1, 100).or_else(20)
    skip = COUNT.or_else(0)
    document_id = ID.or_null()
    doc_type = NAME.or_null()


class Upload(ForTenant):
    """The body is the file."""

    name = text(500, min_length=1)


class Add(Upload):
    vault_path = text(900)
    mime_type = NAME
    size = whole_number(0, 10**12)
    sha256 = NAME.or_null()


class List(OfTenant):
    doc_type = NAME.or_null()
    after_document_id = ID.or_null()
    max_rows = ROWS.or_else(50)


ROUTES = (
    Route("GET", "documents", "list_documents", List, "rows", cursor="id", page_size="max_rows"),
    Route("POST", "documents", "add_document", Add),
    Route(
        "POST",
        "documents/files",
        "add_document",
        Upload,
        filled=frozenset({"vault_path", "mime_type", "size", "sha256"}),
        takes_file=True,
        operation_id="upload_document",
    ),
    Route("GET", "documents/{document_id}", "get_document", OfDocument),
    Route("GET", "search", "search_chunks", Search, "rows"),
    Route("GET", "documents/{document_id}/estimate", "estimate_extraction", Estimate),
    Route("POST", "documents/{document_id}/extractions", "request_extraction", Extract),
    Route("POST", "documents/{document_id}/type", "correct_document_type", Correct),
    Route("GET", "documents/{document_id}/file", "sign_document", Sign),
)
