"""How an import went: the result of a job, and the documents that are passed on to be extracted."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from pydantic import BaseModel, ConfigDict

from tickwork.families.imports.connector_state import Connector
from tickwork.jobs.connection import Connection
from tickwork.jobs.rows import FollowUp

# A result is for people and has a limit; imported_items has all files, in full.
MAX_LISTED = 100
MAX_NAME_LENGTH = 120
MAX_HANDED_ON = 1000


class Named(BaseModel):
    model_config = ConfigDict(json_schema_serialization_defaults_required=True)

    name: str
    reason: str
    message: str | None = None


class Result(BaseModel):
    """`known_count` are files whose bytes the tenant already had, `unchanged_count` those imported earlier."""

    imported_count: int
    imported_bytes: int
    document_ids: list[UUID]
    known_count: int
    unchanged_count: int
    skipped_count: int
    skipped: list[Named]
    failed_count: int
    failed: list[Named]
    renamed: list[str]
    is_continued: bool


def sum_up(
    connection: Connection,
    connector: Connector,
    job_id: UUID,
    unchanged: int,
    unfound: Sequence[Named],
    is_continued: bool,
) -> Result:
    """Everything that the job has decided, in this attempt or an earlier one."""
    rows = connection.execute(
        """
        select status, document_id, name, path, reason, message, size, is_renamed
        from public.imported_items
        where connector_id = %s
          and job_id = %s
          and status in ('imported', 'known', 'skipped', 'failed')
        order by path
        """,
        [connector.id, job_id],
    ).fetchall()
    imported = [row for row in rows if row["status"] == "imported"]
    skipped = [named(row) for row in rows if row["status"] == "skipped"]
    failed = [*unfound, *(named(row) for row in rows if row["status"] == "failed")]
    return Result(
        imported_count=len(imported),
        imported_bytes=sum(row["size"] or 0 for row in imported),
        document_ids=[row["document_id"] for row in imported if row["document_id"]],
        known_count=sum(row["status"] == "known" for row in rows),
        unchanged_count=unchanged,
        skipped_count=len(skipped),
        skipped=skipped[:MAX_LISTED],
        failed_count=len(failed),
        failed=failed[:MAX_LISTED],
        renamed=[row["name"][-MAX_NAME_LENGTH:] for row in imported if row["is_renamed"]][:MAX_LISTED],
        is_continued=is_continued,
    )


def named(row: dict[str, Any]) -> Named:
    return Named(name=row["path"][-MAX_NAME_LENGTH:], reason=row["reason"] or "UNKNOWN", message=row["message"])


def documents_to_read(connection: Connection, connector: Connector) -> list[UUID]:
    """Documents that have not been passed on yet, of this job or of one that died before it could."""
    if connector.extract is None:
        return []
    rows = connection.execute(
        """
        select document_id
        from public.imported_items
        where connector_id = %s
          and not is_handed_on
          and document_id is not null
          and exists (select from public.job_types where key = 'extract_document' and is_active)
        limit %s
        """,
        [connector.id, MAX_HANDED_ON],
    ).fetchall()
    return [row["document_id"] for row in rows]


def hand_on(connector: Connector, documents: Sequence[UUID], connection: Connection) -> None:
    """Written with the completion: the extraction has the consent that was given for the connector."""
    connection.execute(
        """
        insert into public.extractions (tenant_id, document_id, engine, consent_given_at, consent_given_by)
        select connectors.tenant_id, document.id, connectors.extract, consent_given_at, consent_given_by
        from public.connectors
        cross join unnest(%s::uuid[]) as document(id)
        where connectors.id = %s
          and connectors.extract is not null
        """,
        [list(documents), connector.id],
    )
    connection.execute(
        "update public.imported_items set is_handed_on = true where connector_id = %s and document_id = any (%s)",
        [connector.id, list(documents)],
    )


def reading(document_id: UUID, engine: str | None) -> FollowUp:
    return FollowUp(
        type="extract_document",
        payload={"document_id": str(document_id), "engine": engine},
        dedupe_key=f"extract {document_id} {engine}",
    )
