"""BPC-FACTS-1: facts as they are."""

from collections.abc import Iterator
from typing import Any

from tickwork.passports.fact import Fact
from tickwork.passports.found import FACT_TYPES, Found
from tickwork.passports.reading import Refused, shown
from tickwork.passports.shapes.parts import an_object, objects, text

KEYS = {"type", "schema_version", "facts"}


def is_one(document: dict[str, Any]) -> bool:
    return document.get("type") == "BPC-FACTS-1"


def facts_of(document: dict[str, Any], schema_version: str) -> Iterator[Found]:
    if unknown := sorted(set(document) - KEYS):
        raise Refused("SCHEMA_MISMATCH", f"there is no member {shown(unknown[0])} in BPC-FACTS-1")
    version = text(document.get("schema_version", schema_version), "schema_version")
    for number, each in enumerate(objects(document.get("facts"), "facts")):
        place = f"facts[{number}]"
        if set(each) != {"fact_type", "fact_key", "payload"}:
            raise Refused("SCHEMA_MISMATCH", f"{place} must have fact_type, fact_key and payload, and nothing else")
        fact_type = text(each["fact_type"], f"{place}.fact_type")
        if fact_type not in FACT_TYPES:
            raise Refused("SCHEMA_MISMATCH", f"{place}.fact_type must be one of {', '.join(FACT_TYPES)}")
        payload = an_object(each["payload"], f"{place}.payload")
        yield Found(Fact(fact_type, text(each["fact_key"], f"{place}.fact_key"), version, payload), {"path": place})
