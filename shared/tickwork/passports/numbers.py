"""Numbers that people have written into tables: whether the comma of a column is a decimal one is never guessed."""

import re
from collections.abc import Iterable
from decimal import Context, Decimal
from typing import Literal

from tickwork.passports.reading import Refused, exact_number, shown

# More digits than a number may have here: none is rounded away before it is looked at.
EXACT = Context(prec=1000)
Notation = Literal["point", "comma"]
PLAIN = re.compile(r"[+-]?[0-9]{1,50}(?:[eE][+-]?[0-9]{1,3})?")
POINT = re.compile(
    r"[+-]?(?:[0-9]{1,3}(?:,[0-9]{3})+|[0-9]{1,50})?\.[0-9]{1,50}(?:[eE][+-]?[0-9]{1,3})?|[+-]?[0-9]{1,3}(?:,[0-9]{3})+"
)
COMMA = re.compile(
    r"[+-]?(?:[0-9]{1,3}(?:\.[0-9]{3})+|[0-9]{1,50})?,[0-9]{1,50}(?:[eE][+-]?[0-9]{1,3})?|[+-]?[0-9]{1,3}(?:\.[0-9]{3})+"
)
BLANKS = re.compile(r"(?<=[0-9])[ \u00a0\u202f'’](?=[0-9]{3}(?![0-9]))")


def notation_of(column: str, cells: Iterable[str]) -> Notation:
    """Which sign is the decimal one in all cells of a column; refused where they leave it open."""
    either: str | None = None
    found: Notation | None = None
    for cell in map(cleaned, cells):
        if not cell or PLAIN.fullmatch(cell):
            continue
        is_point, is_comma = bool(POINT.fullmatch(cell)), bool(COMMA.fullmatch(cell))
        if not is_point and not is_comma:
            raise Refused("SCHEMA_MISMATCH", f"column {shown(column)}: {shown(cell)} is not a number")
        if is_point and is_comma:
            # 1,234 or 1.234: alone in its column, a point is taken for what it is everywhere else, a decimal one.
            either = cell if "," in cell else either
            continue
        one: Notation = "point" if is_point else "comma"
        if found not in (None, one):
            raise Refused("AMBIGUOUS_NUMBER", f"column {shown(column)} mixes decimal points and commas: {shown(cell)}")
        found = one
    if found is None and either is not None:
        raise Refused(
            "AMBIGUOUS_NUMBER", f"column {shown(column)}: {shown(either)} may be a decimal comma or not; write a point"
        )
    return found or "point"


def cleaned(cell: str) -> str:
    return BLANKS.sub("", cell.strip())


def number_of(cell: str, notation: Notation) -> Decimal:
    plain = cleaned(cell)
    plain = plain.replace(",", "") if notation == "point" else plain.replace(".", "").replace(",", ".")
    return Decimal(plain)


def as_json(number: Decimal, factor: Decimal = Decimal(1)) -> int | float:
    """The number times the factor as JSON holds it, if a double keeps all its digits."""
    return exact_number(str(EXACT.multiply(number, factor)))
