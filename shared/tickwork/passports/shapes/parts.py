"""What readers of several shapes need: parts of a document of the type that they must have, and attributes."""

import re
from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal, InvalidOperation
from typing import Any

from tickwork.passports.fact import Fact
from tickwork.passports.found import Found
from tickwork.passports.numbers import as_json
from tickwork.passports.reading import Refused, shown
from tickwork.passports.rules.schema import is_uri
from tickwork.passports.units import unit_of

WORD_STARTS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|[^A-Za-z0-9]+")
A_NUMBER = re.compile(r"[+-]?[0-9]{1,50}(\.[0-9]{1,50})?([eE][+-]?[0-9]{1,3})?")


def objects(value: Any, name: str) -> list[dict[str, Any]]:
    """A list of objects, or nothing at all."""
    if value is None:
        return []
    if not isinstance(value, list) or not all(isinstance(each, dict) for each in value):
        raise Refused("SCHEMA_MISMATCH", f"{name} must be a list of objects")
    return value


def an_object(value: Any, name: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise Refused("SCHEMA_MISMATCH", f"{name} must be an object")
    return value


def text(value: Any, name: str) -> str:
    if not isinstance(value, str) or not value.strip():
        raise Refused("SCHEMA_MISMATCH", f"{name} must be a text")
    return value


def number(value: Any, name: str) -> Decimal:
    """A number, or a text that is one: so PACT writes them."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    written = repr(value) if is_number else value
    if not isinstance(written, str) or not A_NUMBER.fullmatch(written):
        raise Refused("SCHEMA_MISMATCH", f"{name} must be a number")
    try:
        return Decimal(written)
    except InvalidOperation:
        raise Refused("SCHEMA_MISMATCH", f"{name} must be a number") from None


def amount(value: Any, unit: Any, name: str) -> dict[str, Any]:
    """A number in the unit of its kind, with the code of that."""
    known = unit_of(text(unit, f"the unit of {name}"))
    return {"value": as_json(number(value, name), known.factor), "unit": known.code}


def given(**fields: Any) -> dict[str, Any]:
    """Without what is missing."""
    return {name: value for name, value in fields.items() if value is not None}


def fact(fact_type: str, key: str, schema_version: str, path: str, payload: Mapping[str, Any]) -> Found:
    return Found(Fact(fact_type, key, schema_version, payload), {"path": path})


def attributes(
    value: Any,
    path: str,
    schema_version: str,
    left_out: frozenset[str] = frozenset(),
    given_already: frozenset[str] = frozenset(),
) -> Iterator[Found]:
    """Every value below, by its path in small letters; a value with a unit is one.

    What would have the path of another attribute that is given already has `.details` after its own.
    """
    if value is None or path in left_out:
        return
    if isinstance(value, dict) and not is_measured(value):
        for key, each in value.items():
            below = f"{path}.{snake_case(key)}" if path else snake_case(key)
            yield from attributes(each, below, schema_version, left_out, given_already)
        return
    if not path:
        raise Refused("SCHEMA_MISMATCH", "the document must be an object")
    payload = measured(value, path) if isinstance(value, dict) else {"value": value}
    key = f"{path}.details" if path in given_already else path
    yield fact("attribute", key, schema_version, path, payload)


def is_measured(value: dict[str, Any]) -> bool:
    is_plain = not isinstance(value.get("value"), dict | list)
    return "value" in value and is_plain and set(value) <= {"value", "unit", "time"}


def measured(value: dict[str, Any], path: str) -> dict[str, Any]:
    timed = given(time=value.get("time"))
    if value.get("unit") is None or isinstance(value["value"], str | bool):
        return {"value": value["value"], **timed}
    return {**amount(value["value"], value["unit"], path), **timed}


def snake_case(key: str) -> str:
    word = "_".join(part for part in WORD_STARTS.split(key) if part).lower()
    if not word:
        raise Refused("SCHEMA_MISMATCH", f"the key {shown(key)} has no letters")
    return word


def due_diligence(value: Any, path: str, title: str, link: str, schema_version: str) -> Iterator[Found]:
    """Of documents in a list; what is no link is left out of the facts."""
    for index, each in enumerate(objects(value, path) if isinstance(value, list) else []):
        name, url = each.get(title), each.get(link)
        if isinstance(name, str) and name.strip():
            payload = given(title=name, url=url if isinstance(url, str) and is_uri(url) else None)
            yield fact("due_diligence", name, schema_version, f"{path}[{index}]", payload)


def entries(listed: Iterable[tuple[str, Any]], schema_version: str) -> Iterator[Found]:
    """Of a list that may be long, each as an attribute, such as `materials.composition.0`: a fact has at most 64 kB."""
    for path, value in listed:
        own = ".".join(snake_case(part) for part in re.split(r"[.\[\]]+", path) if part)
        yield fact("attribute", own, schema_version, path, {"value": value})
