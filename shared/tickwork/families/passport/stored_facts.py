"""The rows of document versions and facts."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from tickwork.errors import Permanent
from tickwork.jobs.connection import Connection
from tickwork.passports.found import Found
from tickwork.passports.tables import Kind, Meaning

# How many are stored per statement: few round trips, and none of them takes too long.
FACTS_AT_ONCE = 2_000


@dataclass(frozen=True)
class Version:
    """A version of a passport document with its file, and what the tenant has taught about columns."""

    id: UUID
    tenant_id: UUID
    passport_document_id: UUID
    version: int
    kind: Kind
    schema_version: str
    status: str
    fact_count: int | None
    error_code: str | None
    error_message: str | None
    sha256: str | None
    document_id: UUID
    vault_path: str
    mime_type: str
    is_extracted: bool
    taught: Mapping[str, Meaning]


def begin(document_version_id: UUID, job_id: UUID, connection: Connection) -> Version:
    """Also notes the job: if that fails because of the document, the database rejects the version with it."""
    row = connection.execute(READ, [document_version_id]).fetchone()
    if row is None:
        raise Permanent("There is no such version of a document", code="DOCUMENT_NOT_FOUND")
    connection.execute("update public.document_versions set job_id = %s where id = %s", [job_id, document_version_id])
    mappings = connection.execute(MAPPINGS, [row["tenant_id"], row["kind"]]).fetchall()
    taught = {each["label"]: Meaning(each["field"], each["unit"]) for each in mappings}
    return Version(**row, taught=taught)


READ = """
    select
      document_versions.id, document_versions.tenant_id, document_versions.passport_document_id,
      document_versions.version, passport_documents.kind, document_versions.schema_version, document_versions.status,
      document_versions.fact_count, document_versions.error_code, document_versions.error_message,
      coalesce(document_versions.sha256, documents.sha256) as sha256, document_versions.document_id,
      documents.vault_path, documents.mime_type,
      exists (
        select
        from public.extractions
        where extractions.document_id = documents.id
          and extractions.status = 'done'
      ) as is_extracted
    from public.document_versions
    join public.passport_documents on passport_documents.id = document_versions.passport_document_id
    join public.documents on documents.id = document_versions.document_id
    where document_versions.id = %s
"""
MAPPINGS = "select label, field, unit from public.fact_mappings where tenant_id = %s and kind = %s"


def store(version: Version, sha256: str, facts: Sequence[tuple[Found, bytes]], connection: Connection) -> None:
    # In one order, so that two documents with the same facts do not deadlock.
    ordered = sorted(facts, key=lambda each: (each[0].fact.fact_type, each[0].fact.fact_key, each[1]))
    for first in range(0, len(ordered), FACTS_AT_ONCE):
        columns = columns_of(version, ordered[first : first + FACTS_AT_ONCE])
        connection.execute(INSERT_FACTS, columns)
        connection.execute(INSERT_SOURCES, columns)
    connection.execute(
        "update public.document_versions set status = 'validated', fact_count = %s, sha256 = %s where id = %s",
        [len(ordered), sha256, version.id],
    )


def columns_of(version: Version, facts: Sequence[tuple[Found, bytes]]) -> dict[str, Any]:
    return {
        "tenant_id": version.tenant_id,
        "document_version_id": version.id,
        "types": [found.fact.fact_type for found, _ in facts],
        "keys": [found.fact.fact_key for found, _ in facts],
        "versions": [found.fact.schema_version for found, _ in facts],
        "payloads": [payload for _, payload in facts],
        "sources": [json.dumps(found.source) for found, _ in facts],
        "confidences": [found.confidence for found, _ in facts],
    }


GIVEN = """
    unnest(
      %(types)s::text[], %(keys)s::text[], %(versions)s::text[], %(payloads)s::bytea[], %(sources)s::text[],
      %(confidences)s::double precision[]
    ) with ordinality as given(fact_type, fact_key, schema_version, payload, source, confidence, number)
"""
INSERT_FACTS = f"""
    insert into public.facts (
      tenant_id, document_version_id, fact_type, fact_key, schema_version, payload, payload_canonical, source,
      confidence
    )
    select
      %(tenant_id)s, %(document_version_id)s, given.fact_type, given.fact_key, given.schema_version,
      convert_from(given.payload, 'UTF8')::jsonb, given.payload, given.source::jsonb, given.confidence
    from {GIVEN}
    order by given.number
    on conflict on constraint fact_is_unique_in_its_tenant do update
    set confidence = null
    where facts.confidence is not null
      and excluded.confidence is null
"""
INSERT_SOURCES = f"""
    insert into public.fact_sources (fact_id, document_version_id, tenant_id, source)
    select facts.id, %(document_version_id)s, facts.tenant_id, given.source::jsonb
    from {GIVEN}
    join public.facts
      on facts.tenant_id = %(tenant_id)s
      and facts.fact_type = given.fact_type
      and facts.fact_key = given.fact_key
      and facts.schema_version = given.schema_version
      and facts.payload_hash = sha256(given.payload)
    on conflict do nothing
"""
