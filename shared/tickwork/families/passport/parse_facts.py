"""parse_facts: takes the facts from a version of a passport document; uploaded -> validated, or rejected."""

from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, assert_never
from uuid import UUID

from pydantic import BaseModel

from tickwork.errors import Permanent
from tickwork.families.passport.fetching import extracted_elements, fetch
from tickwork.families.passport.stored_facts import Version, begin, store
from tickwork.families.passport.workbooks import read_workbook
from tickwork.jobs.connection import Connection
from tickwork.jobs.handler import Handler, Tools
from tickwork.jobs.outcomes import Done
from tickwork.passports.extracted import facts_of_tables, known_tables
from tickwork.passports.file_types import NAMES, reading_of
from tickwork.passports.found import Found, checked
from tickwork.passports.reading import Refused, read_json
from tickwork.passports.scripts import mixed_scripts
from tickwork.passports.shapes import facts_of_json
from tickwork.passports.sheets import rows_of_csv
from tickwork.passports.tables import facts_of_rows
from tickwork.settings import load_settings
from tickwork.tools.events import emit_held_event
from tickwork.tools.vault import Vault, vault_of

# Of tables that were not read, and of keys that look like others.
MAX_SHOWN = 20


class Payload(BaseModel):
    document_version_id: UUID


class Result(BaseModel):
    """`left_out` are sheets and tables that were not read.

    `mixed_scripts` are keys of letters of several scripts, which may look like other keys: for people to check.
    """

    fact_count: int
    left_out: list[str] = []
    mixed_scripts: list[str] = []


def parse_facts(payload: Payload, tools: Tools) -> Done:
    version = tools.under_lease(partial(begin, payload.document_version_id, tools.job_id))
    if version.status == "validated":
        return Done(Result(fact_count=version.fact_count or 0))
    if version.status == "rejected":
        raise Permanent(f"{version.error_code}: {version.error_message}", code="DOCUMENT_REJECTED")
    vault = vault_of(load_settings(), tools.tenant_id)
    with TemporaryDirectory(prefix="tickwork-") as folder:
        file = Path(folder, "document")
        tools.progress(0.05, "fetching the file")
        try:
            sha256 = fetch(vault, version, file, tools.check)
            tools.progress(0.2, "reading the file")
            read, left_out = read_facts(version, file, vault, tools.check)
            facts = checked(read)
        except Refused as refusal:
            raise Permanent(str(refusal), code="DOCUMENT_REJECTED") from None
    suspects = mixed_scripts(found.fact.fact_key for found, _ in facts)[:MAX_SHOWN]
    result = Result(fact_count=len(facts), left_out=left_out[:MAX_SHOWN], mixed_scripts=suspects)
    return Done(result, writes=[partial(store, version, sha256, facts), partial(tell, version, result)])


def read_facts(
    version: Version, file: Path, vault: Vault, check: Callable[[], None]
) -> tuple[Iterable[Found], list[str]]:
    """The facts of the file, and the names of sheets and tables that were not read."""
    match reading_of(version.mime_type):
        case "json":
            return facts_of_json(read_json(file.read_bytes()), version.schema_version), []
        case "csv":
            rows = rows_of_csv(file.read_bytes())
            return facts_of_rows(rows, version.kind, version.schema_version, version.taught), []
        case "xlsx":
            sheet = read_workbook(file, check)
            facts = facts_of_rows(sheet.rows, version.kind, version.schema_version, version.taught, sheet.name)
            return facts, sheet.left_out
        case "extracted":
            tables = known_tables(extracted_elements(version, vault, check), version.kind, version.taught)
            facts = facts_of_tables(
                tables.known, version.mime_type, version.kind, version.schema_version, version.taught
            )
            return facts, tables.left_out
        case None:
            raise Permanent(f"Facts are read from {NAMES}", code="UNSUPPORTED_DOCUMENT_KIND")
        case reading:
            assert_never(reading)


def tell(version: Version, result: Result, connection: Connection) -> None:
    told: dict[str, Any] = {
        "document_version_id": str(version.id),
        "passport_document_id": str(version.passport_document_id),
        "version": version.version,
        "fact_count": result.fact_count,
    }
    emit_held_event(connection, "document_version.validated", f"document_version:{version.id}", told)


PARSE_FACTS: Handler[Payload] = Handler(Payload, parse_facts, Result)
