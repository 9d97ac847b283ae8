"""What the database knows about a connector: its folders, and its files with what has become of them.

Every function runs in a transaction that holds a job of the tenant.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from psycopg.types.json import Jsonb

from tickwork.errors import Permanent
from tickwork.families.imports.items import Item, Page
from tickwork.jobs.connection import Connection

# How many times one import tries to fetch a file.
MAX_TRIES = 3


@dataclass(frozen=True)
class Connector:
    id: UUID
    tenant_id: UUID
    provider: str
    status: str
    extract: str | None
    watch_url: str | None


def read_connector(connection: Connection, id: UUID, provider: str | None = None) -> Connector:
    row = connection.execute(
        "select id, tenant_id, provider, status, extract, watch_url from public.connectors where id = %s", [id]
    ).fetchone()
    if row is None or provider not in (None, row["provider"]):
        raise Permanent("There is no such connector of this provider", code="CONNECTOR_MISSING")
    return Connector(**row)


def folders(connection: Connection, connector: Connector) -> list[str]:
    query = "select remote_path from public.connector_folders where connector_id = %s order by remote_path"
    return [row["remote_path"] for row in connection.execute(query, [connector.id])]


def cursor_of(connection: Connection, connector: Connector, folder: str) -> str | None:
    query = "select cursor from public.connector_folders where connector_id = %s and remote_path = %s"
    row = connection.execute(query, [connector.id, folder]).fetchone()
    cursor: str | None = row["cursor"] if row else None
    return cursor


def try_failed_again(connection: Connection, connector: Connector, folder: str, job_id: UUID) -> None:
    """Retries what failed in another import. A cursor never leads to it again, unless it changes."""
    connection.execute(
        """
        update public.imported_items
        set status = 'pending', tries = 0
        where connector_id = %s
          and folder = %s
          and status = 'failed'
          and job_id is distinct from %s
        """,
        [connector.id, folder, job_id],
    )


def save_page(connection: Connection, connector: Connector, folder: str, page: Page, job_id: UUID) -> int:
    """Stores the items together with the cursor that leads past them. Returns how many have not changed."""
    unchanged = save_items(connection, connector, folder, page.items, job_id)
    mark_gone(connection, connector, page.gone, job_id)
    save_cursor(connection, connector, folder, page.cursor, page.is_last)
    return unchanged


def save_cursor(connection: Connection, connector: Connector, folder: str, cursor: str | None, is_last: bool) -> None:
    connection.execute(
        """
        insert into public.connector_folders (connector_id, remote_path, tenant_id, cursor, is_listed, listed_at)
        values (
          %(connector_id)s, %(folder)s, %(tenant_id)s, %(cursor)s, %(is_last)s,
          case when %(is_last)s then clock_timestamp() end
        )
        on conflict (connector_id, remote_path) do update
        set
          cursor = excluded.cursor,
          is_listed = excluded.is_listed,
          listed_at = coalesce(excluded.listed_at, connector_folders.listed_at)
        """,
        {
            "connector_id": connector.id,
            "tenant_id": connector.tenant_id,
            "folder": folder,
            "cursor": cursor,
            "is_last": is_last,
        },
    )


def save_items(connection: Connection, connector: Connector, folder: str, items: Sequence[Item], job_id: UUID) -> int:
    """Records what is to be fetched. Returns how many have already been imported in this version."""
    # Deltas repeat items: the last one counts.
    latest = {(each.drive, each.id): each for each in items}
    rows = connection.execute(
        SAVE_ITEMS,
        {
            "connector_id": connector.id,
            "tenant_id": connector.tenant_id,
            "folder": folder,
            "job_id": job_id,
            "items": Jsonb([as_row(each) for each in latest.values()]),
        },
    ).fetchall()
    return sum(row["status"] in ("imported", "known") for row in rows)


def as_row(item: Item) -> dict[str, Any]:
    return {
        "drive_id": item.drive,
        "item_id": item.id,
        "path": item.path,
        "name": item.name,
        "revision": item.revision,
        "provider_hash": item.hash,
        "size": item.size,
        "mime_type": item.mime_type,
        "details": dict(item.details),
        "is_renamed": item.is_renamed,
        "status": "skipped" if item.refusal else "pending",
        "reason": item.refusal,
    }


# An imported file is not imported again while its content is the same: by its revision or, if the file was only renamed
# or moved, by the provider's hash.
SAVE_ITEMS = """
    insert into public.imported_items (
      connector_id, tenant_id, folder, job_id, drive_id, item_id, path, name, revision, provider_hash, size, mime_type,
      details, is_renamed, status, reason
    )
    select
      %(connector_id)s, %(tenant_id)s, %(folder)s, case listed.status when 'skipped' then %(job_id)s::uuid end,
      listed.drive_id, listed.item_id, listed.path, listed.name, listed.revision, listed.provider_hash, listed.size,
      listed.mime_type, listed.details, listed.is_renamed, listed.status, listed.reason
    from jsonb_to_recordset(%(items)s) as listed(
      drive_id text, item_id text, path text, name text, revision text, provider_hash text, size bigint, mime_type text,
      details jsonb, is_renamed boolean, status text, reason text
    )
    on conflict (connector_id, drive_id, item_id) do update
    set
      folder = excluded.folder,
      path = excluded.path,
      name = excluded.name,
      is_renamed = excluded.is_renamed,
      revision = excluded.revision,
      provider_hash = excluded.provider_hash,
      size = excluded.size,
      mime_type = excluded.mime_type,
      details = excluded.details,
      (status, tries, reason, message, job_id) = (
        select
          case when is_same then imported_items.status else excluded.status end,
          case when is_same then imported_items.tries else 0 end,
          case when is_same then imported_items.reason else excluded.reason end,
          case when is_same then imported_items.message end,
          case when is_same then imported_items.job_id else excluded.job_id end
        from (
          select coalesce(
            (imported_items.status in ('imported', 'known', 'skipped') and imported_items.revision = excluded.revision)
            or (
              imported_items.status in ('imported', 'known')
              and excluded.status = 'pending'
              and imported_items.provider_hash = excluded.provider_hash
            ),
            false
          )
        ) as compared(is_same)
      )
    returning status
