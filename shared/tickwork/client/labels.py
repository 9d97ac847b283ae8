"""Rows that people name by a label: schedules and triggers."""

from typing import LiteralString
from uuid import UUID

from psycopg.rows import DictRow

from tickwork.database.connection import Database
from tickwork.errors import InvalidRequest, NoSuchTrigger


def find_by_label(
    database: Database, table: LiteralString, kind: str, label_or_id: str, tenant_id: UUID | None
) -> DictRow:
    """The only row with this id or label. The command that lists them is called by the plural of their kind."""
    known = f"""
        select *
        from {table}
        where (label = %(given)s or id::text = lower(%(given)s))
          and (%(tenant_id)s::uuid is null or tenant_id = %(tenant_id)s)
    """
    rows = database.rows(known, {"given": label_or_id, "tenant_id": tenant_id})
    if len(rows) > 1:
        hint = "Give its id, or the tenant with --tenant."
        raise InvalidRequest(f"{len(rows)} {kind}s are named {label_or_id!r}", hint=hint)
    if not rows:
        hint = f"`tickwork {kind}s` lists them."
        raise NoSuchTrigger(f"there is no {kind} {label_or_id!r}", sqlstate="TWTRG", hint=hint)
    return rows[0]
