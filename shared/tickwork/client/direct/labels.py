"""Rows that people name by a label: schedules and triggers."""

from collections.abc import Sequence
from typing import LiteralString
from uuid import UUID

from tickwork.client.way import Row
from tickwork.database.sql import Sql
from tickwork.errors import InvalidRequest, NoSuchTrigger


def find_by_label(database: Sql, table: LiteralString, kind: str, label_or_id: str, tenant_id: UUID | None) -> Row:
    """The only row with this id or label. The command that lists them is called by the plural of their kind."""
    known = f"""
        select *
        from {table}
        where (label = %(given)s or id::text = lower(%(given)s))
          and (%(tenant_id)s::uuid is null or tenant_id = %(tenant_id)s)
    """
    return only(database.rows(known, {"given": label_or_id, "tenant_id": tenant_id}), kind, label_or_id)


def find_listed(listed: Sequence[Row], kind: str, label_or_id: str) -> Row:
    """The same among rows that somebody else has listed."""
    rows = [row for row in listed if label_or_id == row["label"] or label_or_id.lower() == str(row["id"])]
    return only(rows, kind, label_or_id)


def only(rows: Sequence[Row], kind: str, label_or_id: str) -> Row:
    if len(rows) > 1:
        hint = "Give its id, or the tenant with --tenant."
        raise InvalidRequest(f"{len(rows)} {kind}s are named {label_or_id!r}", hint=hint)
    if not rows:
        hint = f"`tickwork {kind}s` lists them."
        raise NoSuchTrigger(f"there is no {kind} {label_or_id!r}", sqlstate="TWTRG", hint=hint)
    return rows[0]
