"""Exports as JSON-LD: a credential that is signed, says only what is public, and defines all of its terms."""

import json
from typing import Any

import pytest

from tests.passports.exports.sample import KEY, SECRET, sample
from tickwork.passports.data_integrity import proof_verifies
from tickwork.passports.exports.json_ld import json_ld, own_context
from tickwork.passports.exports.view import view_of

# Of the context of the W3C.
KNOWN_TERMS = {"id", "type", "issuer", "name", "validFrom", "credentialSubject", "proof", "@context"}


def exported(**changes: Any) -> dict[str, Any]:
    version = sample(**changes)
    found: dict[str, Any] = json.loads(json_ld(version.payload, version.receipt, version.credential_proof))
    return found


def test_the_credential_is_signed_by_the_key_of_its_issuer() -> None:
    document = exported()

    assert proof_verifies(document, KEY.public)
    assert document["proof"]["verificationMethod"].startswith(document["issuer"]["id"] + "#")


@pytest.mark.parametrize("member", ["batteryIdentifier", "receiptHash", "model"])
def test_a_changed_credential_does_not_verify(member: str) -> None:
    document = exported()

    document["credentialSubject"][member] = "other"

    assert not proof_verifies(document, KEY.public)


def test_restricted_attributes_are_left_out() -> None:
    version = sample()

    text = json_ld(version.payload, version.receipt, version.credential_proof).decode()

    assert SECRET in version.payload.decode()
    assert SECRET not in text
    assert "materials.composition" not in text


def test_every_term_is_defined_and_none_by_default() -> None:
    passport = own_context()["BatteryPassport"]["@context"]
    document = exported()

    assert set(document) <= KNOWN_TERMS
    assert set(document["credentialSubject"]) - {"type"} <= set(passport)
    for attribute in document["credentialSubject"]["attributes"]:
        assert set(attribute) <= set(passport["attributes"]["@context"])
    assert "@vocab" not in json.dumps(own_context())


def test_the_same_version_gives_the_same_bytes() -> None:
    first, second = (json_ld(each.payload, each.receipt, each.credential_proof) for each in (sample(), sample()))

    assert first == second


def test_numbers_that_json_writes_as_long_integers_are_kept() -> None:
    version = sample([("performance.cycles", 1e20, None, "public")])

    document = json.loads(json_ld(version.payload, version.receipt, version.credential_proof))

    assert document["credentialSubject"]["attributes"] == [{"path": "performance.cycles", "value": 10**20}]


@pytest.mark.parametrize(
    ("audience", "unseen"),
    [
        ("public", {"materials.composition", "performance.state_of_health", "conformity.test_results"}),
        ("legitimate_interest", {"conformity.test_results"}),
        ("authorities", {"performance.state_of_health"}),
        ("owner", set()),
    ],
)
def test_an_audience_sees_what_the_regulation_lets_it_see(audience: Any, unseen: set[str]) -> None:
    version = sample()
    everything = set(json.loads(version.payload)["attributes"])

    seen = {each.path for each in view_of(version.payload, version.receipt, audience).attributes}

    assert seen == everything - unseen
