"""Rows of a table become facts: the head of each column says which field it is, or the tenant has taught it."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple

from tickwork.passports.canonical import Json
from tickwork.passports.fact import Fact
from tickwork.passports.found import Found
from tickwork.passports.numbers import Notation, as_json, notation_of, number_of
from tickwork.passports.reading import Refused, check_text, shown
from tickwork.passports.units import unit_of

Kind = Literal["bom", "pcf", "dd"]
# A cell that was text, or a number of a workbook.
Cell = str | float
Row = Sequence[Cell]


class Numbered(NamedTuple):
    """A row that is not blank, with its number in the file."""

    number: int
    cells: Row


NUMBERS = {"mass", "value", "recycled_pre_consumer", "recycled_post_consumer", "quantity"}
FLAGS = {"is_critical", "is_hazardous"}
YES, NO = {"true", "yes", "ja", "x", "1", "wahr"}, {"false", "no", "nein", "", "0", "falsch"}
FIELDS = {
    *NUMBERS,
    *FLAGS,
    *("attribute", "unit", "name", "cas", "location", "part_number", "stage", "title", "url", "issued_on", "scheme"),
}
# Other heads of columns, in lower case and with _ between words.
HEADS = {
    **dict.fromkeys(("material", "substance", "material_name", "description", "bezeichnung", "werkstoff"), "name"),
    **dict.fromkeys(("cas_number", "cas_no", "cas_nr"), "cas"),
    **dict.fromkeys(("weight", "amount", "masse", "gewicht"), "mass"),
    **dict.fromkeys(("uom", "unit_of_measure", "einheit"), "unit"),
    **dict.fromkeys(("part_no", "part", "partnumber", "manufacturer_part_id", "teilenummer"), "part_number"),
    **dict.fromkeys(("component", "position", "ort"), "location"),
    **dict.fromkeys(("critical", "critical_raw_material", "is_critical_raw_material"), "is_critical"),
    **dict.fromkeys(("hazardous", "hazardous_substance"), "is_hazardous"),
    **dict.fromkeys(("recycled_pre", "pre_consumer", "pre_consumer_recycled"), "recycled_pre_consumer"),
    **dict.fromkeys(("recycled_post", "post_consumer", "post_consumer_recycled"), "recycled_post_consumer"),
    **dict.fromkeys(("lifecycle_stage", "life_cycle_stage", "phase"), "stage"),
    **dict.fromkeys(("carbon_footprint", "co2e", "emissions", "wert"), "value"),
    **dict.fromkeys(("report", "document", "titel"), "title"),
    **dict.fromkeys(("link", "href"), "url"),
    **dict.fromkeys(("date", "issued", "datum"), "issued_on"),
    **dict.fromkeys(("standard", "certificate"), "scheme"),
    **dict.fromkeys(("path", "attribute_path", "merkmal"), "attribute"),
}
# `Mass (kg)` and `Mass [kg]`.
WITH_UNIT = re.compile(r"(.*?)\s*[\[(]\s*([^\])]+?)\s*[\])]\s*")
# As long as one that a tenant can teach; what is longer has no meaning.
MAX_HEAD = 200
# Among the attributes: with zeros before it, it is an identifier.
A_NUMBER = re.compile(r"[+-]?(0|[1-9][0-9]*)(\.[0-9]+)?", re.ASCII)


class Meaning(NamedTuple):
    """Which field a column is, and the unit of its numbers if its head or the tenant names one."""

    field: str
    unit: str | None = None


class Column(NamedTuple):
    place: int
    head: str
    meaning: Meaning
    notation: Notation


def facts_of_rows(
    rows: Sequence[Numbered], kind: Kind, schema_version: str, taught: Mapping[str, Meaning], sheet: str | None = None
) -> Iterator[Found]:
    """The first row has the heads."""
    if not rows:
        return
    columns = columns_of([row.cells for row in rows], taught)
    fact_type, key = sort_of({column.meaning.field for column in columns}, kind)
    for number, row in rows[1:]:
        payload = payload_of(row, columns, number)
        if (name := payload.get(key)) is None:
            raise Refused("SCHEMA_MISMATCH", f"row {number} has no {key}")
        source: dict[str, Json] = {"row": number, **({"sheet": sheet} if sheet else {})}
        if fact_type == "attribute":
            del payload["attribute"]
        yield Found(Fact(fact_type, str(name), schema_version, payload), source)


def columns_of(rows: Sequence[Row], taught: Mapping[str, Meaning]) -> list[Column]:
    found: list[Column] = []
    for index, cell in enumerate(rows[0]):
        head = str(cell).strip()
        meaning = meaning_of(head, taught)
        if meaning is None:
            continue
        if any(meaning.field == other.meaning.field for other in found):
            raise Refused("SCHEMA_MISMATCH", f"two columns are {meaning.field}; the second one is {shown(head)}")
        texts = (row[index] for row in rows[1:] if index < len(row))
        # What an attribute is worth may be a text, so that its numbers must be plain ones.
        is_number = meaning.field in NUMBERS and not (meaning.field == "value" and has_attributes(rows[0], taught))
        cells = (text for text in texts if isinstance(text, str))
        found.append(Column(index, head, meaning, notation_of(head, cells) if is_number else "point"))
    return found


def has_known_heads(heads: Row, kind: Kind, taught: Mapping[str, Meaning]) -> bool:
    """Whether a table with these heads has facts of this kind."""
    meanings = (meaning_of(str(head).strip(), taught) for head in heads)
    try:
        sort_of({meaning.field for meaning in meanings if meaning is not None}, kind)
    except Refused:
        return False
    return True


def has_attributes(heads: Row, taught: Mapping[str, Meaning]) -> bool:
    meanings = (meaning_of(str(head).strip(), taught) for head in heads)
    return any(meaning is not None and meaning.field == "attribute" for meaning in meanings)


def meaning_of(head: str, taught: Mapping[str, Meaning]) -> Meaning | None:
    """What the tenant has taught comes first; a column without a meaning is left out."""
    if len(head) > MAX_HEAD:
        return None
    if found := taught.get(head.lower()):
        return found
    match = WITH_UNIT.fullmatch(head)
    plain, unit = (match[1], match[2]) if match else (head, None)
    word = re.sub(r"[\s_-]+", "_", plain.strip().lower())
    field = word if word in FIELDS else HEADS.get(word)
    return Meaning(field, unit) if field else None


def sort_of(fields: set[str], kind: Kind) -> tuple[str, str]:
    """The type of the facts and the field that is their key."""
    if {"attribute", "value"} <= fields:
        return "attribute", "attribute"
    wanted = {
        "bom": [("component", "part_number", {"part_number"}), ("material", "name", {"name", "mass"})],
        "pcf": [("carbon_footprint", "stage", {"stage", "value"})],
        "dd": [("due_diligence", "title", {"title"})],
    }
    for fact_type, key, needed in wanted[kind]:
        if needed <= fields:
            return fact_type, key
    needs = " or ".join(" and ".join(sorted(needed)) for _, _, needed in wanted[kind])
    raise Refused("SCHEMA_MISMATCH", f"a table of kind {kind} needs the columns {needs}, or attribute and value")


def payload_of(row: Row, columns: Sequence[Column], number: int) -> dict[str, Any]:
    payload: dict[str, Any] = {}
    units: dict[str, str] = {}
    is_attribute = any(column.meaning.field == "attribute" for column in columns)
    for column in columns:
        cell = row[column.place] if column.place < len(row) else ""
        value = value_of(cell, column, is_attribute)
        if value is not None:
            payload[column.meaning.field] = value
        if column.meaning.unit:
            units[column.meaning.field] = column.meaning.unit
    try:
        return in_known_units(payload, units)
    except Refused as refusal:
        raise Refused(refusal.code, f"row {number}: {refusal.message}") from None


def value_of(cell: Cell, column: Column, is_attribute: bool) -> Any:
    """A number stays a decimal until its unit is known."""
    field = column.meaning.field
    text = written(cell)
    if not text:
        return None
    if is_attribute and field == "value":
        return text if isinstance(cell, str) and not A_NUMBER.fullmatch(text) else number_of(text, "point")
    if field in NUMBERS:
        return number_of(text, "point" if isinstance(cell, float) else column.notation)
    check_text(text)
    if field in FLAGS:
        if text.lower() not in YES | NO:
            raise Refused("SCHEMA_MISMATCH", f"column {shown(column.head)}: {shown(text)} is neither yes nor no")
        return text.lower() in YES
    return text


def written(cell: Cell) -> str:
    """A number of a workbook is a double, as Python writes it; 1234.0 may be the number of a part."""
    if isinstance(cell, str):
        return cell.strip()
    return str(int(cell)) if cell.is_integer() and abs(cell) < 1e15 else repr(cell)


def in_known_units(payload: dict[str, Any], units: Mapping[str, str]) -> dict[str, Any]:
    """The numbers as JSON holds them; the mass or the value in the unit of its kind."""
    measured = "mass" if "mass" in payload else "value"
    name = payload.pop("unit", None) or units.get(measured)
    unit = unit_of(name) if name else None
    if unit and isinstance(text := payload.get(measured), str):
        # 450,5 would be a text; whether its comma is a decimal one is not guessed.
        raise Refused("SCHEMA_MISMATCH", f"{shown(text)} has a unit but is not a number; write a decimal point")
    if measured == "mass" and "mass" in payload and (unit is None or unit.code != "KGM"):
        raise Refused("UNKNOWN_UNIT", "a mass needs a unit such as KGM or GRM")
    for field, value in payload.items():
        if field in NUMBERS and not isinstance(value, str | bool):
            payload[field] = as_json(value, unit.factor) if unit and field == measured else as_json(value)
    return {**payload, "unit": unit.code} if unit and measured in payload else payload
