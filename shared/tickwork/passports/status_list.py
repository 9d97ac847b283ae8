"""The signed list of what was revoked or superseded: a Bitstring Status List of the W3C that names receipts as well.

A receipt does not have its place in the list, so verifiers of packages look for the hash of the receipt.
"""

import gzip
import io
import zlib
from base64 import urlsafe_b64decode
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, Self

from tickwork.passports.canonical import Json
from tickwork.passports.data_integrity import ED25519_PUBLIC, add_proof, from_multibase, multikey, proof_verifies
from tickwork.passports.signatures import SigningKey, base64url, key_id
from tickwork.passports.trust import Trust

# As many as the W3C asks for at least, so that one entry tells little about one passport.
ENTRIES = 131_072
TERMS = {
    each: f"urn:tickwork:passports:{each}" for each in ("passportIssuers", "revokedReceipts", "supersededReceipts")
}
PassportStatus = Literal["valid", "revoked", "superseded"]


class StatusListRefused(ValueError):
    """The document is no status list of passports."""


@dataclass(frozen=True)
class Listed:
    """What a list is made from; hashes of receipts in hex."""

    id: str
    as_of: str
    issuers: Collection[str]
    revoked_indexes: Iterable[int]
    revoked: Collection[str]
    superseded: Collection[str]


@dataclass(frozen=True)
class StatusList:
    document: Mapping[str, Json]
    as_of: datetime
    issuers: frozenset[str]
    revoked: frozenset[str]
    superseded: frozenset[str]
    bits: bytes

    @classmethod
    def read(cls, document: Json) -> Self:
        given: Mapping[str, Any] = document if isinstance(document, Mapping) else {}
        try:
            subject = given["credentialSubject"]
            if "BitstringStatusListCredential" not in given["type"] or subject["statusPurpose"] != "revocation":
                raise StatusListRefused("it is of another type")
            as_of, bits = datetime.fromisoformat(given["validFrom"]), decoded(subject["encodedList"])
            issuers, revoked, superseded = (frozenset(subject[each]) for each in TERMS)
        except (KeyError, TypeError, AttributeError, ValueError, OSError, EOFError, zlib.error):
            raise StatusListRefused("it is no status list of passports") from None
        return cls(given, as_of, issuers, revoked, superseded, bits)

    def status_of(self, receipt_hash: bytes) -> PassportStatus:
        if receipt_hash.hex() in self.revoked:
            return "revoked"
        return "superseded" if receipt_hash.hex() in self.superseded else "valid"

    def is_set(self, index: int) -> bool:
        return bool(self.bits[index // 8] & 128 >> index % 8)

    def is_signed_by(self, trust: Trust) -> bool:
        """Whether a trusted key signed it, before it was retired or revoked."""
        method = proof["verificationMethod"] if isinstance(proof := self.document.get("proof"), Mapping) else ""
        data = from_multibase(str(method).rpartition("#")[2]) or b""
        claimed = data.removeprefix(ED25519_PUBLIC)
        key = trust.key(key_id(claimed), claimed)
        is_late = key is not None and key.until is not None and self.as_of >= key.until
        return key is not None and not is_late and proof_verifies(self.document, key.public)


def signed_list(listed: Listed, key: SigningKey) -> dict[str, Json]:
    """The same bytes for the same entries and time."""
    did = f"did:key:{multikey(key.public)}"
    document: dict[str, Json] = {
        "@context": ["https://www.w3.org/ns/credentials/v2", TERMS],
        "id": listed.id,
        "type": ["VerifiableCredential", "BitstringStatusListCredential"],
        "issuer": did,
        "validFrom": listed.as_of,
        "credentialSubject": {
            "id": f"{listed.id}#list",
            "type": "BitstringStatusList",
            "statusPurpose": "revocation",
            "encodedList": encoded(listed.revoked_indexes),
            "passportIssuers": sorted(listed.issuers),
            "revokedReceipts": sorted(listed.revoked),
            "supersededReceipts": sorted(listed.superseded),
        },
    }
    return {**document, "proof": add_proof(document, proof_options(key, listed.as_of), key)}


def proof_options(key: SigningKey, created: str) -> dict[str, Json]:
    """Of a proof by a key that its own name resolves to."""
    name = multikey(key.public)
    return {
        "type": "DataIntegrityProof",
        "cryptosuite": "eddsa-jcs-2022",
        "created": created,
        "verificationMethod": f"did:key:{name}#{name}",
        "proofPurpose": "assertionMethod",
    }


def encoded(indexes: Iterable[int]) -> str:
    bits = bytearray(ENTRIES // 8)
    for index in indexes:
        bits[index // 8] |= 128 >> index % 8
    data = bytearray(gzip.compress(bytes(bits), mtime=0))
    # The operating system, which says nothing about the list.
    data[9] = 255
    return "u" + base64url(bytes(data))


def decoded(text: str) -> bytes:
    if not text.startswith("u"):
        raise StatusListRefused("encodedList must be multibase in base64url")
    packed = io.BytesIO(urlsafe_b64decode(text[1:] + "=" * (-len(text[1:]) % 4)))
    with gzip.GzipFile(fileobj=packed) as file:
        # One byte more shows whether there is more: a bomb is not expanded.
        bits = file.read(ENTRIES // 8 + 1)
    if len(bits) != ENTRIES // 8:
        raise StatusListRefused(f"encodedList must have {ENTRIES} entries")
    return bytes(bits)
