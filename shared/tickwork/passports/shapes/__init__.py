"""The shapes of JSON documents that facts are taken from, recognised by their keys."""

from collections.abc import Iterator
from typing import Any, Protocol

from tickwork.passports.canonical import Json
from tickwork.passports.found import Found
from tickwork.passports.reading import Refused
from tickwork.passports.shapes import battery_pass, catena_x, footprints, own, untp


class Shape(Protocol):
    """A module that knows one shape."""

    def is_one(self, document: dict[str, Any], /) -> bool: ...

    def facts_of(self, document: dict[str, Any], schema_version: str, /) -> Iterator[Found]: ...


SHAPES: tuple[Shape, ...] = (own, untp, footprints, catena_x, battery_pass)
NAMES = "BPC-FACTS-1, PACT, Catena-X (PCF, SingleLevelBom, battery_pass), Battery Pass and UNTP product passports"


def facts_of_json(value: Json, schema_version: str) -> Iterator[Found]:
    """The facts of a document of a known shape; any other is refused."""
    if isinstance(value, dict):
        document: dict[str, Any] = value
        for shape in SHAPES:
            if shape.is_one(document):
                return shape.facts_of(document, schema_version)
    raise Refused("SCHEMA_MISMATCH", f"the document has none of the known shapes: {NAMES}")
