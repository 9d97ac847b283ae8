"""The compiler: the same bytes for the same inputs, others for any other input, and leaves that reveal nothing."""

import hashlib
import hmac
import json
import random
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from tests.passports.golden_passports import FOLDER, NAMES, PARTS, bytes_of, files_of, inputs_of, source_of
from tests.passports.golden_passports import compiled as golden
from tests.world.passports import FACTS, RULES, material
from tickwork.passports import build, tree
from tickwork.passports.canonical import Json, canonical, hash_of, read_canonical
from tickwork.passports.compiler import Compiled, CompileRefused, Inputs, assembled, compile_passport, version_id_of
from tickwork.passports.fact import Fact
from tickwork.passports.leaves import in_order, leaves_of, salt
from tickwork.passports.receipt import SHARED, Receipt, ReceiptRefused, time_text
from tickwork.passports.rules.evaluation import Attribute, Evaluation, evaluate
from tickwork.passports.rules.rules import read_rules
from tickwork.passports.snapshot import snapshot_bytes


def inputs(**changed: Any) -> Inputs:
    return replace(inputs_of(source_of("one_of_each_access")), **changed)


def parts(compiled: Compiled) -> list[bytes]:
    return [bytes_of(compiled, part) for part in PARTS]


@pytest.mark.parametrize("name", NAMES)
def test_golden_passports_have_their_bytes(name: str) -> None:
    committed = {file: (FOLDER / file).read_bytes() for file in files_of(name)}

    assert files_of(name) == committed, "if that is meant, write the files anew"


@pytest.mark.parametrize("name", NAMES)
def test_documents_are_canonical_and_belong_together(name: str) -> None:
    compiled = golden(name)
    payload, proof, receipt = (read_canonical(each) for each in parts(compiled))

    assert [canonical(each) for each in (payload, proof, receipt)] == parts(compiled)
    read = Receipt.read(receipt)
    leaves = [canonical(leaf) for leaf in proof["leaves"]]  # type: ignore[index,call-overload,union-attr]
    assert read.payload_hash == hashlib.sha256(compiled.payload).hexdigest() == compiled.payload_hash.hex()
    assert all(getattr(read, name) == payload[name] for name in SHARED)  # type: ignore[index,call-overload]
    assert read.proof_root_hash == tree.root(leaves).hex() == compiled.proof_root_hash.hex()
    assert read.leaf_count == len(leaves) == compiled.leaf_count
    assert read.passport_version_id == str(compiled.passport_version_id)
    assert compiled.receipt_hash == hashlib.sha256(compiled.receipt).digest()


def test_the_order_of_facts_does_not_matter() -> None:
    for name in NAMES:
        given = inputs_of(source_of(name))
        facts = list(given.facts)
        random.Random(name).shuffle(facts)
        assert parts(compile_passport(replace(given, facts=facts))) == parts(golden(name))


@pytest.mark.parametrize(
    "changed",
    [
        {"passport_id": UUID(int=1)},
        {"issued_at": datetime(2027, 2, 19, tzinfo=UTC)},
        {"facts": FACTS[:-1]},
        {"facts": [*FACTS[:-1], material("lithium", 4.126)]},
        {"facts": [*FACTS, Fact("note", "unused", "1", {})]},
        {"rules": read_rules({**RULES, "title": "others"})},
        {"compiler_build_id": "another"},
        {"salt_key": bytes(32)},
        {"previous_receipt_hash": bytes(32)},
        {"rule_tests": None},
        {"issuer": "another"},
        {"snapshot_id": UUID(int=1)},
        {"battery_identifier": "ZW-0002"},
        {"model": "Z95"},
        {"category": "lmt"},
    ],
    ids=lambda changed: next(iter(changed)),
)
def test_whatever_is_swapped_gives_another_receipt(changed: dict[str, Any]) -> None:
    given, other = compile_passport(inputs()), compile_passport(inputs(**changed))

    assert given.receipt_hash != other.receipt_hash


