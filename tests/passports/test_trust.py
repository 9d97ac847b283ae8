"""Key sets and status lists: what is published is read back, and what cannot be trusted is refused."""

import gzip
import json
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from tests.passports.sample import KEY, OTHER_KEY
from tickwork.passports.data_integrity import proof_verifies
from tickwork.passports.signatures import SMALL_ORDER, base64url
from tickwork.passports.status_list import ENTRIES, Listed, StatusList, StatusListRefused, encoded, signed_list
from tickwork.passports.trust import KeysRefused, Trust, TrustedKey, did_document, jwks, read_jwks

END = datetime(2027, 1, 1, tzinfo=UTC)
ACTIVE = TrustedKey(KEY.id, KEY.public, name="key-1")
REVOKED = TrustedKey(OTHER_KEY.id, OTHER_KEY.public, "revoked", END)
LISTED = Listed("urn:tickwork:1", "2027-05-01T00:00:00Z", {"A"}, [0, 9, ENTRIES - 1], {"ab"}, {"cd"})


def test_a_key_set_is_read_back() -> None:
    written = json.loads(json.dumps(jwks([ACTIVE, REVOKED])))

    assert read_jwks(written) == {KEY.id: ACTIVE, OTHER_KEY.id: REVOKED}
    assert written["keys"][0] | {"x": ""} == {
        "kty": "OKP",
        "crv": "Ed25519",
        "x": "",
        "kid": KEY.id,
        "alg": "EdDSA",
        "use": "sig",
        "status": "active",
        "name": "key-1",
    }


@pytest.mark.parametrize(
    "change",
    [
        {"kty": "EC"},
        {"crv": "X25519"},
        {"kid": OTHER_KEY.id},
        {"x": "AA"},
        {"x": "!"},
        {"x": base64url(min(SMALL_ORDER).to_bytes(32, "little")), "kid": None},
        {"status": "lost"},
        {"status": "revoked"},
        {"status": "retired", "until": "2027-01-01T00:00:00"},
        {"status": "retired", "until": "soon"},
    ],
)
def test_a_key_that_cannot_be_trusted_is_refused(change: dict[str, Any]) -> None:
    with pytest.raises(KeysRefused):
        read_jwks({"keys": [{**ACTIVE.jwk(), **change}]})
    with pytest.raises(KeysRefused):
        read_jwks(["keys"])


def test_a_did_document_asserts_by_active_keys_only() -> None:
    retired = replace(REVOKED, status="retired")
    found: Any = did_document("did:web:example.com", [ACTIVE, retired])

    assert [each["id"] for each in found["verificationMethod"]] == [
        f"did:web:example.com#{KEY.id}",
        f"did:web:example.com#{OTHER_KEY.id}",
    ]
    assert found["assertionMethod"] == [f"did:web:example.com#{KEY.id}"]
    assert did_document("did:web:example.com", [REVOKED])["verificationMethod"] == []


def test_a_status_list_has_the_bits_of_what_was_revoked_and_the_same_bytes_each_time() -> None:
    first, again = signed_list(LISTED, KEY), signed_list(LISTED, KEY)
    read = StatusList.read(json.loads(json.dumps(first)))

    assert first == again
    assert proof_verifies(first, KEY.public)
    assert [index for index in range(ENTRIES) if read.is_set(index)] == [0, 9, ENTRIES - 1]
    assert len(read.bits) == 16_384
    assert len(json.dumps(first)) < 2_000


@pytest.mark.parametrize(
    "subject",
    [
        {"encodedList": "zabc"},
        {"encodedList": "uAAAA"},
        {"encodedList": "u" + base64url(gzip.compress(bytes(16)))},
        {"encodedList": "u" + base64url(gzip.compress(bytes(10_000_000)))},
        {"encodedList": encoded([])[:-8]},
        {"encodedList": None},
        {"statusPurpose": "suspension"},
        {"revokedReceipts": None},
    ],
)
def test_a_malformed_status_list_is_refused(subject: dict[str, Any]) -> None:
    document: Any = signed_list(LISTED, KEY)

    with pytest.raises(StatusListRefused):
        StatusList.read({**document, "credentialSubject": {**document["credentialSubject"], **subject}})
    with pytest.raises(StatusListRefused):
        StatusList.read([])


@pytest.mark.parametrize(("until", "is_trusted"), [("2027-05-01T00:00:00Z", False), ("2027-05-01T00:00:01Z", True)])
def test_a_status_list_counts_if_it_was_signed_before_its_key_ended(until: str, is_trusted: bool) -> None:
    key = TrustedKey(KEY.id, KEY.public, "revoked", datetime.fromisoformat(until))

    assert StatusList.read(signed_list(LISTED, KEY)).is_signed_by(Trust({KEY.id: key})) == is_trusted
