"""A signed version as a file: which bytes, of which type."""

from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Literal, TypeAlias, assert_never
from uuid import UUID

from tickwork.passports.canonical import Json
from tickwork.passports.exports.evidence import Signed, evidence
from tickwork.passports.exports.json_ld import json_ld
from tickwork.passports.exports.pdf import Codes, File, pdf
from tickwork.passports.exports.typesetting import TemplateMissing
from tickwork.passports.exports.view import Audience, View, view_of
from tickwork.passports.exports.xml import xml
from tickwork.passports.qr import PassportQr

Format: TypeAlias = Literal["pdf", "json_ld", "xml"]
STANDARD = "standard"
EXTENSIONS: Mapping[Format, str] = {"pdf": "pdf", "json_ld": "jsonld", "xml": "xml"}
MIME_TYPES: Mapping[Format, str] = {
    "pdf": "application/pdf",
    "json_ld": "application/ld+json",
    "xml": "application/xml",
}
JSON, BINARY = "application/json", "application/octet-stream"


class NoCredential(ValueError):
    """The version has no proof of its public view."""


@dataclass(frozen=True)
class Wanted:
    format: Format
    template: str
    audience: Audience


def export(
    version: Signed, credential_proof: Mapping[str, Json] | None, wanted: Wanted, link: str | None = None
) -> bytes:
    """The same bytes for the same version and link. Raises TemplateMissing, TooDemanding or NoCredential."""
    if wanted.format != "pdf" and wanted.template != STANDARD:
        raise TemplateMissing(f"{wanted.template}: {wanted.format} has only the template {STANDARD}")
    match wanted.format:
        case "json_ld":
            if credential_proof is None:
                raise NoCredential("it has no proof of its public view")
            return json_ld(version.payload, version.receipt, credential_proof)
        case "xml":
            view = view_of(version.payload, version.receipt, wanted.audience)
            return xml(view, evidence(version, wanted.audience))
        case "pdf":
            view = view_of(version.payload, version.receipt, wanted.audience)
            codes = Codes(proof=qr_text(version, view), link=link)
            return pdf(view, codes, files(version, wanted.audience), wanted.template)
        case _:
            assert_never(wanted.format)


def files(version: Signed, audience: Audience) -> list[File]:
    """What the PDF carries: one file that a verifier takes, and the parts that openssl needs."""
    proof = evidence(version, audience).decode()
    payload = File("payload.json", version.payload.decode(), JSON, "Every attribute, BPC-PAYLOAD-1")
    return [
        File("passport.json", proof, JSON, "Proves what this file shows"),
        File("receipt.json", version.receipt.decode(), JSON, "The receipt, BPC-RECEIPT-1"),
        File("signature.bin", version.signature, BINARY, "Ed25519 over the SHA-256 of receipt.json", "supplement"),
        *([payload] if audience == "owner" else []),
    ]


def qr_text(version: Signed, view: View) -> str:
    hashes = sha256(version.payload).digest(), bytes.fromhex(view.proof_root_hash), bytes.fromhex(view.receipt_hash)
    return PassportQr(UUID(view.passport_version_id), *hashes).text
