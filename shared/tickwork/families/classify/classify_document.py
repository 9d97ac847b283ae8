"""classify_document: determines the type of an extracted document, and the folder where it belongs."""

from functools import partial
from uuid import UUID

from pydantic import BaseModel

from tickwork.errors import Permanent
from tickwork.families.classify.model import Classification, classify
from tickwork.families.classify.stored import examples_of, remember_words, types_of
from tickwork.families.classify.words import words_of
from tickwork.jobs.connection import Connection
from tickwork.jobs.handler import Handler, Tools
from tickwork.jobs.outcomes import Done
from tickwork.tools.events import emit_held_event

# The first pages show what type of document it is.
MAX_TEXT_LENGTH = 20_000


class Payload(BaseModel):
    document_id: UUID


class Result(BaseModel):
    doc_type: str
    confidence: float
    suggested_node: str | None


def classify_document(payload: Payload, tools: Tools) -> Done:
    words, found = tools.under_lease(partial(look, payload.document_id, tools.tenant_id))
    tools.log("classify", doc_type=found.doc_type, confidence=round(found.confidence, 2), because=found.reasons)
    result = Result(doc_type=found.doc_type, confidence=found.confidence, suggested_node=found.suggested_node)
    return Done(result, writes=[partial(store, payload.document_id, tools.tenant_id, words, result)])


def look(document_id: UUID, tenant_id: UUID, connection: Connection) -> tuple[list[str], Classification]:
    document = connection.execute("select name from public.documents where id = %s", [document_id]).fetchone()
    if document is None:
        raise Permanent("There is no such document", code="DOCUMENT_MISSING")
    text = text_of(document_id, connection)
    if not text:
        raise Permanent("The document has no text. Extract it first", code="NOT_EXTRACTED")
    words = words_of(text, document["name"])
    if known := connection.execute(SAME_FILE, {"id": document_id}).fetchone():
        return words, Classification(known["doc_type"], 1.0, known["node"], ("a member set it for the same file",))
    return words, classify(words, types_of(connection, tenant_id), examples_of(connection, tenant_id))


def text_of(document_id: UUID, connection: Connection) -> str:
    rows = connection.execute(FIRST_CHUNKS, {"document_id": document_id, "longest": MAX_TEXT_LENGTH}).fetchall()
    return "\n".join(row["text"] for row in rows)[:MAX_TEXT_LENGTH]


SAME_FILE = """
    select twin.doc_type, twin.node
    from public.documents
    join public.documents as twin on twin.tenant_id = documents.tenant_id and twin.sha256 = documents.sha256
    where documents.id = %(id)s
      and twin.id <> documents.id
      and twin.doc_type_source = 'member'
    order by twin.updated_at desc
    limit 1
"""
FIRST_CHUNKS = """
    select text
    from (
      select text, chunk_index, sum(length(text)) over (order by chunk_index) - length(text) as before
      from public.document_chunks
      where document_id = %(document_id)s
      order by chunk_index
      limit 2000
    ) as chunk
    where before < %(longest)s
    order by chunk_index
"""


def store(document_id: UUID, tenant_id: UUID, words: list[str], result: Result, connection: Connection) -> None:
    remember_words(connection, tenant_id, document_id, words)
    # A type set by a member stays.
    connection.execute(
        """
        update public.documents
        set
          doc_type = %(doc_type)s,
          doc_type_confidence = %(confidence)s,
          doc_type_source = 'classifier',
          -- A folder chosen by somebody stays.
          node = case
            when node is null or node in (select node from public.document_types where key = documents.doc_type)
            then %(suggested_node)s
            else node
          end
        where id = %(document_id)s
          and doc_type_source is distinct from 'member'
        """,
        {**result.model_dump(), "document_id": document_id},
    )
    told = {"document_id": str(document_id), **result.model_dump()}
    emit_held_event(connection, "document.classified", f"document:{document_id}", told)


CLASSIFY_DOCUMENT: Handler[Payload] = Handler(Payload, classify_document)
