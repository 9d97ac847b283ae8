"""classify_document: determines the type of an extracted document once more, and the folder where it belongs."""

from functools import partial
from uuid import UUID

from pydantic import BaseModel

from tickwork.errors import Permanent
from tickwork.jobs.connection import Connection
from tickwork.jobs.handler import Handler, Tools
from tickwork.jobs.outcomes import Done
from tickwork.tools.classifier.documents import Seen, as_result, look, store
from tickwork.tools.classifier.words import MAX_TEXT_LENGTH


class Payload(BaseModel):
    document_id: UUID


class Result(BaseModel):
    doc_type: str
    confidence: float
    runner_up: str | None
    runner_up_confidence: float | None
    suggested_node: str | None


def classify_document(payload: Payload, tools: Tools) -> Done:
    seen = tools.under_lease(partial(read, payload.document_id))
    _, found = seen
    tools.log("classify", doc_type=found.doc_type, confidence=round(found.confidence, 2), because=found.reasons)
    return Done(
        Result(**as_result(found)),
        writes=[partial(store, payload.document_id, tools.tenant_id, seen)],
    )


def read(document_id: UUID, connection: Connection) -> Seen:
    document = connection.execute("select * from public.documents where id = %s", [document_id]).fetchone()
    if document is None:
        raise Permanent("There is no such document", code="DOCUMENT_MISSING")
    chunks = connection.execute(FIRST_CHUNKS, {**document, "longest": MAX_TEXT_LENGTH}).fetchall()
    if not chunks:
        raise Permanent("The document has no text. Extract it first", code="NOT_EXTRACTED")
    return look(document, document["sha256"], [(row["element_type"], row["text"]) for row in chunks], connection)


# As much as the classifier looks at: the first pages show what type of document it is.
FIRST_CHUNKS = """
    select element_type, text
    from (
      select element_type, text, chunk_index, sum(length(text)) over (order by chunk_index) - length(text) as before
      from public.document_chunks
      where tenant_id = %(tenant_id)s
        and document_id = %(id)s
      order by chunk_index
      limit 2000
    ) as chunk
    where before < %(longest)s
    order by chunk_index
"""


CLASSIFY_DOCUMENT: Handler[Payload] = Handler(Payload, classify_document, Result)
