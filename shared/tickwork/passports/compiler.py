"""Compiles a passport: from facts, rules and a salt key to payload, proof and receipt, the same bytes every time."""

import hmac
from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from hashlib import sha256
from uuid import UUID, uuid5

from tickwork.passports import tree
from tickwork.passports.canonical import canonical
from tickwork.passports.fact import Fact
from tickwork.passports.leaves import in_order, key_of, leaves_of, proof_of, salt
from tickwork.passports.receipt import Receipt, RuleTests, time_text
from tickwork.passports.rules.evaluation import Attribute, Category, Evaluation, Finding, evaluate
from tickwork.passports.rules.rules import Rules
from tickwork.passports.snapshot import snapshot_bytes

SALT_KEY_SIZE = 32
MAX_PAYLOAD_SIZE = 1_000_000
# 20,000 facts of long keys.
MAX_PROOF_SIZE = 8_000_000
MAX_RECEIPT_SIZE = 16_000
MAX_FINDINGS_IN_WORDS = 10


class CompileRefused(ValueError):
    """The inputs give no passport; `findings` say why if the code is COMPILE_ERROR."""

    def __init__(self, code: str, message: str, findings: Sequence[Finding] = ()) -> None:
        super().__init__(message)
        self.code = code
        self.findings = tuple(findings)


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
    rules: Rules
    rule_tests: RuleTests | None
    salt_key: bytes = field(repr=False)
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
    """Raises CompileRefused."""
    facts = in_order(inputs.facts)
    check_unique("FACT_CONFLICT", map(key_of, facts))
    evaluation = evaluate(inputs.rules, facts, inputs.category, inputs.issued_at.astimezone(UTC).date())
    if errors := [each for each in evaluation.findings if each.severity == "error"]:
        raise CompileRefused("COMPILE_ERROR", in_words(errors), errors)
    return assembled(inputs, facts, evaluation)


def assembled(inputs: Inputs, facts: Sequence[Fact], evaluation: Evaluation) -> Compiled:
    """From facts in order, and what the rules give for them."""
    check_unique("ATTRIBUTE_CONFLICT", (each.path for each in evaluation.attributes))
    snapshot_hash = sha256(snapshot_bytes(facts)).digest()
    key = version_key(inputs, snapshot_hash)
    payload_salt = salt(key, "payload", "")
    payload = checked("PAYLOAD_TOO_LARGE", payload_of(inputs, evaluation.attributes, payload_salt), MAX_PAYLOAD_SIZE)
    leaves = leaves_of(evaluation.attributes, facts, key)
    proof = checked("PROOF_TOO_LARGE", proof_of(leaves), MAX_PROOF_SIZE)
    shown_hash = hmac.digest(payload_salt, snapshot_hash, "sha256")
    version_id = version_id_of(inputs, shown_hash)
    root = tree.root(leaves)
    receipt = receipt_of(inputs, version_id, shown_hash, payload, root, len(leaves)).canonical()
    return Compiled(
        passport_version_id=version_id,
        snapshot_hash=snapshot_hash,
        rules_hash=inputs.rules.hash,
        payload=payload,
        payload_hash=sha256(payload).digest(),
        proof=proof,
        proof_root_hash=root,
        leaf_count=len(leaves),
        receipt=checked("RECEIPT_TOO_LARGE", receipt, MAX_RECEIPT_SIZE),
        receipt_hash=sha256(receipt).digest(),
        compiler_build_id=inputs.compiler_build_id,
        issued_at=inputs.issued_at,
        warnings=tuple(each for each in evaluation.findings if each.severity == "warning"),
    )


def version_key(inputs: Inputs, snapshot_hash: bytes) -> bytes:
    """What salts are made from: another for each version, or its hashes would show which hidden values have changed."""
    return hmac.digest(inputs.salt_key, made_from(inputs, snapshot_hash).encode(), "sha256")


def made_from(inputs: Inputs, snapshot_hash: bytes) -> str:
    parts = snapshot_hash.hex(), inputs.rules.hash.hex(), inputs.compiler_build_id, time_text(inputs.issued_at)
    return " ".join(parts)


def payload_of(inputs: Inputs, attributes: Iterable[Attribute], payload_salt: bytes) -> bytes:
    """With a salt: its hash is for everybody, and whoever sees all values but one could guess that one."""
    return canonical(
        {
            "type": "BPC-PAYLOAD-1",
            "passport_id": str(inputs.passport_id),
            "battery_identifier": inputs.battery_identifier,
            "model": inputs.model,
            "category": inputs.category,
            "issued_at": time_text(inputs.issued_at),
            "salt": payload_salt.hex(),
            "attributes": {
                each.path: {"value": each.value, "unit": each.unit, "access": each.access} for each in attributes
            },
        }
    )


def version_id_of(inputs: Inputs, snapshot_hash: bytes) -> UUID:
    """The same for a compilation that is repeated."""
    return uuid5(inputs.passport_id, made_from(inputs, snapshot_hash))


def receipt_of(
    inputs: Inputs, version_id: UUID, snapshot_hash: bytes, payload: bytes, root: bytes, leaf_count: int
) -> Receipt:
    previous = inputs.previous_receipt_hash
    return Receipt(
        passport_id=str(inputs.passport_id),
        passport_version_id=str(version_id),
        battery_identifier=inputs.battery_identifier,
        model=inputs.model,
        category=inputs.category,
        issuer=inputs.issuer,
        snapshot_id=str(inputs.snapshot_id),
        snapshot_hash=snapshot_hash.hex(),
        rule_package=inputs.rule_package,
        rule_package_version=inputs.rule_package_version,
        rules_hash=inputs.rules.hash.hex(),
        rule_tests=inputs.rule_tests,
        payload_hash=sha256(payload).hexdigest(),
        proof_root_hash=root.hex(),
        leaf_count=leaf_count,
        salt_commitment=commitment_to(inputs.salt_key).hex(),
        compiler_build_id=inputs.compiler_build_id,
        issued_at=time_text(inputs.issued_at),
        previous_receipt_hash=previous.hex() if previous else None,
    )


def commitment_to(salt_key: bytes) -> bytes:
    if len(salt_key) != SALT_KEY_SIZE:
        raise ValueError(f"a salt key must be {SALT_KEY_SIZE} bytes long")
    return sha256(salt_key).digest()


def check_unique(code: str, keys: Iterable[Hashable]) -> None:
    twice = [key for key, count in Counter(keys).items() if count > 1]
    if twice:
        findings = [Finding(code, str(key), "is there more than once", "error") for key in twice]
        raise CompileRefused("COMPILE_ERROR", in_words(findings), findings)


def checked(code: str, content: bytes, limit: int) -> bytes:
    if len(content) > limit:
        raise CompileRefused(code, f"It is {len(content)} bytes long, and may be {limit}. Use fewer or shorter facts")
    return content


def in_words(findings: Sequence[Finding]) -> str:
    """The first few, for the message of a job."""
    lines = [f"{each.code} {each.subject}: {each.message}" for each in findings[:MAX_FINDINGS_IN_WORDS]]
    more = len(findings) - len(lines)
    return "; ".join([*lines, *([f"and {more} more"] if more else [])])