@pytest.mark.parametrize("name", ["passport_id", "facts", "rules", "compiler_build_id", "issued_at"])
def test_the_id_of_a_version_stands_for_what_it_is_made_from(name: str) -> None:
    changed = {
        "passport_id": UUID(int=1),
        "facts": FACTS[:-1],
        "rules": read_rules({**RULES, "title": "others"}),
        "compiler_build_id": "another",
        "issued_at": datetime(2027, 2, 19, tzinfo=UTC),
    }
    version = compile_passport(inputs()).passport_version_id

    assert version.version == 5
    assert compile_passport(inputs(**{name: changed[name]})).passport_version_id != version
    assert compile_passport(inputs(previous_receipt_hash=bytes(32))).passport_version_id == version


def test_a_moment_is_the_same_in_every_time_zone() -> None:
    moment = datetime.fromisoformat("2027-02-18T01:00:00+01:00")

    assert parts(compile_passport(inputs(issued_at=moment))) == parts(compile_passport(inputs()))
    assert time_text(moment) == "2027-02-18T00:00:00Z"
    for wrong in (moment + timedelta(milliseconds=1), moment.replace(tzinfo=None)):
        with pytest.raises(ValueError, match="time zone and whole seconds"):
            time_text(wrong)


def test_leaves_are_in_order_and_name_their_facts_by_number() -> None:
    leaves = [json.loads(leaf) for leaf in leaves_for(FACTS)]
    paths = [leaf["path"] for leaf in leaves if leaf["kind"] == "attribute"]
    total = next(leaf for leaf in leaves if leaf.get("path") == "materials.total_mass")

    assert [leaf["kind"] for leaf in leaves] == ["attribute"] * 6 + ["fact"] * 7
    assert paths == sorted(paths)
    assert [leaves[number]["fact_key"] for number in total["from"]] == ["cobalt", "lithium"]
    assert "payload_hash" not in total


def leaves_for(facts: list[Fact]) -> list[bytes]:
    ordered = in_order(facts)
    attributes = evaluate(read_rules(RULES), ordered, "ev", datetime(2027, 2, 18, tzinfo=UTC).date()).attributes
    return leaves_of(attributes, ordered, bytes(32))


def test_salts_differ_by_path_kind_and_passport() -> None:
    salts = [json.loads(leaf)["salt"] for leaf in leaves_for(FACTS)]

    assert len(set(salts)) == len(salts)
    assert {len(bytes.fromhex(each)) for each in salts} == {16}
    assert len({salt(key, kind, "a") for key in (bytes(32), bytes([1] * 32)) for kind in ("attribute", "fact")}) == 4


def test_versions_share_no_salt_and_no_hash_of_a_leaf() -> None:
    """Or whoever saw a value once could guess the next one, and everybody would see that it has not changed."""
    later = compile_passport(inputs(issued_at=datetime(2027, 2, 19, tzinfo=UTC)))
    versions = [json.loads(each.proof)["leaves"] for each in (compile_passport(inputs()), later)]

    salts, others = ({leaf["salt"] for leaf in leaves} for leaves in versions)
    assert not salts & others
    assert [{**leaf, "salt": ""} for leaf in versions[0]] == [{**leaf, "salt": ""} for leaf in versions[1]]


def test_whoever_knows_all_but_the_salt_finds_no_hash_of_the_receipt() -> None:
    """Neither that of the payload nor that of the snapshot, nor the id that is made from it."""
    given = inputs()
    compiled = compile_passport(given)
    payload, receipt = json.loads(compiled.payload), json.loads(compiled.receipt)
    snapshot_hash = hashlib.sha256(snapshot_bytes(given.facts)).digest()

    for other in ("", "00" * 16, *(leaf["salt"] for leaf in json.loads(compiled.proof)["leaves"])):
        assert hash_of({**payload, "salt": other}).hex() != receipt["payload_hash"]
        assert hmac.digest(bytes.fromhex(other), snapshot_hash, "sha256").hex() != receipt["snapshot_hash"]
    assert receipt["snapshot_hash"] != snapshot_hash.hex() == compiled.snapshot_hash.hex()
    assert compiled.passport_version_id != version_id_of(given, snapshot_hash)
    shown = hmac.digest(bytes.fromhex(payload["salt"]), snapshot_hash, "sha256")
    assert (receipt["snapshot_hash"], compiled.passport_version_id) == (shown.hex(), version_id_of(given, shown))


