"""Verifies a package or bundle as a stranger does: every check has a name and says in words what it found."""

import hashlib
from base64 import b64decode
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Literal

from rfc8785 import CanonicalizationError

from tickwork.passports.canonical import Json, canonical
from tickwork.passports.exports.view import SEES, Audience
from tickwork.passports.packages import BUNDLE, FileRefused
from tickwork.passports.qr import PassportQr
from tickwork.passports.receipt import SHARED, Receipt, ReceiptRefused
from tickwork.passports.signatures import key_id, verifies
from tickwork.passports.status_list import StatusList
from tickwork.passports.tree import ProofRefused, root, root_from_proof
from tickwork.passports.trust import Trust

Outcome = Literal["passed", "failed", "unknown"]
MEMBERS = frozenset({"type", "receipt", "signature", "signing_key_id", "signing_key_public"})


class Failed(Exception):
    """A check did not pass; says why."""


class Unknown(Exception):
    """What would be needed for a check is not there."""


@dataclass(frozen=True)
class Check:
    name: str
    outcome: Outcome
    words: str


@dataclass(frozen=True)
class Verdict:
    """Valid if no check failed and the key is trusted."""

    checks: tuple[Check, ...]
    receipt: Receipt | None
    as_of: datetime

    @property
    def is_valid(self) -> bool:
        outcomes = {check.name: check.outcome for check in self.checks}
        return "failed" not in outcomes.values() and outcomes.get("key") == outcomes.get("signature") == "passed"


@dataclass(frozen=True)
class Evidence:
    """What a verifier has besides the file."""

    trust: Trust = field(default_factory=Trust)
    status_list: StatusList | None = None
    qr: PassportQr | None = None
    as_of: datetime | None = None


def verify(document: Mapping[str, Json], evidence: Evidence = Evidence()) -> Verdict:  # noqa: B008 - it is frozen
    file = _File(document, evidence)
    checks = []
    for name, check in file.checks():
        try:
            checks.append(Check(name, "passed", check()))
        except Unknown as reason:
            checks.append(Check(name, "unknown", str(reason)))
        except (Failed, FileRefused, ReceiptRefused, ProofRefused, CanonicalizationError) as reason:
            checks.append(Check(name, "failed", str(reason)))
        except (KeyError, TypeError, ValueError, AttributeError) as reason:
            checks.append(Check(name, "failed", f"a part is missing or malformed: {str(reason)[:100]}"))
    return Verdict(tuple(checks), file.receipt, file.as_of)


