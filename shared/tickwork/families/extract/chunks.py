"""The text of a document in pieces that can be searched, one or more for each element."""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from tickwork.errors import Permanent
from tickwork.families.extract.elements import Element, Metadata
from tickwork.families.extract.extractions import Task
from tickwork.jobs.connection import Connection

# Longer ones are cut: a search vector cannot hold more, and nobody reads a hit of ten pages.
MAX_CHUNK_LENGTH = 8_000
# How many are stored per statement: few round trips, and none of them takes too long.
CHUNKS_AT_ONCE = 2_000


@dataclass(frozen=True)
class Chunk:
    element: Element
    text: str


def chunks_of(elements: Iterable[Element]) -> Iterator[Chunk]:
    """One chunk for each element with text, or several if it is too long."""
    for element in elements:
        text = element["text"]
        while text:
            end = (
                len(text) if len(text) <= MAX_CHUNK_LENGTH else text.rfind(" ", MAX_CHUNK_LENGTH // 2, MAX_CHUNK_LENGTH)
            )
            end = MAX_CHUNK_LENGTH if end < 0 else end
            yield Chunk(element, text[:end])
            text = text[end:].lstrip()


def replace_chunks(connection: Connection, task: Task, chunks: Iterator[Chunk]) -> None:
    """Replaces the text that the document had."""
    document = [task.document["tenant_id"], task.document["id"]]
    lock = "select from public.documents where tenant_id = %s and id = %s for no key update"
    if connection.execute(lock, document).fetchone() is None:
        raise Permanent("The document no longer exists", code="DOCUMENT_MISSING")
    connection.execute("delete from public.document_chunks where tenant_id = %s and document_id = %s", document)
    first = 0
    while some := list(islice(chunks, CHUNKS_AT_ONCE)):
        connection.execute(INSERT_CHUNKS, columns_of(task, some, first))
        first += len(some)


# Many at once: COPY does not work with row-level security, and this is as fast.
INSERT_CHUNKS = """
    insert into public.document_chunks (
      document_id, tenant_id, extraction_id, chunk_index, page_number, element_type, text, metadata
    )
    select
      %(document_id)s, %(tenant_id)s, %(extraction_id)s,
      %(first)s + chunk.number - 1, chunk.page_number, chunk.element_type, chunk.text, chunk.metadata::jsonb
    from unnest(%(pages)s::integer[], %(types)s::text[], %(texts)s::text[], %(metadata)s::text[])
      with ordinality as chunk(page_number, element_type, text, metadata, number)
"""


def columns_of(task: Task, chunks: Sequence[Chunk], first: int = 0) -> dict[str, Any]:
    return {
        "document_id": task.document["id"],
        "tenant_id": task.document["tenant_id"],
        "extraction_id": task.extraction_id,
        "first": first,
        "pages": [chunk.element["metadata"].get("page_number") for chunk in chunks],
        "types": [chunk.element["type"] for chunk in chunks],
        "texts": [chunk.text for chunk in chunks],
        "metadata": [json.dumps(small(chunk.element["metadata"])) for chunk in chunks],
    }


def small(metadata: Metadata) -> dict[str, Any]:
    # The HTML of a table can be larger than all the rest; it is stored in the vault with the other elements.
    return {name: value for name, value in metadata.items() if name != "text_as_html"}
