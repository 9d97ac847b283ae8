"""How each file ends: as a document, as one that already existed, skipped, or failed."""

from dataclasses import dataclass
from uuid import UUID

from tickwork.errors import JobError
from tickwork.families.imports.connector_state import MAX_TRIES, Connector
from tickwork.families.imports.items import Item
from tickwork.jobs.connection import Connection
from tickwork.tools.events import emit_held_event
from tickwork.tools.file_names import UNKNOWN_TYPE, mime_type_of

MAX_MESSAGE_LENGTH = 300


@dataclass(frozen=True)
class Stored:
    """What is in the vault now."""

    key: str
    size: int
    sha256: str


def register(connection: Connection, connector: Connector, item: Item, stored: Stored, job_id: UUID) -> bool:
    """Turn it into a document, unless the tenant has these bytes. Returns whether the stored file is needed."""
    # Two concurrent files with the same bytes become one document.
    connection.execute(
        "select pg_advisory_xact_lock(hashtextextended(%s, 0))", [f"{connector.tenant_id} {stored.sha256}"]
    )
    if not lock_item(connection, connector.id, item):
        return is_in_use(connection, stored.key)
    known = connection.execute(
        "select id from public.documents where tenant_id = %s and sha256 = %s order by created_at limit 1",
        [connector.tenant_id, stored.sha256],
    ).fetchone()
    if known:
        settle(connection, connector.id, item, "known", job_id, document_id=known["id"], sha256=stored.sha256)
        return is_in_use(connection, stored.key)
    document_id = insert_document(connection, connector, item, stored)
    settle(
        connection,
        connector.id,
        item,
        "imported",
        job_id,
        document_id=document_id,
        sha256=stored.sha256,
        is_handed_on=connector.extract is None,
    )
    return True


def link(connection: Connection, connector: Connector, item: Item, sha256: str, job_id: UUID) -> bool:
    """Whether the tenant already has a document with these bytes: then there is nothing to fetch."""
    known = connection.execute(
        "select id from public.documents where tenant_id = %s and sha256 = %s order by created_at limit 1",
        [connector.tenant_id, sha256],
    ).fetchone()
    if known and lock_item(connection, connector.id, item):
        settle(connection, connector.id, item, "known", job_id, document_id=known["id"], sha256=sha256)
    return known is not None


def lock_item(connection: Connection, connector_id: UUID, item: Item) -> bool:
    """Whether this revision is still to be fetched; if so, it is locked until the end of the transaction."""
    row = connection.execute(
        """
        select
        from public.imported_items
        where connector_id = %s
          and drive_id = %s
          and item_id = %s
          and revision = %s
          and status = 'pending'
        for no key update
        """,
        [connector_id, item.drive, item.id, item.revision],
    ).fetchone()
    return row is not None


def is_in_use(connection: Connection, key: str) -> bool:
    return connection.execute("select from public.documents where vault_path = %s", [key]).fetchone() is not None


def insert_document(connection: Connection, connector: Connector, item: Item, stored: Stored) -> UUID:
    """The only place where imported documents are inserted."""
    mime_type = mime_type_of(item.name)
    (row,) = connection.execute(
        """
        insert into public.documents (tenant_id, name, vault_path, mime_type, size, sha256)
        values (%s, %s, %s, %s, %s, %s)
        returning id
        """,
        [
            connector.tenant_id,
            item.name,
            stored.key,
            item.mime_type if mime_type == UNKNOWN_TYPE and item.mime_type else mime_type,
            stored.size,
            stored.sha256,
        ],
    ).fetchall()
    id: UUID = row["id"]
    told = {"document_id": str(id), "name": item.name, "connector_id": str(connector.id), "path": item.path}
    emit_held_event(connection, "document.imported", f"document:{id}", told)
    return id


def settle(
    connection: Connection,
    connector_id: UUID,
    item: Item,
    status: str,
    job_id: UUID,
    *,
    document_id: UUID | None = None,
    sha256: str | None = None,
    is_handed_on: bool = True,
) -> None:
    connection.execute(
        """
        update public.imported_items
        set
          status = %s, job_id = %s, document_id = %s, sha256 = %s, is_handed_on = %s, tries = 0, reason = null,
          message = null
        where connector_id = %s
          and drive_id = %s
          and item_id = %s
        """,
        [status, job_id, document_id, sha256, is_handed_on, connector_id, item.drive, item.id],
    )


def note_failure(
    connection: Connection, connector: Connector, item: Item, error: JobError, is_final: bool, job_id: UUID
) -> None:
    """Record a failed try: after the last one, or if another one would not help, the file has failed."""
    connection.execute(
        """
        update public.imported_items
        set
          tries = tries + 1,
          status = case when %(is_final)s or tries + 1 >= %(most)s then %(status)s else status end,
          reason = %(reason)s,
          message = %(message)s,
          job_id = %(job_id)s
        where connector_id = %(connector_id)s
          and drive_id = %(drive)s
          and item_id = %(item)s
          and status = 'pending'
        """,
        {
            "is_final": is_final,
            "most": MAX_TRIES,
            # What nobody can fetch is no failure of the import.
            "status": "skipped" if error.code in ("NOT_THERE", "NOT_DOWNLOADABLE") else "failed",
            "reason": error.code,
            "message": str(error)[:MAX_MESSAGE_LENGTH],
            "job_id": job_id,
            "connector_id": connector.id,
            "drive": item.drive,
            "item": item.id,
        },
    )
