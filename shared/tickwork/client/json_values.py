"""Values as they go over the wire as JSON, and back."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import date, datetime, timedelta
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple
from uuid import UUID

from tickwork.database.json_text import as_given, as_stored
from tickwork.errors import InvalidRequest

Row = dict[str, Any]


class JsonArgument(NamedTuple):
    """A value for a parameter of the type jsonb: everything else is a number, a text, an array and so on."""

    value: Any
    text: str


def as_json(value: Any) -> JsonArgument:
    """Raises InvalidRequest for what is not JSON, before anything is sent."""
    return JsonArgument(value, as_given(value))


def as_stored_json(value: Any) -> JsonArgument | None:
    """The same for what a handler produced, without the characters that Postgres cannot store."""
    text = as_stored(value)
    return None if text is None else JsonArgument(json.loads(text), text)


def ids(given: Sequence[UUID | str]) -> list[UUID]:
    try:
        return [UUID(str(id)) for id in given]
    except ValueError:
        raise InvalidRequest("an id is not a UUID", sqlstate="22P02") from None


def plain(value: Any) -> Any:
    """An argument as JSON has it."""
    match value:
        case JsonArgument():
            return value.value
        case UUID():
            return str(value)
        case datetime() | date():
            return value.isoformat()
        case timedelta():
            return f"{value.total_seconds()} seconds"
        case list() | tuple():
            return [plain(each) for each in value]
        case _:
            return value


def in_json(job: Mapping[str, Any]) -> dict[str, Any]:
    """A job to enqueue, with its ids and times as JSON has them; the payload is as it is."""
    return {name: value if name == "payload" else plain(value) for name, value in job.items()}


class Function(NamedTuple):
    """What it returns: one row, many, a value or nothing; and which columns are not what JSON has."""

    returns: str
    columns: Mapping[str, str]
    # Of the HTTP API, if that has it.
    method: str | None = None
    path: str | None = None


@cache
def functions() -> dict[str, Function]:
    """Written by `make client`: see functions.json."""
    text = (Path(__file__).parent / "functions.json").read_text()
    found = json.loads(text)
    return {
        name: Function(each["returns"], found["columns"].get(each.get("row"), {}), *each.get("route", ()))
        for name, each in found["functions"].items()
    }


def rows_of(function: str, answer: Any) -> list[Row]:
    """The same rows that the function would return in SQL."""
    known = functions()[function]
    match known.returns:
        case "nothing":
            return []
        case "value":
            convert = CONVERSIONS.get(known.columns.get("value", ""))
            return [{function: convert(answer) if convert and answer is not None else answer}]
        case "one":
            return [] if answer is None else [typed(known, answer)]
        case _:
            return [typed(known, row) for row in answer]


def typed(function: Function, row: Row) -> Row:
    for column, kind in function.columns.items():
        if (value := row.get(column)) is not None:
            # Such as a time that is infinite.
            with suppress(ValueError):
                row[column] = CONVERSIONS[kind](value)
    return row


CONVERSIONS: Mapping[str, Callable[[Any], Any]] = {
    "uuid": UUID,
    "uuid[]": lambda values: [UUID(each) for each in values],
    "timestamptz": datetime.fromisoformat,
    "date": date.fromisoformat,
    "numeric": lambda value: Decimal(str(value)),
}
