"""parse_facts: a version of a document is validated with all its facts, or rejected by name, as its job ends."""

import hashlib
import json
from typing import Any

import pytest

from tests.world.battery_maker import BatteryMaker, own_shape, workbook
from tickwork.families.passport import parse_facts
from tickwork.passports.canonical import canonical

LITHIUM: tuple[str, str, dict[str, Any]] = ("material", "Lithium", {"name": "Lithium", "mass": 1.5, "unit": "KGM"})
NICKEL: tuple[str, str, dict[str, Any]] = ("material", "Nickel", {"name": "Nickel", "mass": 0.25, "unit": "KGM"})


def test_a_document_becomes_facts_with_their_canonical_bytes_and_hashes(maker: BatteryMaker) -> None:
    version = maker.parse("facts.json", json.dumps(own_shape(LITHIUM, NICKEL)))

    (lithium, nickel) = maker.facts(version["id"])
    assert (version["status"], version["fact_count"], version["error_code"]) == ("validated", 2, None)
    assert lithium["payload"] == LITHIUM[2]
    assert lithium["payload_canonical"] == canonical(LITHIUM[2])
    assert lithium["payload_hash"] == hashlib.sha256(canonical(LITHIUM[2])).digest()
    assert (nickel["fact_key"], nickel["source"]) == ("Nickel", {"path": "facts[1]"})
    assert maker.events() == ["document_version.validated"]


def test_a_fact_of_two_documents_is_one_fact_with_two_sources(maker: BatteryMaker) -> None:
    first = maker.add_facts(LITHIUM)
    second = maker.add_facts(LITHIUM, NICKEL)

    assert maker.world.value("select count(*) from facts") == 2
    assert maker.facts(first)[0]["id"] == maker.facts(second)[0]["id"]


def test_a_document_that_says_it_itself_settles_what_an_extraction_guessed(maker: BatteryMaker) -> None:
    version = maker.add_facts(LITHIUM)
    maker.world.run("update facts set confidence = 0.7")

    maker.add_facts(LITHIUM)

    assert maker.facts(version)[0]["confidence"] is None


def test_a_second_job_for_a_validated_version_has_nothing_to_do(maker: BatteryMaker) -> None:
    version = maker.add_facts(LITHIUM)

    again = maker.world.job("parse_facts", maker.tenant, payload={"document_version_id": str(version)})
    maker.work()

    assert (maker.job(again.id).status, maker.job(again.id).result["fact_count"]) == ("done", 1)
    assert maker.events() == ["document_version.validated"]


BAD = {
    "DUPLICATE_KEY": b'{"type": "BPC-FACTS-1", "type": "BPC-FACTS-1"}',
    "NUMBER_NOT_EXACT": b'{"a": 9007199254740993}',
    "NOT_NFC": '{"e\u0301": 1}'.encode(),
    "TOO_DEEP": b"[" * 100_000,
    "NOT_UTF8": "{}".encode("utf-32"),
    "NOT_JSON": b"{",
    "SCHEMA_MISMATCH": b"{}",
    "UNKNOWN_UNIT": json.dumps(
        {"identification": {}, "performance": {"power": {"value": 1, "unit": "horses"}}}
    ).encode(),
    "FACT_TOO_LARGE": json.dumps(own_shape(("attribute", "a", {"value": "x" * 70_000}))).encode(),
}


@pytest.mark.parametrize("code", BAD)
def test_a_bad_document_is_rejected_by_name(maker: BatteryMaker, code: str) -> None:
    version = maker.parse("facts.json", BAD[code])

    job = maker.job(version["job_id"])
    assert (job.status, job.error_code, job.attempts) == ("failed", "DOCUMENT_REJECTED", 1)
    assert (version["status"], version["error_code"]) == ("rejected", code)
    assert job.error_message == f"{code}: {version['error_message']}"
    assert maker.world.value("select count(*) from facts") == 0
    assert maker.events() == ["document_version.rejected"]


