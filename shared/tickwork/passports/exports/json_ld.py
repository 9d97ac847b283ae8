"""The public view of a passport version as a W3C Verifiable Credential 2.0.

Its own terms come with it, so nobody has to fetch them; no `@vocab`, so a term that is not defined means nothing.
"""

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from tickwork.passports.canonical import Json, canonical
from tickwork.passports.exports.view import Shown, View, view_of

CREDENTIALS = "https://www.w3.org/ns/credentials/v2"


def credential(payload: bytes, receipt: bytes, issuer: str) -> dict[str, Json]:
    """The credential without a proof, from canonical bytes. `issuer` is a DID or URL that names the signing key."""
    view = view_of(payload, receipt, "public")
    return {
        "@context": [CREDENTIALS, own_context()],
        "id": f"urn:uuid:{view.passport_version_id}",
        "type": ["VerifiableCredential", "BatteryPassportCredential"],
        "issuer": {"id": issuer, "name": view.issuer},
        "validFrom": view.issued_at,
        "credentialSubject": subject(view),
    }


def json_ld(payload: bytes, receipt: bytes, proof: Mapping[str, Json]) -> bytes:
    """The credential with its proof, an eddsa-jcs-2022 one whose verification method is of the issuer."""
    method = proof["verificationMethod"]
    if not isinstance(method, str):
        raise ValueError("the proof names no verification method")
    unsigned = credential(payload, receipt, method.partition("#")[0])
    return canonical({**unsigned, "proof": proof})


def subject(view: View) -> dict[str, Json]:
    return {
        "type": "BatteryPassport",
        "passportId": f"urn:uuid:{view.passport_id}",
        "passportVersionId": f"urn:uuid:{view.passport_version_id}",
        "batteryIdentifier": view.battery_identifier,
        "model": view.model,
        "category": view.category,
        "receiptHash": view.receipt_hash,
        "proofRootHash": view.proof_root_hash,
        "leafCount": view.leaf_count,
        "attributes": [attribute(each) for each in view.attributes],
    }


def attribute(shown: Shown) -> dict[str, Json]:
    unit: dict[str, Json] = {"unit": shown.unit} if shown.unit else {}
    return {"path": shown.path, "value": shown.value, **unit}


@cache
def own_context() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(Path(__file__).with_name("context.jsonld").read_bytes())["@context"]
    return found
