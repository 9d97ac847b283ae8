"""Canonical bytes: what RFC 8785 says of numbers, strings and the order of keys."""

import json
import struct

import pytest
import rfc8785

from tests.passports.public_vectors import read_vectors
from tickwork.passports.canonical import canonical, read_canonical


@pytest.mark.parametrize(("bits", "text"), read_vectors("rfc8785", "numbers"))
def test_numbers_are_written_as_the_rfc_has_them(bits: str, text: str | None) -> None:
    (number,) = struct.unpack(">d", bytes.fromhex(bits))

    if text is None:
        with pytest.raises(rfc8785.FloatDomainError):
            canonical(number)
    else:
        assert canonical(number).decode() == text
        assert read_canonical(text.encode()) == number


@pytest.mark.parametrize("document", read_vectors("rfc8785", "documents"), ids=lambda document: document["name"])
def test_documents_are_written_as_in_the_public_vectors(document: dict[str, str]) -> None:
    written = canonical(json.loads(document["input"]))

    assert written.decode() == document["output"]
    assert canonical(read_canonical(written)) == written
