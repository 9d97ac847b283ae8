"""What the classifier reads and writes, for the tenant whose rows the connection may access."""

from collections.abc import Sequence
from uuid import UUID

from tickwork.jobs.connection import Connection
from tickwork.tools.classifier.model import DocumentType, Example

# More would slow down every document, and the newest show best what the tenant wants.
MAX_EXAMPLES = 200


def types_of(connection: Connection, tenant_id: UUID) -> list[DocumentType]:
    """The shared types with the tenant's own on top: these replace label and node, and add to the evidence."""
    rows = connection.execute(
        """
        select key, node, evidence
        from public.document_types
        where tenant_id = %s
          or tenant_id is null
        order by tenant_id nulls first, key
        """,
        [tenant_id],
    ).fetchall()
    types: dict[str, DocumentType] = {}
    for row in rows:
        common = types.get(row["key"])
        evidence = {**(common.evidence if common else {}), **row["evidence"]}
        types[row["key"]] = DocumentType(row["key"], row["node"], evidence)
    return list(types.values())


def examples_of(connection: Connection, tenant_id: UUID) -> list[Example]:
    """The tenant's newest corrections, with what the classifier saw of the documents."""
    rows = connection.execute(
        """
        select document_corrections.doc_type, document_words.words
        from public.document_corrections
        join public.document_words on document_words.document_id = document_corrections.document_id
        where document_corrections.tenant_id = %s
          and document_words.tenant_id = document_corrections.tenant_id
        order by document_corrections.corrected_at desc
        limit %s
        """,
        [tenant_id, MAX_EXAMPLES],
    ).fetchall()
    return [Example(row["doc_type"], row["words"]) for row in rows]


def remember_words(connection: Connection, tenant_id: UUID, document_id: UUID, words: Sequence[str]) -> None:
    """Store what was seen of a document, in case a member corrects its type."""
    connection.execute(
        """
        insert into public.document_words (document_id, tenant_id, words)
        values (%s, %s, %s)
        on conflict (document_id) do update
        set words = excluded.words
        """,
        [document_id, tenant_id, list(words)],
    )
