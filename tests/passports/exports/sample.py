"""A signed version of a passport of an electric vehicle's battery, made by the compiler itself."""

from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from typing import Any
from uuid import UUID

from tickwork.passports.canonical import Json, canonical
from tickwork.passports.compiler import Compiled, Inputs, assembled
from tickwork.passports.data_integrity import add_proof, multikey
from tickwork.passports.exports.json_ld import credential
from tickwork.passports.fact import Fact
from tickwork.passports.rules.evaluation import Access, Attribute, Evaluation
from tickwork.passports.signatures import SigningKey

ISSUED_AT = datetime(2027, 2, 18, tzinfo=UTC)
KEY = SigningKey(bytes(range(32)))
# No attribute of lesser access has a value with it.
SECRET = "4711.0815"

ATTRIBUTES: list[tuple[str, Json, str | None, Access]] = [
    ("identification.manufacturer", "Zellwerk Süd GmbH & Co. KG", None, "public"),
    ("identification.manufacturing_date", "2027-01", None, "public"),
    ("identification.mass", 450.5, "KGM", "public"),
    ("labels.separate_collection", True, None, "public"),
    ("labels.hazardous_substances", ["Li⁺", "Co²⁺"], None, "public"),
    ("performance.rated_capacity", 120, "AMH", "public"),
    ("performance.voltage", {"minimum": 280.5, "nominal": 355, "maximum": 410}, "VLT", "public"),
    ("performance.internal_resistance", 0.085, "OHM", "public"),
    ("carbon_footprint.total", 61.25, "KGM", "public"),
    ("due_diligence.report", "https://supplier.example/due-diligence.pdf", None, "public"),
    ("materials.composition", [{"name": "Cobalt", "mass": SECRET, "unit": "KGM"}], None, "restricted"),
    ("performance.state_of_health", SECRET, "P1", "legitimate_interest"),
    ("conformity.test_results", SECRET, None, "authorities"),
]


@dataclass(frozen=True)
class Hashed:
    """Rules that are only known by their hash."""

    hash: bytes = bytes(32)


@dataclass(frozen=True)
class Sample:
    compiled: Compiled

    @property
    def payload(self) -> bytes:
        return self.compiled.payload

    @property
    def receipt(self) -> bytes:
        return self.compiled.receipt

    @cached_property
    def signature(self) -> bytes:
        return KEY.sign(self.compiled.receipt_hash)

    @cached_property
    def credential_proof(self) -> dict[str, Json]:
        did = f"did:key:{multikey(KEY.public)}"
        options: dict[str, Json] = {
            "type": "DataIntegrityProof",
            "cryptosuite": "eddsa-jcs-2022",
            "created": "2027-02-18T00:00:00Z",
            "verificationMethod": f"{did}#{multikey(KEY.public)}",
            "proofPurpose": "assertionMethod",
        }
        return add_proof(credential(self.payload, self.receipt, did), options, KEY)


def sample(attributes: list[tuple[str, Json, str | None, Access]] | None = None, **changes: Any) -> Sample:
    given = [Attribute(*each, rule=each[0], sources=(0,)) for each in attributes or ATTRIBUTES]
    facts = [Fact("attribute", "performance.rated_capacity", "1", {"value": 120, "unit": "AMH"})]
    members: dict[str, Any] = {
        "passport_id": UUID(int=1),
        "battery_identifier": "urn:example:battery:0001",
        "model": "ZS-120",
        "category": "ev",
        "issuer": "Zellwerk Süd",
        "issued_at": ISSUED_AT,
        "snapshot_id": UUID(int=2),
        "facts": facts,
        "rule_package": "default",
        "rule_package_version": "1",
        "rules": Hashed(),
        "rule_tests": None,
        "salt_key": bytes(range(32)),
        "previous_receipt_hash": None,
        "compiler_build_id": "test",
    }
    return Sample(assembled(Inputs(**{**members, **changes}), facts, Evaluation(tuple(given), ())))


def evidence_of(sample: Sample) -> bytes:
    """Stands for a bundle where only its bytes matter."""
    return canonical({"type": "BPC-BUNDLE-1", "receipt": sample.receipt.decode()})
