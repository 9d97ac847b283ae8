"""The receipt of a passport version: what it was made from and of, in one short document whose hash is signed."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from datetime import UTC, datetime
from typing import Self

from tickwork.passports.canonical import Json, canonical

TYPE = "BPC-RECEIPT-1"
# What the payload says as well: both must say the same.
SHARED = ("passport_id", "battery_identifier", "model", "category", "issued_at")
METHODS = {"canonicalization": "RFC8785", "hash": "SHA-256", "merkle": "RFC9162"}


class ReceiptRefused(ValueError):
    """The document is no receipt."""


@dataclass(frozen=True)
class RuleTests:
    """The seed is text: it may be larger than JSON numbers can be."""

    run_id: str
    seed: str
    passed: int


@dataclass(frozen=True)
class Receipt:
    """Hashes in lower-case hex; ids and times as text. The signing key is not in it, since it is chosen later.

    `snapshot_hash` is the HMAC-SHA-256 of the hash of the snapshot by the salt in the payload: a receipt is for
    everybody, and whoever knows all facts but one could guess that one. The size of the payload is not in it either.
    """

    passport_id: str
    passport_version_id: str
    battery_identifier: str
    model: str
    category: str
    issuer: str
    snapshot_id: str
    snapshot_hash: str
    rule_package: str
    rule_package_version: str
    rules_hash: str
    rule_tests: RuleTests | None
    payload_hash: str
    proof_root_hash: str
    leaf_count: int
    salt_commitment: str
    compiler_build_id: str
    issued_at: str
    previous_receipt_hash: str | None

    def document(self) -> dict[str, Json]:
        return {"type": TYPE, **METHODS, **asdict(self)}

    def canonical(self) -> bytes:
        return canonical(self.document())

    @classmethod
    def read(cls, document: Json) -> Self:
        """Raises ReceiptRefused for whatever `document` would not write."""
        try:
            members = dict(mapping(document))
            tests = members.pop("rule_tests")
            given = {field.name: members.pop(field.name) for field in fields(cls) if field.name != "rule_tests"}
            if members != {"type": TYPE, **METHODS}:
                raise ReceiptRefused(f"it is no {TYPE} with {', '.join(METHODS.values())}")
            return cls(**given, rule_tests=RuleTests(**mapping(tests)) if tests is not None else None)  # type: ignore[arg-type]
        except (KeyError, TypeError) as error:
            raise ReceiptRefused(f"a member is missing or unknown: {error}") from None


def mapping(value: Json) -> Mapping[str, Json]:
    if not isinstance(value, Mapping):
        raise ReceiptRefused("it is no object")
    return value


def time_text(moment: datetime) -> str:
    """Such as 2027-02-18T00:00:00Z."""
    if moment.tzinfo is None or moment.microsecond:
        raise ValueError(f"{moment} must have a time zone and whole seconds")
    return f"{moment.astimezone(UTC).replace(tzinfo=None).isoformat()}Z"
