"""ingest_document: a file becomes a version with facts; what an extraction has read, people confirm first."""

import json
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import pytest

from sample_paper import Paper
from tests.world import World
from tests.world.battery_maker import BatteryMaker, own_shape
from tickwork.families.extract.ingest_document import INGEST_DOCUMENT
from tickwork.jobs.rows import Job
from tickwork.runtime.deadline import Deadline
from tickwork.runtime.work import work

MATERIALS = [["Material", "CAS number", "Mass (kg)"], ["Lithium", "7439-93-2", "3.5"], ["Nickel", "7440-02-0", "12"]]
LITHIUM = {"name": "Lithium", "cas": "7439-93-2", "mass": 3.5, "unit": "KGM"}


class Intake(BatteryMaker):
    def put(self, name: str, content: str | bytes) -> dict[str, Any]:
        file = self.folder / name
        file.write_bytes(content.encode() if isinstance(content, str) else content)
        return dict(self.world.service.documents.add(self.vault, self.tenant, file))

    def ingest(self, document: UUID, **payload: Any) -> Job:
        options = {"passport_document_id": str(self.document()), **payload.pop("options", {})}
        wanted = {"document_id": str(document), **payload, "options": options}
        job = self.world.job("ingest_document", self.tenant, payload=wanted, correlation_id="intake")
        work(self.world.queue, "extract", {"ingest_document": INGEST_DOCUMENT}, Deadline(60, 1))
        self.work()
        return self.job(job.id)

    def ingested(self, name: str, content: str | bytes) -> dict[str, Any]:
        """The version when its facts have been read."""
        job = self.ingest(self.put(name, content)["id"])
        assert job.status == "done", job
        return self.version(job.result["document_version_id"])


@pytest.fixture
def intake(world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Intake:
    monkeypatch.setenv("TICKWORK_DATABASE_URL", world.worker_url)
    monkeypatch.setenv("TICKWORK_VAULT_URL", f"file:{tmp_path / 'vault'}")
    return Intake(world, tmp_path)


def pdf(*tables: list[list[str]]) -> bytes:
    paper = Paper()
    for table in tables:
        paper.heading("A table")
        paper.table(table, [160.0] * len(table[0]))
    return paper.bytes()


def test_a_file_with_cells_becomes_a_version_with_facts_that_need_nobody(intake: Intake) -> None:
    stored = intake.put("bom.csv", "name,mass,unit\nLithium,1.5,kg\n")

    job = intake.ingest(stored["id"], file_url=stored["vault_path"], mime_type="text/csv; charset=utf-8")

    version = intake.version(job.result["document_version_id"])
    (fact,) = intake.facts(version["id"])
    assert (job.status, job.result["is_extracted"]) == ("done", False)
    assert (version["status"], version["version"], version["document_id"]) == ("validated", 1, stored["id"])
    assert (fact["payload"], fact["confidence"]) == ({"name": "Lithium", "mass": 1.5, "unit": "KGM"}, None)
    assert intake.job(version["job_id"]).correlation_id == "intake"
    assert intake.world.value("select count(*) from extractions") == 0


def test_a_table_of_a_pdf_becomes_facts_with_page_and_confidence_that_a_member_confirms(intake: Intake) -> None:
    version = intake.ingested("bom.pdf", pdf([["Date", "Change"], ["2026", "All"]], MATERIALS))

    lithium, nickel = intake.facts(version["id"])
    snapshot = intake.snapshot(version["id"])
    refused = intake.build(snapshot)
    intake.world.run("select confirm_facts(%s)", [lithium["id"], nickel["id"]])
    built = intake.build(snapshot)

    assert (lithium["payload"], lithium["source"]) == (LITHIUM, {"page": 1, "table": 2, "row": 2})
    assert (lithium["confidence"], nickel["payload"]["mass"]) == (0.7, 12)
    assert intake.job(version["job_id"]).result["left_out"] == ["page 1, table 1"]
    assert (refused.error_code, built.status) == ("FACT_UNCONFIRMED", "done")
    assert intake.world.value("select status from extractions") == "done"


def test_a_file_that_is_extracted_already_is_not_extracted_again(intake: Intake) -> None:
    cells = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in MATERIALS)
    stored = intake.put("bom.html", f"<html><body><table>{cells}</table></body></html>")

    first, second = intake.ingest(stored["id"]), intake.ingest(stored["id"])

    versions = [intake.version(job.result["document_version_id"]) for job in (first, second)]
    assert [(each["status"], each["fact_count"]) for each in versions] == [("validated", 2)] * 2
    assert intake.facts(versions[1]["id"])[0]["confidence"] == 0.9
    assert intake.world.value("select count(*) from extractions") == 1


def test_a_file_without_text_fails_and_leaves_no_version(intake: Intake) -> None:
    job = intake.ingest(intake.put("scan.pdf", Paper().bytes())["id"])

    assert (job.status, job.error_code) == ("failed", "NO_TEXT")
    assert intake.world.value("select count(*) from document_versions") == 0
    assert intake.world.value("select status from extractions") == "failed"


def test_tables_without_known_columns_reject_the_version(intake: Intake) -> None:
    version = intake.ingested("bom.pdf", pdf([["Date", "Change"], ["2026", "All"]]))

    assert (version["status"], version["error_code"]) == ("rejected", "SCHEMA_MISMATCH")


def test_a_version_of_a_file_without_text_is_rejected_by_name(intake: Intake) -> None:
    version = intake.parse("bom.pdf", pdf(MATERIALS))

    assert (version["status"], version["error_code"]) == ("rejected", "NOT_EXTRACTED")


@pytest.mark.parametrize(
    "file_url", ["s3://bucket/file.pdf", "https://example.org/file.json", "file:///etc/passwd", "tenant/other"]
)
def test_only_the_path_of_the_document_itself_is_taken(intake: Intake, file_url: str) -> None:
    stored = intake.put("facts.json", json.dumps(own_shape(("attribute", "a", {"value": 1}))))

    job = intake.ingest(stored["id"], file_url=file_url)

    assert (job.status, job.error_code) == ("failed", "INVALID_PAYLOAD")
    assert "vault_path" in (job.error_message or "")
    assert intake.world.value("select count(*) from document_versions") == 0


def test_what_does_not_fit_is_refused_by_name(intake: Intake) -> None:
    stored = intake.put("bom.csv", "name,mass,unit\nLithium,1.5,kg\n")
    picture = intake.put("picture.png", b"\x89PNG")
    elsewhere = BatteryMaker(intake.world, intake.folder)
    elsewhere.tenant = intake.world.tenant("other")
    foreign = {"passport_document_id": str(elsewhere.document())}

    codes = [
        intake.ingest(stored["id"], mime_type="application/json").error_code,
        intake.ingest(picture["id"]).error_code,
        intake.ingest(uuid4()).error_code,
        intake.ingest(stored["id"], options=foreign).error_code,
    ]

    assert codes == ["INVALID_PAYLOAD", "UNSUPPORTED_DOCUMENT_KIND", "DOCUMENT_NOT_FOUND", "DOCUMENT_NOT_FOUND"]
    assert intake.world.value("select count(*) from document_versions") == 0
