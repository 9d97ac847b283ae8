"""eddsa-jcs-2022: the vector of the W3C, and documents that were changed after they were signed."""

from typing import Any

import pytest

from tests.passports.public_vectors import read_vectors
from tickwork.passports.canonical import hash_of
from tickwork.passports.data_integrity import (
    add_proof,
    eddsa_jcs_signature,
    from_multibase,
    multibase,
    multikey,
    proof_verifies,
)
from tickwork.passports.signatures import SigningKey

VECTOR: dict[str, Any] = read_vectors("eddsa_jcs_2022")[0]
DOCUMENT, OPTIONS = VECTOR["document"], VECTOR["options"]
KEY = SigningKey((from_multibase(VECTOR["secret_key"]) or b"")[2:])
SIGNED = {**DOCUMENT, "proof": add_proof(DOCUMENT, OPTIONS, KEY)}


def test_the_vector_of_the_w3c_is_reproduced_step_by_step() -> None:
    options = {**OPTIONS, "@context": DOCUMENT["@context"]}

    assert multikey(KEY.public) == VECTOR["public_key"]
    assert hash_of(DOCUMENT).hex() == VECTOR["document_hash"]
    assert hash_of(options).hex() == VECTOR["options_hash"]
    assert eddsa_jcs_signature(DOCUMENT, options, KEY).hex() == VECTOR["signature"]
    assert SIGNED["proof"]["proofValue"] == VECTOR["proof_value"]
    assert proof_verifies(SIGNED, KEY.public)


@pytest.mark.parametrize(
    "change",
    [
        {"issuer": "https://vc.example/issuers/9"},
        {"proof": None},
        {"proof": [SIGNED["proof"]]},
        {"proof": {**SIGNED["proof"], "created": "2024-02-24T23:36:38Z"}},
        {"proof": {**SIGNED["proof"], "cryptosuite": "eddsa-rdfc-2022"}},
        {"proof": {**SIGNED["proof"], "type": "Ed25519Signature2020"}},
        {"proof": {**SIGNED["proof"], "@context": ["https://example.com"]}},
        {"proof": {**SIGNED["proof"], "proofValue": "u" + SIGNED["proof"]["proofValue"]}},
        {"proof": {**SIGNED["proof"], "proofValue": "z0" + SIGNED["proof"]["proofValue"][2:]}},
        {"proof": {**SIGNED["proof"], "proofValue": "z" + "2" * 201}},
        {"proof": {**SIGNED["proof"], "proofValue": 7}},
        {"@context": DOCUMENT["@context"][:1]},
        {"extra": True},
    ],
)
def test_a_changed_document_does_not_verify(change: dict[str, Any]) -> None:
    assert not proof_verifies({**SIGNED, **change}, KEY.public)


def test_another_key_does_not_verify() -> None:
    assert not proof_verifies(SIGNED, SigningKey(bytes(32)).public)


@pytest.mark.parametrize("data", [b"", b"\0", b"\0\0\1", bytes(range(256))[:64], b"\xff" * 64])
def test_multibase_gives_back_the_same_bytes(data: bytes) -> None:
    assert from_multibase(multibase(data)) == data


def test_a_proof_whose_context_is_not_that_of_its_document_is_refused_although_it_is_signed() -> None:
    other = {**OPTIONS, "@context": ["https://example.com"]}
    signature = eddsa_jcs_signature(DOCUMENT, other, KEY)

    assert not proof_verifies({**DOCUMENT, "proof": {**other, "proofValue": multibase(signature)}}, KEY.public)