def test_the_salt_key_is_not_shown() -> None:
    assert repr(inputs().salt_key) not in repr(inputs())


def test_facts_whose_keys_read_alike_have_salts_of_their_own() -> None:
    facts = [Fact("note", "a b", "c", {}), Fact("note", "a", "b c", {}), Fact("note", 'a","b', "c", {})]

    assert len({json.loads(leaf)["salt"] for leaf in leaves_of([], facts, bytes(32))}) == 3


def test_two_facts_for_one_key_are_a_conflict() -> None:
    with pytest.raises(CompileRefused, match="FACT_CONFLICT") as refusal:
        compile_passport(inputs(facts=[*FACTS, *(Fact("note", "a", "1", {"text": text}) for text in "bc")]))

    assert refusal.value.code == "COMPILE_ERROR"
    assert [each.code for each in refusal.value.findings] == ["FACT_CONFLICT"]


def test_two_attributes_of_one_path_are_a_conflict() -> None:
    """No rules give that, since they name each path once; the leaves of a tree must not rely on it."""
    twice = Evaluation((Attribute("a", 1, None, "public", "fact:a", (0,)),) * 2, ())

    with pytest.raises(CompileRefused, match="ATTRIBUTE_CONFLICT a") as refusal:
        assembled(inputs(), FACTS, twice)

    assert refusal.value.code == "COMPILE_ERROR"


def test_many_findings_are_counted() -> None:
    facts = [material(f"metal {number}", -1.0) for number in range(30)]

    with pytest.raises(CompileRefused, match=r"and \d+ more$"):
        compile_passport(inputs(facts=facts))


@pytest.mark.parametrize("size", [0, 31, 33])
def test_a_salt_key_of_another_size_is_refused(size: int) -> None:
    with pytest.raises(ValueError, match="32 bytes"):
        compile_passport(inputs(salt_key=bytes(size)))


@pytest.mark.parametrize(
    "change",
    [
        {"type": "BPC-PAYLOAD-1"},
        {"hash": "SHA-1"},
        {"merkle": "RFC6962"},
        {"canonicalization": None},
        {"signing_key_id": "key"},
        {"rule_tests": {"run_id": "1"}},
        {"rule_tests": []},
    ],
    ids=str,
)
def test_only_receipts_are_read_as_receipts(change: dict[str, Any]) -> None:
    document = read_canonical(golden("one_of_each_access").receipt)
    assert isinstance(document, dict)

    incomplete = {name: value for name, value in document.items() if name != "issuer"}
    documents: list[Json] = [{**document, **change}, incomplete, [], None]
    for wrong in documents:
        with pytest.raises(ReceiptRefused):
            Receipt.read(wrong)


def test_whole_numbers_of_any_size_are_read_back() -> None:
    for value in (1e20, 1e21, -1e20, 2.0**53, 2**53 - 1, 0.1, 5e-324, 1.7976931348623157e308):
        assert canonical(read_canonical(canonical(value))) == canonical(value)


def test_the_build_id_follows_from_the_source_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for path in build.PACKAGE.rglob("*.py"):
        copy = tmp_path / path.relative_to(build.PACKAGE)
        copy.parent.mkdir(exist_ok=True)
        copy.write_bytes(path.read_bytes())
    monkeypatch.setattr(build, "PACKAGE", tmp_path)
    assert build.own_build_id() == build.OWN_BUILD_ID == build.build_id()

    for name in ("tree.py", "rules/expressions.py"):
        copy = tmp_path / name
        before = copy.read_bytes()
        copy.write_bytes(before + b"\n")
        assert build.own_build_id() != build.OWN_BUILD_ID
        copy.write_bytes(before)

    assert build.build_id("c0ffee") == f"{build.OWN_BUILD_ID}.c0ffee"


def test_there_are_twenty_golden_passports_and_no_other_files() -> None:
    inputs = {f"{name}.inputs.json" for name in NAMES}

    assert len(NAMES) == 20
    assert {path.name for path in FOLDER.iterdir()} == inputs.union(*map(files_of, NAMES))