class _File:
    def __init__(self, document: Mapping[str, Json], evidence: Evidence) -> None:
        # Whatever is not as expected fails the check that meets it.
        self.document: Mapping[str, Any] = document
        self.evidence = evidence
        self.as_of = evidence.as_of or datetime.now(UTC)
        self.receipt: Receipt | None = None
        self.receipt_hash = b""

    def checks(self) -> Iterator[tuple[str, Callable[[], str]]]:
        yield "receipt", self.check_receipt
        if self.receipt is None:
            return
        if self.document["type"] == BUNDLE:
            yield "disclosed", self.check_disclosed
        else:
            yield "payload", self.check_payload
            yield "proof", self.check_proof
        yield "signature", self.check_signature
        yield "key", self.check_key
        yield "status", self.check_status
        if self.evidence.qr:
            yield "qr", self.check_qr

    def check_receipt(self) -> str:
        own = {"audience", "leaves"} if self.document.get("type") == BUNDLE else {"payload", "proof"}
        if set(self.document) != MEMBERS | own:
            raise Failed(f"the file must have exactly the members {', '.join(sorted(MEMBERS | own))}")
        receipt = Receipt.read(self.document["receipt"])
        self.receipt_hash = hashlib.sha256(canonical(self.document["receipt"])).digest()
        # Last: the other checks need one that has been read.
        self.receipt = receipt
        return f"battery {receipt.battery_identifier}, issued by {receipt.issuer or 'nobody'} at {receipt.issued_at}"

    def check_payload(self) -> str:
        payload, receipt = self.document["payload"], self._receipt
        if hashlib.sha256(canonical(payload)).hexdigest() != receipt.payload_hash:
            raise Failed("the payload is not the one of the receipt")
        if payload["type"] != "BPC-PAYLOAD-1":
            raise Failed("the payload is of another type")
        for name in SHARED:
            if payload[name] != getattr(receipt, name):
                raise Failed(f"{name} of the payload is not that of the receipt")
        return f"{len(payload['attributes'])} attributes"

    def check_proof(self) -> str:
        proof, receipt = self.document["proof"], self._receipt
        leaves = proof["leaves"]
        if proof["type"] != "BPC-PROOF-1" or len(leaves) != receipt.leaf_count:
            raise Failed(f"the proof does not have the {receipt.leaf_count} leaves of the receipt")
        if root([canonical(leaf) for leaf in leaves]).hex() != receipt.proof_root_hash:
            raise Failed("the leaves are not those of the receipt")
        shown = {
            leaf["path"]: {"value": leaf["value"], "unit": leaf["unit"], "access": leaf["access"]}
            for leaf in leaves
            if leaf["kind"] == "attribute"
        }
        if canonical(shown) != canonical(self.document["payload"]["attributes"]):
            raise Failed("the leaves say something else than the payload")
        return f"{len(leaves)} leaves have the root of the receipt"

    def check_disclosed(self) -> str:
        leaves, audience = self.document["leaves"], self.document["audience"]
        if audience == "owner":
            raise Failed("a bundle is for the audiences of the regulation; the owner has a package")
        if len({entry["index"] for entry in leaves}) != len(leaves):
            raise Failed("a leaf occurs twice")
        for entry in leaves:
            self._check_disclosed_leaf(entry, audience)
        return f"{len(leaves)} of {self._receipt.leaf_count} leaves, for the audience {audience}"

    def _check_disclosed_leaf(self, entry: Mapping[str, Any], audience: Audience) -> None:
        leaf, receipt = entry["leaf"], self._receipt
        path = [bytes.fromhex(each) for each in entry["path"]]
        if not _is_index(entry["index"]) or leaf["type"] != "BPC-LEAF-1":
            raise Failed("a leaf has no number or is of another type")
        found = root_from_proof(canonical(leaf), entry["index"], receipt.leaf_count, path)
        if found.hex() != receipt.proof_root_hash:
            raise Failed(f"leaf {entry['index']} is not one of the receipt")
        if leaf["kind"] != "attribute" or leaf["access"] not in SEES[audience]:
            raise Failed(f"leaf {entry['index']} is not for the audience {audience}")

    def check_signature(self) -> str:
        public, signature = (_base64(self.document[each]) for each in ("signing_key_public", "signature"))
        if self.document["signing_key_id"] != key_id(public):
            raise Failed("the id of the key is not the thumbprint of the key in the file")
        if not verifies(public, self.receipt_hash, signature):
            raise Failed("the signature is not that of the key over the receipt")
        return f"Ed25519 by key {self.document['signing_key_id']}"

    def check_key(self) -> str:
        id = self.document["signing_key_id"]
        key = self.evidence.trust.key(id, _base64(self.document["signing_key_public"]))
        if key is None:
            raise Unknown(f"nobody has said that key {id} is trusted: a key in a file proves nothing by itself")
        # The key of the list, and not that of the file.
        if not verifies(key.public, self.receipt_hash, _base64(self.document["signature"])):
            raise Failed("the trusted key of this id did not sign the receipt")
        issued_at = datetime.fromisoformat(self._receipt.issued_at)
        if key.until and issued_at >= key.until:
            raise Failed(f"the key was {key.status} at {key.until:%Y-%m-%d %H:%M:%SZ}, before the passport was issued")
        if issued_at > self.as_of:
            raise Failed(f"it says that it was issued at {self._receipt.issued_at}, which is later than now")
        return f"trusted{f' as {key.name}' if key.name else ''}, {key.status}"

    def check_status(self) -> str:
        listed = self.evidence.status_list
        if listed is None:
            raise Unknown("no status list was given: it may have been revoked or superseded since it was issued")
        if not listed.is_signed_by(self.evidence.trust):
            raise Failed("the status list is not signed by a trusted key")
        if self._receipt.issuer not in listed.issuers:
            raise Unknown("the status list is that of another issuer")
        if listed.as_of < datetime.fromisoformat(self._receipt.issued_at):
            raise Unknown(f"the status list is of {listed.as_of:%Y-%m-%d %H:%M:%SZ}, before the passport was issued")
        if (status := listed.status_of(self.receipt_hash)) != "valid":
            raise Failed(f"it is {status}, as of {listed.as_of:%Y-%m-%d %H:%M:%SZ}")
        return f"neither revoked nor superseded, as of {listed.as_of:%Y-%m-%d %H:%M:%SZ}"

    def check_qr(self) -> str:
        qr, receipt = self.evidence.qr, self._receipt
        assert qr is not None
        found = (str(qr.passport_version_id), qr.payload_hash.hex(), qr.proof_root_hash.hex(), qr.receipt_hash)
        wanted = (receipt.passport_version_id, receipt.payload_hash, receipt.proof_root_hash, self.receipt_hash)
        if found != wanted:
            raise Failed("the QR code is that of another passport version")
        return f"the QR code has the hashes of the receipt; it belongs on battery {receipt.battery_identifier} only"

    @property
    def _receipt(self) -> Receipt:
        assert self.receipt is not None
        return self.receipt


def _base64(text: str) -> bytes:
    return b64decode(text, validate=True)


def _is_index(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def words_of(verdict: Verdict) -> Sequence[str]:
    """What people read: each check in a line, the verdict last."""
    lines = [f"{check.outcome:8} {check.name}: {check.words}" for check in verdict.checks]
    ending = "valid" if verdict.is_valid else "NOT VALID"
    return [*lines, f"The passport is {ending}, as of {verdict.as_of:%Y-%m-%d %H:%M:%SZ}."]
