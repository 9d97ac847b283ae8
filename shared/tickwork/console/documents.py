"""Documents: the list, search, one of them with its type and extractions, and what extractions have cost."""

import json
import re
from typing import TYPE_CHECKING

from tickwork.api.documents import ROUTES
from tickwork.api.reading import Arguments
from tickwork.api.storing import Stores
from tickwork.console.files import SIGNED_SECONDS, file_of, has_vault
from tickwork.console.page import Page, Redirect, Refused, Sent, Shown

if TYPE_CHECKING:
    from tickwork.console.view import View

PAGE_SIZE = 50
HITS = 20
# There are no verbs for these: row-level security decides what is seen.
TYPES = """
    select distinct on (key) key, label, coalesce(label_en, label) as label_en
    from public.document_types
    where tenant_id = %(tenant_id)s or tenant_id is null
    order by key, tenant_id nulls last
"""
ENGINES = "select key, label, needs_consent from public.extraction_engines order by key"
EXTRACTIONS = """
    select *
    from public.extractions
    where tenant_id = %(tenant_id)s and document_id = %(document_id)s
    order by created_at desc
    limit 20
"""
USAGE = """
    select month, engine, extractions, pages, cents
    from public.usage
    where tenant_id = %(tenant_id)s
    order by month desc, engine
    limit 200
"""


def documents_page(view: "View") -> Shown:
    after = view.query.get("after")
    documents = view.rows(
        "list_documents",
        tenant_id=view.tenant_id,
        doc_type=view.query.get("type"),
        after_document_id=view.id_of(after) if after else None,
        max_rows=PAGE_SIZE,
    )
    older = view.here(after=documents[-1]["id"]) if len(documents) == PAGE_SIZE else None
    return view.show("documents.html", documents=documents, older=older)


def search_page(view: "View") -> Shown:
    query, skip = view.query.get("q", ""), view.query.get("skip", "0")
    if not (skip.isascii() and skip.isdigit() and len(skip) < 7):
        raise Refused(400, view.say("There is no such page."))
    hits = view.rows("search_chunks", tenant_id=view.tenant_id, query=query, max_hits=HITS, skip=skip) if query else []
    total = hits[0]["total"] if hits else 0
    further = view.here(skip=int(skip) + HITS) if int(skip) + HITS < total else None
    shown = [{**hit, "parts": marked(hit["snippet"])} for hit in hits]
    return view.show("search.html", query=query, hits=shown, total=total, further=further)


def marked(snippet: str) -> list[tuple[str, bool]]:
    """The parts of a snippet, each with whether it is a hit: those are between « and »."""
    parts = re.split("«([^«»]*)»", snippet)
    return [(part, place % 2 == 1) for place, part in enumerate(parts) if part]


def document_page(view: "View", document_id: str) -> Shown:
    document = view.row("get_document", document_id=view.id_of(document_id))
    given = {"tenant_id": document["tenant_id"], "document_id": document["id"]}
    engines = view.select(ENGINES, {})
    return view.show(
        "document.html",
        document=document,
        types=view.select(TYPES, given),
        engines=engines,
        estimates={
            engine["key"]: view.row("estimate_extraction", document_id=document["id"], engine=engine["key"])
            for engine in engines
        },
        extractions=view.select(EXTRACTIONS, given),
        can_download=has_vault(view),
    )


def usage_page(view: "View") -> Shown:
    return view.show("usage.html", months=view.select(USAGE, {"tenant_id": view.tenant_id}))


def download(view: "View", document_id: str) -> Redirect | Sent:
    id = view.id_of(document_id)
    found = view.row("sign_document", document_id=id, seconds=SIGNED_SECONDS)
    name = view.row("get_document", document_id=id)["name"]
    return file_of(view, found["tenant_id"], found["vault_path"], name)


def upload(view: "View") -> Redirect:
    """The body is the file: the same as POST /documents/files of the API."""
    view.check_writable()
    assert view.caller is not None
    assert view.origin is not None
    (route,) = (each for each in ROUTES if each.takes_file)
    given = {"tenant_id": view.tenant_id, "name": view.query.get("name", "")}
    document = Stores(view.settings).uploaded(
        view.connections, route, Arguments(given, {}, None, False), view.caller, view.origin, view.request
    )
    return Redirect(view.url(f"/documents/{json.loads(document or '{}')['id']}"), view.say("The file is in the vault."))


def correct_type(view: "View", document_id: str) -> Redirect:
    view.rows("correct_document_type", document_id=view.id_of(document_id), doc_type=view.typed("doc_type"))
    return Redirect(view.url(f"/documents/{document_id}"), view.say("The type was corrected."))


def request_extraction(view: "View", document_id: str) -> Redirect:
    view.rows(
        "request_extraction",
        document_id=view.id_of(document_id),
        engine=view.typed("engine"),
        consent=view.form.get("consent") == "yes",
    )
    return Redirect(view.url(f"/documents/{document_id}"), view.say("The extraction was requested."))


PAGES = (
    Page("POST", "/documents/files", upload, module="documents", takes_file=True),
    Page("GET", "/documents", documents_page, module="documents", needs_tenant=True),
    Page("GET", "/documents/search", search_page, module="documents", needs_tenant=True),
    Page("GET", "/documents/usage", usage_page, module="documents", needs_tenant=True),
    Page("GET", "/documents/{document_id}", document_page, module="documents"),
    Page("GET", "/documents/{document_id}/file", download, module="documents"),
    Page("POST", "/documents/{document_id}/type", correct_type, module="documents"),
    Page("POST", "/documents/{document_id}/extractions", request_extraction, module="documents"),
)