"""


def mark_gone(connection: Connection, connector: Connector, gone: Sequence[str], job_id: UUID) -> None:
    """Marks what was deleted at the provider, with everything in a deleted folder. Documents stay."""
    if gone:
        connection.execute(
            """
            update public.imported_items
            set status = 'gone', job_id = %(job_id)s
            where connector_id = %(connector_id)s
              and status <> 'gone'
              and (
                item_id = any (%(gone)s)
                or lower(path) = any (%(paths)s)
                or exists (select from unnest(%(paths)s) as deleted where starts_with(lower(path), deleted || '/'))
              )
            """,
            {
                "connector_id": connector.id,
                "job_id": job_id,
                "gone": list(gone),
                "paths": [each.lower() for each in gone if each.startswith("/")],
            },
        )


def to_fetch(connection: Connection, connector: Connector, folder: str, most: int) -> list[Item]:
    rows = connection.execute(
        """
        select drive_id, item_id, path, name, revision, provider_hash, size, mime_type, details, is_renamed
        from public.imported_items
        where connector_id = %s
          and folder = %s
          and status = 'pending'
        order by tries, item_id
        limit %s
        """,
        [connector.id, folder, most],
    ).fetchall()
    return [as_item(row) for row in rows]


def as_item(row: Mapping[str, Any]) -> Item:
    return Item(
        id=row["item_id"],
        revision=row["revision"],
        name=row["name"],
        path=row["path"],
        drive=row["drive_id"],
        size=row["size"],
        hash=row["provider_hash"],
        mime_type=row["mime_type"],
        is_renamed=row["is_renamed"],
        details=row["details"],
    )


def count_to_fetch(connection: Connection, connector: Connector, folder: str) -> tuple[int, int]:
    """Files, and their bytes."""
    (row,) = connection.execute(
        """
        select count(*) as files, coalesce(sum(size), 0)::bigint as bytes
        from public.imported_items
        where connector_id = %s
          and folder = %s
          and status = 'pending'
        """,
        [connector.id, folder],
    ).fetchall()
    return row["files"], row["bytes"]


def is_to_fetch(connection: Connection, connector: Connector, item: Item) -> bool:
    row = connection.execute(
        "select status = 'pending' as is_pending from public.imported_items "
        "where connector_id = %s and drive_id = %s and item_id = %s",
        [connector.id, item.drive, item.id],
    ).fetchone()
    return bool(row and row["is_pending"])
