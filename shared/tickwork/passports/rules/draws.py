"""Numbers and values from SHA-256(seed ‖ i) and nothing else, so that a case is the same on every Python."""

import hashlib
from collections.abc import Sequence
from datetime import date, timedelta
from typing import Any, TypeVar

from tickwork.passports.canonical import Json
from tickwork.passports.rules.schema import Schema

T = TypeVar("T")
FIRST_DAY = date(2020, 1, 1)
DAYS = 3650


class Draw:
    def __init__(self, seed: int, number: int) -> None:
        self._key = hashlib.sha256(seed.to_bytes(8, "big", signed=True) + number.to_bytes(8, "big")).digest()
        self._bytes = self._key
        self._block = 0

    def below(self, limit: int) -> int:
        if len(self._bytes) < 8:
            self._block += 1
            self._bytes = hashlib.sha256(self._key + self._block.to_bytes(8, "big")).digest()
        taken, self._bytes = self._bytes[:8], self._bytes[8:]
        return int.from_bytes(taken, "big") % limit

    def one_of(self, choices: Sequence[T]) -> T:
        return choices[self.below(len(choices))]

    def shuffled(self, things: Sequence[T]) -> list[T]:
        found = list(things)
        for place in range(len(found) - 1, 0, -1):
            other = self.below(place + 1)
            found[place], found[other] = found[other], found[place]
        return found

    def word(self) -> str:
        return f"w{self.below(16**8):08x}"


def valid_value(schema: Schema, draw: Draw) -> Json:
    """At one of the bounds, or between them."""
    match schema.type:
        case "number" | "integer":
            return number_of(schema, draw)
        case "string":
            return text_of(schema, draw)
        case "boolean":
            return draw.below(2) == 1
        case "array":
            return [valid_value(schema.items, draw) for _ in range(1 + draw.below(3))] if schema.items else []
        case "object":
            wanted = (name for name in schema.properties if name in schema.required or draw.below(2))
            return {name: valid_value(schema.properties[name], draw) for name in wanted}


def number_of(schema: Schema, draw: Draw) -> Json:
    low, high = bounds_of(schema)
    between = low + (high - low) * draw.below(1001) / 1000
    found = draw.one_of([low, high, between, between, between])
    return round(found) if schema.type == "integer" or float(found).is_integer() else round(found, 6)


def bounds_of(schema: Schema) -> tuple[float, float]:
    low = schema.minimum if schema.minimum is not None else min(0.0, (schema.maximum or 0.0) - 1000)
    return low, schema.maximum if schema.maximum is not None else max(1000.0, low + 1000)


def text_of(schema: Schema, draw: Draw) -> str:
    if schema.enum is not None:
        return draw.one_of(schema.enum)
    match schema.format:
        case "date":
            return (FIRST_DAY + timedelta(days=draw.below(DAYS))).isoformat()
        case "uri":
            return f"https://example.com/{draw.word()}"
    return draw.word()[: schema.max_length]


def invalid_values(schema: Schema) -> list[tuple[str, Any]]:
    """One value beyond each bound, one outside of the enum, and one that is no date or URI."""
    found: list[tuple[str, Any]] = []
    if schema.minimum is not None:
        found.append(("minimum", schema.minimum - 1))
    if schema.maximum is not None:
        found.append(("maximum", schema.maximum + 1))
    if schema.enum is not None:
        found.append(("enum", "none of them"))
    if schema.format is not None:
        found.append(("format", "neither"))
    return [(rule, int(value) if isinstance(value, float) and value.is_integer() else value) for rule, value in found]
