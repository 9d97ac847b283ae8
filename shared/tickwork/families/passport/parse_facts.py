"""parse_facts: takes the facts from a version of a passport document; uploaded -> validated, or rejected."""

import hashlib
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from uuid import UUID

from pydantic import BaseModel

from tickwork.errors import Permanent
from tickwork.families.passport.stored_facts import Version, begin, store
from tickwork.families.passport.workbooks import read_workbook
from tickwork.jobs.connection import Connection
from tickwork.jobs.handler import Handler, Tools
from tickwork.jobs.outcomes import Done
from tickwork.passports.found import Found, checked
from tickwork.passports.reading import MAX_BYTES, Refused, read_json
from tickwork.passports.scripts import mixed_scripts
from tickwork.passports.shapes import facts_of_json
from tickwork.passports.sheets import rows_of_csv
from tickwork.passports.tables import facts_of_rows
from tickwork.settings import load_settings
from tickwork.tools.events import emit_held_event
from tickwork.tools.vault import Vault, vault_of

XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
JSON_TYPES = {"application/json", "application/ld+json"}
TABLE_TYPES = {"text/csv", "text/tab-separated-values"}
# Of keys that look like others.
MAX_SHOWN = 20


class Payload(BaseModel):
    document_version_id: UUID


class Result(BaseModel):
    """`mixed_scripts` are keys of letters of several scripts, which may look like other keys: for people to check."""

    fact_count: int
    sheets_left_out: list[str] = []
    mixed_scripts: list[str] = []


def parse_facts(payload: Payload, tools: Tools) -> Done:
    version = tools.under_lease(partial(begin, payload.document_version_id, tools.job_id))
    if version.status == "validated":
        return Done(Result(fact_count=version.fact_count or 0))
    if version.status == "rejected":
        raise Permanent(f"{version.error_code}: {version.error_message}", code="DOCUMENT_REJECTED")
    with TemporaryDirectory(prefix="tickwork-") as folder:
        file = Path(folder, "document")
        tools.progress(0.05, "fetching the file")
        try:
            sha256 = fetch(vault_of(load_settings(), tools.tenant_id), version, file, tools.check)
            tools.progress(0.2, "reading the file")
            read, left_out = read_facts(version, file, tools.check)
            facts = checked(read)
        except Refused as refusal:
            raise Permanent(str(refusal), code="DOCUMENT_REJECTED") from None
    suspects = mixed_scripts(found.fact.fact_key for found, _ in facts)[:MAX_SHOWN]
    result = Result(fact_count=len(facts), sheets_left_out=left_out, mixed_scripts=suspects)
    return Done(result, writes=[partial(store, version, sha256, facts), partial(tell, version, result)])


def fetch(vault: Vault, version: Version, file: Path, check: Callable[[], None]) -> str:
    """Download the file; returns its SHA-256."""
    digest, size = hashlib.sha256(), 0
    with vault.read(version.vault_path) as chunks, file.open("wb") as copy:
        for chunk in chunks:
            check()
            size += len(chunk)
            if size > MAX_BYTES:
                raise Refused("FILE_TOO_LARGE", "the file is larger than 50 MB")
            digest.update(chunk)
            copy.write(chunk)
    if version.sha256 not in (None, digest.hexdigest()):
        raise Refused("FILE_CHANGED", "the file in the vault is not the one that was registered")
    return digest.hexdigest()


def read_facts(version: Version, file: Path, check: Callable[[], None]) -> tuple[Iterable[Found], list[str]]:
    """The facts of the file, and the names of sheets that were not read."""
    mime_type = version.mime_type.partition(";")[0].strip().lower()
    if mime_type in JSON_TYPES:
        return facts_of_json(read_json(file.read_bytes()), version.schema_version), []
    if mime_type in TABLE_TYPES:
        rows = rows_of_csv(file.read_bytes())
        return facts_of_rows(rows, version.kind, version.schema_version, version.taught), []
    if mime_type == XLSX:
        sheet = read_workbook(file, check)
        facts = facts_of_rows(sheet.rows, version.kind, version.schema_version, version.taught, sheet.name)
        return facts, sheet.left_out
    raise Permanent("Facts are read from JSON, CSV, TSV and XLSX files", code="UNSUPPORTED_DOCUMENT_KIND")


def tell(version: Version, result: Result, connection: Connection) -> None:
    told: dict[str, Any] = {
        "document_version_id": str(version.id),
        "passport_document_id": str(version.passport_document_id),
        "version": version.version,
        "fact_count": result.fact_count,
    }
    emit_held_event(connection, "document_version.validated", f"document_version:{version.id}", told)


PARSE_FACTS: Handler[Payload] = Handler(Payload, parse_facts, Result)
