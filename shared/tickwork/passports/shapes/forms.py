"""How a value of a foreign model is written as one of ours; what does not fit is refused, and keeps its own path."""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from tickwork.passports.numbers import as_json
from tickwork.passports.reading import Refused
from tickwork.passports.rules.schema import is_date, is_uri
from tickwork.passports.shapes.parts import amount, given, number
from tickwork.passports.units import unit_of

Payload = dict[str, Any]
MAX_TEXT = 500
LINKS = ("content", "fileLocation", "documentURL", "linkURL")
TIME_OF_DAY = re.compile(r"T[0-9:.]+(Z|[+-][0-9:]+)?")
# A period of months as SAMM writes the type gMonth.
MONTHS = re.compile(r"--([0-9]{2})")


@dataclass(frozen=True)
class Form:
    """`read` raises Refused. A form that keeps everything is whole: its value has no path of its own any more."""

    read: Callable[[Any], Payload]
    is_whole: bool = False


def misfit(expected: str) -> Refused:
    return Refused("SCHEMA_MISMATCH", f"must be {expected}")


def plain_value(value: Any) -> Any:
    return value.get("value") if isinstance(value, dict) else value


def time_of(value: Any) -> Payload:
    return given(time=value.get("time")) if isinstance(value, dict) else {}


def read_text(value: Any) -> Payload:
    if not isinstance(value, str) or not value.strip() or len(value) > MAX_TEXT:
        raise misfit("a text")
    return {"value": value}


def read_uri(value: Any) -> Payload:
    if not isinstance(value, str) or not is_uri(value):
        raise misfit("a link")
    return {"value": value}


def read_day(value: Any) -> Payload:
    day = TIME_OF_DAY.sub("", value) if isinstance(value, str) else ""
    if not is_date(day):
        raise misfit("a day")
    return {"value": day}


def uris_of(value: Any) -> Iterable[str]:
    """The links of a document, or of a list of documents."""
    for each in value if isinstance(value, list) else [value]:
        link = next((each[name] for name in LINKS if name in each), None) if isinstance(each, dict) else each
        if isinstance(link, str) and is_uri(link):
            yield link


def read_document(value: Any) -> Payload:
    return {"value": first(uris_of(value))}


def read_months(value: Any) -> Payload:
    """A number of months, or one with the unit month or year."""
    if isinstance(value, str) and (months := MONTHS.fullmatch(value)):
        value = int(months[1])
    if not isinstance(value, dict):
        return {"value": as_json(number(value, "months")), "unit": "MON"}
    found = number(value.get("lifeValue", value.get("value")), "months")
    unit = unit_of(str(value.get("lifeUnit", value.get("unit")))).code
    if unit not in ("MON", "ANN"):
        raise misfit("a number of months or years")
    return {"value": as_json(found * 12 if unit == "ANN" else found), "unit": "MON"}


def read_minutes(value: Any) -> Payload:
    """As hours, if they come out exactly."""
    return {"value": as_json(number(value, "minutes") / 60), "unit": "HUR"}


def read_ratio(value: Any) -> Payload:
    return {"value": as_json(number(value, "the ratio") * 100), "unit": "P1"}


TEXT = Form(read_text, is_whole=True)
URI = Form(read_uri, is_whole=True)
DAY = Form(read_day)
DOCUMENT = Form(read_document)
MONTHS_OF_WARRANTY = Form(read_months, is_whole=True)
MINUTES = Form(read_minutes, is_whole=True)
RATIO = Form(read_ratio, is_whole=True)


def measure(implied: str) -> Form:
    """A number in the unit that the model implies, or in one of the same kind that is written with it."""

    def read(value: Any) -> Payload:
        written = value.get("unit") if isinstance(value, dict) else None
        found = amount(plain_value(value), written or implied, "the value")
        if found["unit"] != unit_of(implied).code:
            raise misfit(f"in {implied}")
        return {**found, **time_of(value)}

    return Form(read, is_whole=True)


def plain(factor: str = "1") -> Form:
    """A number without a unit."""

    def read(value: Any) -> Payload:
        return {"value": as_json(number(plain_value(value), "the value"), Decimal(factor)), **time_of(value)}

    return Form(read, is_whole=True)


def one_of(names: Mapping[str, str]) -> Form:
    """A word of a list, whatever the size of its letters."""

    def read(value: Any) -> Payload:
        if not isinstance(value, str) or value.lower() not in names:
            raise misfit(f"one of {', '.join(names)}")
        return {"value": names[value.lower()]}

    return Form(read, is_whole=True)


def member(name: str, form: Form, **where: str) -> Form:
    """That of the first object in a list, or of the first one whose other members have these values."""

    def read(value: Any) -> Payload:
        found = (each for each in objects_in(value) if all(each.get(key) == text for key, text in where.items()))
        return form.read(first(found).get(name))

    return Form(read)


def members(*names: str) -> Form:
    """The texts with the first of these names in a list of objects, and all of a list of texts."""

    def read(value: Any) -> Payload:
        if not isinstance(value, list):
            raise misfit("a list")
        return {"value": different(each if isinstance(each, str) else text_of(each, *names) for each in value)}

    return Form(read)


def joined(part: Callable[[Any], str | None], separator: str = "; ") -> Form:
    """One text of the parts of all values in a list."""

    def read(value: Any) -> Payload:
        parts = map(part, value if isinstance(value, list) else [value])
        return read_text(separator.join(different(parts)))

    return Form(read)


def objects_in(value: Any) -> list[Payload]:
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def text_of(value: Any, *names: str) -> str | None:
    """What the first of these members says that is a text."""
    found = (value.get(name) for name in names) if isinstance(value, dict) else ()
    return next((each for each in found if isinstance(each, str) and each.strip()), None)


def different(texts: Iterable[str | None]) -> list[str]:
    """Each once, in their order."""
    return [*dict.fromkeys(each for each in texts if each)]


def first(values: Iterable[Any]) -> Any:
    for each in values:
        return each
    raise misfit("given")
