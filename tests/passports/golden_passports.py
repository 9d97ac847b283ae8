"""Passports whose bytes are committed: `python -m tests.passports.golden_passports` writes them anew.

Inputs may name the default rules instead of having rules of their own, and samples of `models.py` to take facts from;
if they are `completed`, what is missing comes from the default tests. Every receipt is committed, payload and proof in
full or, if `in_full` is false, by their hashes.
"""

import json
from datetime import datetime
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any
from uuid import UUID

from tests.passports.models import completed, facts_of_documents, the_default_rules
from tickwork.passports.compiler import Compiled, Inputs, compile_passport
from tickwork.passports.fact import Fact
from tickwork.passports.receipt import RuleTests
from tickwork.passports.rules.rules import read_rules

FOLDER = Path(__file__).parent / "golden"
NAMES = sorted(path.name.split(".")[0] for path in FOLDER.glob("*.inputs.json"))
PARTS = ("payload", "proof", "receipt")


def source_of(name: str) -> dict[str, Any]:
    source: dict[str, Any] = json.loads((FOLDER / f"{name}.inputs.json").read_text())
    return source


def inputs_of(source: dict[str, Any]) -> Inputs:
    return Inputs(
        passport_id=UUID(source["passport_id"]),
        battery_identifier=source["battery_identifier"],
        model=source["model"],
        category=source["category"],
        issuer=source["issuer"],
        issued_at=datetime.fromisoformat(source["issued_at"]),
        snapshot_id=UUID(source["snapshot_id"]),
        facts=facts_of(source),
        rule_package=source["rule_package"],
        rule_package_version=source["rule_package_version"],
        rules=the_default_rules() if source["rules"] == "default" else read_rules(source["rules"]),
        rule_tests=RuleTests(**source["rule_tests"]) if source["rule_tests"] else None,
        salt_key=bytes.fromhex(source["salt_key"]),
        previous_receipt_hash=bytes.fromhex(source["previous_receipt_hash"] or "") or None,
        compiler_build_id=source["compiler_build_id"],
    )


def facts_of(source: dict[str, Any]) -> list[Fact]:
    facts = [*(Fact(**each) for each in source["facts"]), *facts_of_documents(source.get("documents", []))]
    return completed(facts, source["category"]) if source.get("completed") else facts


@cache
def compiled(name: str) -> Compiled:
    return compile_passport(inputs_of(source_of(name)))


def files_of(name: str) -> dict[str, bytes]:
    """What is committed of a passport, by the names of the files."""
    parts = {part: bytes_of(compiled(name), part) for part in PARTS}
    if source_of(name).get("in_full", True):
        return {f"{name}.{part}.json": content for part, content in parts.items()}
    hashes = "".join(f"{sha256(parts[part]).hexdigest()}  {part}\n" for part in ("payload", "proof"))
    return {f"{name}.receipt.json": parts["receipt"], f"{name}.sha256": hashes.encode()}


def bytes_of(compiled: Compiled, part: str) -> bytes:
    content: bytes = getattr(compiled, part)
    return content


if __name__ == "__main__":
    for name in NAMES:
        for file, content in files_of(name).items():
            (FOLDER / file).write_bytes(content)
