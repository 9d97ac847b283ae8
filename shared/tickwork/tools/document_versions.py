"""The version of a passport document that a handler adds in a transaction that holds its job."""

from uuid import UUID

from tickwork.jobs.connection import Connection


def add_held_document_version(
    connection: Connection,
    document_version_id: UUID,
    passport_document_id: UUID,
    document_id: UUID,
    schema_version: str,
) -> None:
    """Make a document of the tenant the next version; parse_facts is to follow."""
    connection.execute(
        """
        select public.add_held_document_version(
          document_version_id => %s, passport_document_id => %s, document_id => %s, schema_version => %s
        )
        """,
        [document_version_id, passport_document_id, document_id, schema_version],
    )
