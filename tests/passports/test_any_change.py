"""Whatever part of a file is replaced by something else: every verifier ends, and none says that it is valid."""

import json
from collections.abc import Iterator
from copy import deepcopy
from datetime import UTC, datetime
from typing import Any

import pytest

from tests.passports.attacks import BUNDLE, put
from tests.passports.sample import KEY, PASSPORT
from tickwork.passports import verifier
from tickwork.passports.packages import read_passport
from tickwork.passports.trust import Trust
from tickwork.passports.verification import Evidence, verify

EVIDENCE = Evidence(Trust(pinned=frozenset({KEY.id})), as_of=datetime(2027, 6, 1, tzinfo=UTC))
OTHERS: tuple[Any, ...] = (None, True, 0, 2**60, "é", "00" * 32, [[]], {"type": "BPC-LEAF-1"})
REFUSALS = (ValueError, KeyError, TypeError, AttributeError, IndexError, RecursionError)


def places(value: Any, place: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    if place:
        yield place
    if isinstance(value, dict):
        for name, each in value.items():
            yield from places(each, (*place, name))
    elif isinstance(value, list):
        for number, each in enumerate(value):
            yield from places(each, (*place, number))


def replaced(document: dict[str, Any]) -> Iterator[tuple[str, bytes]]:
    """Every part by every other value."""
    for place in places(document):
        for other in OTHERS:
            changed = deepcopy(document)
            put(*place, value=other)(changed)
            if place != ("type",) and json.dumps(changed) != json.dumps(document):
                yield f"{place} = {other}", json.dumps(changed).encode()


@pytest.mark.parametrize("document", [PASSPORT.document, BUNDLE], ids=["package", "bundle"])
def test_no_changed_file_is_valid(document: dict[str, Any]) -> None:
    assert verify(read_passport(json.dumps(document).encode()), EVIDENCE).is_valid

    for name, data in replaced(document):
        assert not verify(read_passport(data), EVIDENCE).is_valid, name


@pytest.mark.parametrize("document", [PASSPORT.document, BUNDLE], ids=["package", "bundle"])
def test_the_stand_alone_verifier_accepts_none_either(document: dict[str, Any]) -> None:
    assert verifier.verify(json.dumps(document).encode(), KEY.id)

    for name, data in replaced(document):
        try:
            verifier.verify(data, KEY.id)
        except REFUSALS:
            continue
        pytest.fail(name)
