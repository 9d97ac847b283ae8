"""Compiles a passport: from facts, rules and a salt key to payload, proof and receipt, the same bytes every time."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING
from uuid import UUID

from tickwork.passports.fact import Fact
from tickwork.passports.receipt import RuleTests
from tickwork.passports.rules.evaluation import Category, Finding

if TYPE_CHECKING:
    from tickwork.passports.rules.rules import Rules


@dataclass(frozen=True)
class Inputs:
    """All that the bytes of a passport version depend on; the order of the facts does not matter."""

    passport_id: UUID
    battery_identifier: str
    model: str
    category: Category
    issuer: str
    issued_at: datetime
    snapshot_id: UUID
    facts: Sequence[Fact]
    rule_package: str
    rule_package_version: str
    rules: "Rules"
    rule_tests: RuleTests | None
    salt_key: bytes
    previous_receipt_hash: bytes | None
    compiler_build_id: str


@dataclass(frozen=True)
class Compiled:
    """Canonical bytes and their SHA-256; `proof_root_hash` is the root of the tree of all leaves."""

    passport_version_id: UUID
    snapshot_hash: bytes
    rules_hash: bytes
    payload: bytes
    payload_hash: bytes
    proof: bytes
    proof_root_hash: bytes
    leaf_count: int
    receipt: bytes
    receipt_hash: bytes
    compiler_build_id: str
    issued_at: datetime
    warnings: tuple[Finding, ...]


def compile_passport(inputs: Inputs) -> Compiled:
    raise NotImplementedError
