"""A tenant that makes batteries: documents, facts and snapshots for its passports."""

import io
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from uuid import UUID
from zipfile import ZIP_DEFLATED, ZipFile

from tests.world import World
from tickwork.families.passport.build_snapshot import BUILD_SNAPSHOT
from tickwork.families.passport.parse_facts import PARSE_FACTS
from tickwork.jobs.handler import Handlers
from tickwork.jobs.rows import Job
from tickwork.runtime.deadline import Deadline
from tickwork.runtime.work import work
from tickwork.tools.vault import Vault, open_vault

HANDLERS: Handlers = {"parse_facts": PARSE_FACTS, "build_snapshot": BUILD_SNAPSHOT}


class BatteryMaker:
    def __init__(self, world: World, folder: Path) -> None:
        self.world = world
        self.folder = folder
        self.tenant = world.tenant()
        self.vault: Vault = open_vault(f"file:{folder / 'vault'}", self.tenant)

    def document(self, kind: str = "bom") -> UUID:
        id: UUID = self.world.value("select id from create_passport_document(%s, 'A document', %s)", self.tenant, kind)
        return id

    def upload(self, name: str, content: str | bytes, kind: str = "bom", document: UUID | None = None) -> UUID:
        """A version that has not been parsed yet."""
        file = self.folder / name
        file.write_bytes(content.encode() if isinstance(content, str) else content)
        added = self.world.service.documents.add(self.vault, self.tenant, file)["id"]
        passport_document = document or self.document(kind)
        id: UUID = self.world.value("select id from add_document_version(%s, %s)", passport_document, added)
        return id

    def work(self) -> None:
        work(self.world.queue, "passport", HANDLERS, Deadline(60, 1))

    def parse(self, name: str, content: str | bytes, kind: str = "bom") -> dict[str, Any]:
        """The version when its job has ended."""
        id = self.upload(name, content, kind)
        self.work()
        return self.version(id)

    def add_facts(self, *facts: tuple[str, str, Mapping[str, Any]]) -> UUID:
        """A version of our own shape."""
        version = self.parse("facts.json", json.dumps(own_shape(*facts), ensure_ascii=False))
        assert version["status"] == "validated", version
        id: UUID = version["id"]
        return id

    def version(self, id: UUID) -> dict[str, Any]:
        return self.world.row("select * from document_versions where id = %s", id)

    def job(self, id: UUID) -> Job:
        return Job(**self.world.row("select * from jobs where id = %s", id))

    def facts(self, version: UUID) -> list[dict[str, Any]]:
        return self.world.rows(
            "select facts.* from facts join fact_sources on fact_id = facts.id "
            "where fact_sources.document_version_id = %s order by fact_type, fact_key",
            version,
        )

    def snapshot(self, *versions: UUID) -> UUID:
        id: UUID = self.world.value("select id from create_snapshot(%s, 'A snapshot')", self.tenant)
        for version in versions:
            self.world.run("select add_snapshot_items(%s, document_version_id => %s)", id, version)
        return id

    def build(self, snapshot: UUID) -> Job:
        job: UUID = self.world.value("select id from request_build(%s)", snapshot)
        self.work()
        return self.job(job)

    def events(self) -> list[str]:
        rows = self.world.rows("select type from events where tenant_id = %s order by occurred_at", self.tenant)
        return [row["type"] for row in rows]


def own_shape(*facts: tuple[str, str, Mapping[str, Any]]) -> dict[str, Any]:
    listed = [{"fact_type": type, "fact_key": key, "payload": payload} for type, key, payload in facts]
    return {"type": "BPC-FACTS-1", "schema_version": "1", "facts": listed}


XML = '<?xml version="1.0"?>'
PACKAGE = "http://schemas.openxmlformats.org/package/2006"
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
SHEET_TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"


def workbook(rows: Sequence[Sequence[str | float]] = (), *, sheet: str | None = None) -> bytes:
    """An XLSX file with one sheet, of rows or of XML."""
    body = "".join(f"<row r='{number}'>{cells(number, row)}</row>" for number, row in enumerate(rows, start=1))
    file = io.BytesIO()
    with ZipFile(file, "w", ZIP_DEFLATED) as archive:
        part = f'<Override PartName="/xl/workbook.xml" ContentType="{SHEET_TYPE}"/>'
        archive.writestr("[Content_Types].xml", f'{XML}<Types xmlns="{PACKAGE}/content-types">{part}</Types>')
        archive.writestr("_rels/.rels", relation("officeDocument", "xl/workbook.xml"))
        archive.writestr("xl/_rels/workbook.xml.rels", relation("worksheet", "worksheets/sheet1.xml"))
        named = '<sheets><sheet name="Parts" sheetId="1" r:id="rId1"/></sheets>'
        archive.writestr("xl/workbook.xml", f'{XML}<workbook xmlns="{MAIN}" xmlns:r="{OFFICE}">{named}</workbook>')
        data = f"<sheetData>{body if sheet is None else sheet}</sheetData>"
        archive.writestr("xl/worksheets/sheet1.xml", f'{XML}<worksheet xmlns="{MAIN}">{data}</worksheet>')
    return file.getvalue()


def relation(kind: str, target: str) -> str:
    one = f'<Relationship Id="rId1" Type="{OFFICE}/{kind}" Target="{target}"/>'
    return f'{XML}<Relationships xmlns="{PACKAGE}/relationships">{one}</Relationships>'


def cells(number: int, row: Sequence[str | float]) -> str:
    texts = (f"<is><t>{value}</t></is>" if isinstance(value, str) else f"<v>{value}</v>" for value in row)
    types = (' t="inlineStr"' if isinstance(value, str) else "" for value in row)
    places = (f"{chr(ord('A') + place)}{number}" for place in range(len(row)))
    return "".join(f'<c r="{place}"{type}>{text}</c>' for place, type, text in zip(places, types, texts, strict=True))
