"""What proves an export: a bundle with the attributes that its audience may see, or a package with everything."""

from base64 import b64encode
from dataclasses import dataclass
from typing import Any

from tickwork.passports import tree
from tickwork.passports.canonical import Json, canonical, read_canonical
from tickwork.passports.exports.view import SEES, Audience
from tickwork.passports.packages import package


@dataclass(frozen=True)
class Signed:
    """A signed version, as it is stored."""

    payload: bytes
    proof: bytes
    receipt: bytes
    signature: bytes
    signing_key_id: str
    signing_key_public: bytes


def evidence(version: Signed, audience: Audience) -> bytes:
    if audience != "owner":
        return bundle(version, audience)
    return package(version.payload, version.proof, version.receipt, version.signature, version.signing_key_public)


def bundle(version: Signed, audience: Audience) -> bytes:
    """BPC-BUNDLE-1, as `disclose` makes it. Facts are never in it."""
    proof: Any = read_canonical(version.proof)
    documents = proof["leaves"]
    levels = tree.levels([canonical(each) for each in documents])
    shown = [
        {"index": index, "leaf": each, "path": [hash.hex() for hash in tree.proof_in(levels, index)]}
        for index, each in enumerate(documents)
        if each["kind"] == "attribute" and each["access"] in SEES[audience]
    ]
    return canonical({"type": "BPC-BUNDLE-1", "audience": audience, **signed_receipt(version), "leaves": shown})


def signed_receipt(version: Signed) -> dict[str, Json]:
    return {
        "receipt": read_canonical(version.receipt),
        "signature": b64encode(version.signature).decode(),
        "signing_key_id": version.signing_key_id,
        "signing_key_public": b64encode(version.signing_key_public).decode(),
    }
