"""The type of a stored document: determined from its text, and written into its row."""

from collections.abc import Iterable, Mapping
from typing import Any
from uuid import UUID

from tickwork.jobs.connection import Connection
from tickwork.tools.classifier.model import Classification, classify
from tickwork.tools.classifier.stored import examples_of, remember_words, types_of
from tickwork.tools.classifier.words import Piece, words_of
from tickwork.tools.events import emit_held_event

Seen = tuple[list[str], Classification]


def look(document: Mapping[str, Any], sha256: str | None, pieces: Iterable[Piece], connection: Connection) -> Seen:
    """What was seen of the document, and what it is: by its words, or because a member said so of the same file."""
    words = words_of(pieces, document["name"])
    same_file = {"id": document["id"], "tenant_id": document["tenant_id"], "sha256": sha256}
    if known := connection.execute(SAME_FILE, same_file).fetchone():
        return words, Classification(known["doc_type"], 1.0, known["node"], ("a member set it for the same file",))
    tenant_id = document["tenant_id"]
    return words, classify(words, types_of(connection, tenant_id), examples_of(connection, tenant_id))


SAME_FILE = """
    select doc_type, node
    from public.documents
    where tenant_id = %(tenant_id)s
      and sha256 = %(sha256)s
      and id <> %(id)s
      and doc_type_source = 'member'
    order by updated_at desc
    limit 1
"""


def store(document_id: UUID, tenant_id: UUID, seen: Seen, connection: Connection) -> None:
    """Record the type, unless a member has set one, and tell subscribers."""
    words, found = seen
    remember_words(connection, tenant_id, document_id, words)
    told = {"document_id": str(document_id), **as_result(found)}
    connection.execute(STORE_TYPE, told)
    emit_held_event(connection, "document.classified", f"document:{document_id}", told)


def as_result(found: Classification) -> dict[str, Any]:
    runner_up, share = found.runner_up or (None, None)
    return {
        "doc_type": found.doc_type,
        "confidence": found.confidence,
        "runner_up": runner_up,
        "runner_up_confidence": share,
        "suggested_node": found.suggested_node,
    }


# A type set by a member stays, and so does a folder chosen by somebody.
STORE_TYPE = """
    update public.documents
    set
      doc_type = %(doc_type)s,
      doc_type_confidence = %(confidence)s,
      doc_type_source = 'classifier',
      doc_type_runner_up = %(runner_up)s,
      doc_type_runner_up_confidence = %(runner_up_confidence)s,
      node = case
        when node is null or node in (select node from public.document_types where key = documents.doc_type)
        then %(suggested_node)s
        else node
      end
    where id = %(document_id)s
      and doc_type_source is distinct from 'member'
"""
