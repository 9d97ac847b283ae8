"""What passports are made from in measurements: tables, documents, facts, rules, and a passport that is signed."""

import csv
import io
import json
from collections.abc import Sequence
from datetime import UTC, datetime, time
from hashlib import sha256
from typing import Any
from uuid import UUID

from tickwork.passports.compiler import Inputs, compile_passport
from tickwork.passports.exports.evidence import Signed
from tickwork.passports.fact import Fact
from tickwork.passports.rules.bases import Base, bases_of
from tickwork.passports.rules.cases import read_tests
from tickwork.passports.rules.default import default_rules, default_tests
from tickwork.passports.rules.rules import Rules, read_rules
from tickwork.passports.signatures import SigningKey

ROWS = 10_000
HEAD = ("name", "cas", "mass", "unit", "location", "is_critical", "recycled_pre_consumer", "recycled_post_consumer")
MATERIAL = {"type": "object", "properties": {"name": {"type": "string"}, "mass": {"type": "number"}}}
KEY = SigningKey(bytes(range(32)))


def table() -> bytes:
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(HEAD)
    writer.writerows((f"Material {n}", "7439-93-2", n * 0.25, "g", "Cathode", "yes", 12.5, 3.25) for n in range(ROWS))
    return text.getvalue().encode()


def document() -> bytes:
    payloads = ({"name": f"Material {n}", "mass": n * 0.25, "unit": "KGM", "cas": "7439-93-2"} for n in range(ROWS))
    facts = [{"fact_type": "material", "fact_key": each["name"], "payload": each} for each in payloads]
    return json.dumps({"type": "BPC-FACTS-1", "schema_version": "1", "facts": facts}).encode()


def of_many_facts() -> Inputs:
    """New facts each time: a fact computes its hash once."""
    names = [f"material number {number}" for number in range(ROWS)]
    facts = [Fact("material", name, "1", {"name": name, "mass": at / 7}) for at, name in enumerate(names)]
    return inputs(facts, read_rules(source([])))


def of_many_attributes() -> Inputs:
    paths = [f"a.b{number}" for number in range(400)]
    facts = [Fact("attribute", path, "1", {"value": at / 7}) for at, path in enumerate(paths)]
    return inputs(facts, read_rules(source(paths)))


def source(paths: Sequence[str]) -> dict[str, Any]:
    total = {"path": "materials.mass", "access": "public", "schema": {"type": "number"}, "value": "sum.material.mass"}
    others = ({"path": path, "access": "restricted", "schema": {"type": "number"}} for path in paths)
    return {"facts": {"material": MATERIAL}, "attributes": [total, *others]}


def usual() -> Base:
    """The facts of an electric vehicle's battery, for the rules that every tenant has."""
    return bases_of(read_rules(default_rules()), read_tests(default_tests()))["ev"]


def signed() -> Signed:
    """A usual passport."""
    base = usual()
    issued_at = datetime.combine(base.on, time(), UTC)
    compiled = compile_passport(inputs(base.facts, read_rules(default_rules()), issued_at))
    signature = KEY.sign(sha256(compiled.receipt).digest())
    return Signed(compiled.payload, compiled.proof, compiled.receipt, signature, KEY.id, KEY.public)


def inputs(facts: Sequence[Fact], rules: Rules, issued_at: datetime = datetime(2027, 2, 18, tzinfo=UTC)) -> Inputs:
    return Inputs(
        passport_id=UUID(int=1),
        battery_identifier="battery",
        model="model",
        category="ev",
        issuer="issuer",
        issued_at=issued_at,
        snapshot_id=UUID(int=2),
        facts=facts,
        rule_package="bench",
        rule_package_version="1",
        rules=rules,
        rule_tests=None,
        salt_key=bytes(32),
        previous_receipt_hash=None,
        compiler_build_id="bench",
    )
