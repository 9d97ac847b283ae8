"""A small passport, signed and packed, for tests that attack it."""

import hashlib
import json
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any
from uuid import UUID

from tickwork.passports.canonical import canonical
from tickwork.passports.fact import Fact
from tickwork.passports.leaves import leaves_of, proof_of
from tickwork.passports.packages import package
from tickwork.passports.qr import PassportQr
from tickwork.passports.receipt import Receipt
from tickwork.passports.rules.results import Attribute
from tickwork.passports.signatures import SigningKey
from tickwork.passports.tree import inclusion_proof, root

KEY = SigningKey(bytes(range(32)))
OTHER_KEY = SigningKey(bytes(range(1, 33)))
SALT_KEY = bytes(range(32, 64))
ATTRIBUTES = (
    Attribute("identity.model", "Größe Ω", None, "public", "r1", (0,)),
    Attribute("performance.rated_capacity", 94.5, "AMH", "public", "r2", (0, 1)),
    Attribute("performance.tiny", 1e-7, "1", "public", "r3", ()),
    Attribute("performance.huge", 1e20, "1", "restricted", "r3", ()),
    Attribute("performance.state_of_charge", 87, "P1", "legitimate_interest", "r4", (1,)),
    Attribute("materials.suppliers", {"name": "Secret GmbH", "list": [True, None]}, None, "authorities", "r5", (2,)),
)
FACTS = tuple(Fact("attribute", f"key.{number}", "1", {"value": number}) for number in range(3))


@dataclass(frozen=True)
class Passport:
    issuer: str = "Example Batteries"
    passport_id: str = "4a1d7a0e-5c5b-4f7e-8a53-2a5d0f2f6f10"
    version_id: str = "0b7e5a5e-7d2c-5f0e-9b1a-3c4d5e6f7a8b"
    issued_at: str = "2027-02-18T00:00:00Z"
    battery_identifier: str = "BAT-1"
    # What the receipt says, if an issuer lets it say something else.
    stated_battery: str | None = None
    key: SigningKey = KEY
    attributes: tuple[Attribute, ...] = ATTRIBUTES
    # What the leaves say, if an issuer lets them say something else.
    leaf_attributes: tuple[Attribute, ...] | None = None

    @cached_property
    def leaves(self) -> list[bytes]:
        return leaves_of(self.leaf_attributes or self.attributes, FACTS, SALT_KEY)

    @cached_property
    def payload(self) -> bytes:
        shown = {each.path: {"value": each.value, "unit": each.unit, "access": each.access} for each in self.attributes}
        return canonical(
            {
                "type": "BPC-PAYLOAD-1",
                "passport_id": self.passport_id,
                "battery_identifier": self.battery_identifier,
                "model": "M1",
                "category": "ev",
                "issued_at": self.issued_at,
                "attributes": shown,
            }
        )

    @cached_property
    def receipt(self) -> Receipt:
        zeros = "0" * 64
        return Receipt(
            passport_id=self.passport_id,
            passport_version_id=self.version_id,
            battery_identifier=self.stated_battery or self.battery_identifier,
            model="M1",
            category="ev",
            issuer=self.issuer,
            snapshot_id="e2a6fbb9-8c3f-4a5f-9d3d-0f6c8a9b1c2d",
            snapshot_hash=zeros,
            rule_package="default",
            rule_package_version="1",
            rules_hash=zeros,
            rule_tests=None,
            payload_hash=hashlib.sha256(self.payload).hexdigest(),
            proof_root_hash=root(self.leaves).hex(),
            leaf_count=len(self.leaves),
            salt_commitment=hashlib.sha256(SALT_KEY).hexdigest(),
            compiler_build_id="test",
            issued_at=self.issued_at,
            previous_receipt_hash=None,
        )

    @property
    def receipt_hash(self) -> bytes:
        return hashlib.sha256(self.receipt.canonical()).digest()

    @property
    def package(self) -> bytes:
        signature = self.key.sign(self.receipt_hash)
        return package(self.payload, proof_of(self.leaves), self.receipt.canonical(), signature, self.key.public)

    @property
    def document(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.package)
        return found

    def bundle(self, audience: str, *paths: str) -> dict[str, Any]:
        found = self.document
        entries = [(index, json.loads(leaf)) for index, leaf in enumerate(self.leaves)]
        leaves = [
            {"index": index, "leaf": leaf, "path": [each.hex() for each in inclusion_proof(self.leaves, index)]}
            for index, leaf in entries
            if leaf.get("path") in paths
        ]
        shared = {name: found[name] for name in ("receipt", "signature", "signing_key_id", "signing_key_public")}
        return {"type": "BPC-BUNDLE-1", "audience": audience, "leaves": leaves, **shared}

    @property
    def qr(self) -> PassportQr:
        payload, proof = (bytes.fromhex(each) for each in (self.receipt.payload_hash, self.receipt.proof_root_hash))
        return PassportQr(UUID(self.version_id), payload, proof, self.receipt_hash)


PASSPORT = Passport()
SECOND = replace(PASSPORT, version_id="7c5cb2b6-3a53-5f51-9f3c-5a3a39d0a1b7", issued_at="2027-03-01T00:00:00Z")
