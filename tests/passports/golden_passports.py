"""Passports whose bytes are committed: `python -m tests.passports.golden_passports` writes them anew."""

import json
from datetime import datetime
from pathlib import Path
from typing import Any
from uuid import UUID

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
        facts=[Fact(**each) for each in source["facts"]],
        rule_package=source["rule_package"],
        rule_package_version=source["rule_package_version"],
        rules=read_rules(source["rules"]),
        rule_tests=RuleTests(**source["rule_tests"]) if source["rule_tests"] else None,
        salt_key=bytes.fromhex(source["salt_key"]),
        previous_receipt_hash=bytes.fromhex(source["previous_receipt_hash"] or "") or None,
        compiler_build_id=source["compiler_build_id"],
    )


def file_of(name: str, part: str) -> Path:
    return FOLDER / f"{name}.{part}.json"


def bytes_of(compiled: Compiled, part: str) -> bytes:
    content: bytes = getattr(compiled, part)
    return content


if __name__ == "__main__":
    for name in NAMES:
        compiled = compile_passport(inputs_of(source_of(name)))
        for part in PARTS:
            file_of(name, part).write_bytes(bytes_of(compiled, part))