def test_too_many_facts_are_refused(maker: BatteryMaker, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tickwork.passports.found.MAX_FACTS", 1)

    version = maker.parse("facts.json", json.dumps(own_shape(LITHIUM, NICKEL)))

    assert (version["status"], version["error_code"]) == ("rejected", "TOO_MANY_FACTS")


def test_a_file_that_is_too_large_is_not_even_read(maker: BatteryMaker, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tickwork.families.passport.fetching.MAX_BYTES", 10)

    version = maker.parse("facts.json", json.dumps(own_shape(LITHIUM)))

    assert (version["status"], version["error_code"]) == ("rejected", "FILE_TOO_LARGE")


def test_an_ambiguous_number_is_refused(maker: BatteryMaker) -> None:
    version = maker.parse("bom.csv", 'name,mass,unit\nLithium,"1,234",kg\n')

    assert (version["status"], version["error_code"]) == ("rejected", "AMBIGUOUS_NUMBER")


def test_a_type_of_file_without_facts_is_refused(maker: BatteryMaker) -> None:
    version = maker.parse("bom.png", b"\x89PNG")

    assert maker.job(version["job_id"]).error_code == "UNSUPPORTED_DOCUMENT_KIND"
    assert (version["status"], version["error_code"]) == ("rejected", "UNSUPPORTED_DOCUMENT_KIND")


def test_a_file_that_was_exchanged_is_refused(maker: BatteryMaker) -> None:
    id = maker.upload("facts.json", json.dumps(own_shape(LITHIUM)))
    path = maker.world.value("select vault_path from documents")
    maker.vault.write(path, [json.dumps(own_shape(NICKEL)).encode()], "application/json")

    maker.work()

    assert (maker.version(id)["status"], maker.version(id)["error_code"]) == ("rejected", "FILE_CHANGED")


def test_an_unknown_version_or_that_of_another_tenant_is_not_found(maker: BatteryMaker) -> None:
    version = maker.add_facts(LITHIUM)
    stranger = maker.world.job(
        "parse_facts", maker.world.tenant("other"), payload={"document_version_id": str(version)}
    )

    maker.work()

    assert maker.job(stranger.id).error_code == "DOCUMENT_NOT_FOUND"


def test_a_rejected_version_stays_rejected(maker: BatteryMaker) -> None:
    version = maker.parse("facts.json", b"{")

    again = maker.world.job("parse_facts", maker.tenant, payload={"document_version_id": str(version["id"])})
    maker.work()

    assert maker.job(again.id).error_code == "DOCUMENT_REJECTED"
    assert (maker.job(again.id).error_message or "").startswith("NOT_JSON: ")
    assert maker.events() == ["document_version.rejected"]


def test_a_version_stays_uploaded_while_the_vault_cannot_be_reached(
    maker: BatteryMaker, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tickwork.errors import Retryable

    def fail(*_: Any) -> str:
        raise Retryable("The vault cannot be reached", code="VAULT_UNAVAILABLE", delay=60)

    monkeypatch.setattr(parse_facts, "fetch", fail)
    version = maker.parse("facts.json", json.dumps(own_shape(LITHIUM)))

    assert (version["status"], maker.job(version["job_id"]).status) == ("uploaded", "queued")


def test_a_workbook_and_a_table_with_the_same_cells_give_the_same_facts(maker: BatteryMaker) -> None:
    head = ["Material", "CAS no", "Mass", "Unit", "Critical"]
    book = maker.parse("bom.xlsx", workbook([head, ["Lithium", "7439-93-2", 250.5, "g", "yes"]]))
    table = maker.parse("bom.csv", "Material;CAS no;Mass;Unit;Critical\nLithium;7439-93-2;250,5;g;ja\n")

    (fact,) = maker.facts(book["id"])
    assert fact["payload"] == {
        "name": "Lithium",
        "cas": "7439-93-2",
        "mass": 0.2505,
        "unit": "KGM",
        "is_critical": True,
    }
    assert maker.facts(table["id"])[0]["id"] == fact["id"]
    assert fact["source"] == {"row": 2, "sheet": "Parts"}


def test_what_a_tenant_has_taught_about_a_column_is_used(maker: BatteryMaker) -> None:
    maker.world.run("select map_fact_label(%s, 'bom', ' Stoff ', 'name')", maker.tenant)
    maker.world.run("select map_fact_label(%s, 'bom', 'Gew.', 'mass', 'g')", maker.tenant)

    version = maker.parse("bom.csv", "Stoff;Gew.\nLithium;1500\n")

    assert maker.facts(version["id"])[0]["payload"] == LITHIUM[2]


def test_keys_of_mixed_scripts_are_reported(maker: BatteryMaker) -> None:
    latin, mixed = "Lithium", "L\u0456thium"
    document = own_shape(*(("material", key, {"name": key, "mass": 1, "unit": "KGM"}) for key in (latin, mixed)))

    version = maker.parse("facts.json", json.dumps(document))

    assert maker.job(version["job_id"]).result["mixed_scripts"] == [mixed]


EMPTY_ROWS = "".join(f"<row r='{number}'><c r='A{number}'/></row>" for number in range(1, 100_001))
FAR_CELL = "<row r='1'><c r='A1'><v>1</v></c></row><row r='1048576'><c r='XFD1048576'><v>1</v></c></row>"
HOSTILE = {
    "bomb": ("FILE_TOO_LARGE", workbook(sheet=" " * 20_000_000)),
    "a cell far away": ("TOO_DEMANDING", workbook(sheet=FAR_CELL)),
    "too many rows": ("TOO_MANY_FACTS", workbook([[1.0]] * 20_002)),
    "no workbook": ("SCHEMA_MISMATCH", workbook(sheet="<row r='1'><c r='A1'><v>")),
    "no archive": ("SCHEMA_MISMATCH", b"PK\x03\x04"),
    "no cells": ("SCHEMA_MISMATCH", workbook(sheet=EMPTY_ROWS)),
}


@pytest.mark.parametrize("attack", HOSTILE)
def test_a_hostile_workbook_is_refused(maker: BatteryMaker, attack: str) -> None:
    code, content = HOSTILE[attack]

    version = maker.parse("bom.xlsx", content)

    assert (version["status"], version["error_code"]) == ("rejected", code)


def test_facts_are_listed_page_by_page(maker: BatteryMaker) -> None:
    version = maker.add_facts(LITHIUM, NICKEL)
    snapshot = maker.snapshot(version)
    facts = maker.world.service.facts

    (first,) = facts.list_facts(maker.tenant, version, snapshot, "material", max_rows=1)
    (second,) = facts.list_facts(maker.tenant, version, snapshot, "material", first["id"], max_rows=1)

    assert {first["fact_key"], second["fact_key"]} == {"Lithium", "Nickel"}
    assert facts.list_facts(maker.tenant, after_fact_id=second["id"]) == []


def test_lists_are_read_by_name_and_page_by_page(maker: BatteryMaker) -> None:
    for number in range(3):
        maker.world.value("select id from create_passport_document(%s, %s, 'bom')", maker.tenant, f"d{number}")
        maker.world.value("select id from create_snapshot(%s, %s)", maker.tenant, f"s{number}")
        maker.upload("a.csv", f"name,mass,unit\nLithium,{number},kg\n")
    service = maker.world.service

    for rows, after in (
        (service.passport_documents.list_passport_documents, "after_document_id"),
        (service.passport_documents.list_document_versions, "after_document_version_id"),
        (service.snapshots.list_snapshots, "after_snapshot_id"),
    ):
        whole: list[dict[str, Any]] = rows(maker.tenant)
        pages: list[dict[str, Any]] = []
        while page := rows(maker.tenant, max_rows=2, **{after: pages[-1]["id"] if pages else None}):
            pages += page
        assert pages == whole
        assert len(whole) >= 3
    assert [row["name"] for row in service.passport_documents.list_passport_documents(name="d1")] == ["d1"]
    assert [row["name"] for row in service.snapshots.list_snapshots(name="s2")] == ["s2"]
    assert "snapshot_canonical" not in service.snapshots.list_snapshots()[0]
