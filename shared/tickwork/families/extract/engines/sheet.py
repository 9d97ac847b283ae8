"""CSV: tables of some rows each, so that a hit in a long one has a place."""

import csv
import io

from tickwork.families.extract.engines.decoding import decoded
from tickwork.families.extract.engines.outline import Outline
from tickwork.families.extract.engines.refusals import MAX_TEXT, Refused

ROWS_PER_TABLE = 100
SEPARATORS = ";,\t|"


def read(data: bytes, outline: Outline) -> None:
    # A field is as long as it likes: all of them together are limited.
    csv.field_size_limit(2 * MAX_TEXT)
    text = decoded(data)
    rows: list[list[str]] = []
    size = 0
    try:
        for row in csv.reader(io.StringIO(text, newline=""), delimiter=separator_of(text)):
            size += sum(map(len, row)) + len(row)
            if size > 2 * MAX_TEXT:
                raise Refused("too much text")
            if any(cell.strip() for cell in row):
                rows.append(row)
            if len(rows) == ROWS_PER_TABLE:
                outline.table(rows)
                rows = []
    except csv.Error:
        raise Refused("corrupt") from None
    outline.table(rows)


def separator_of(text: str) -> str:
    """The sign that comes equally often in most of the first lines."""
    lines = [line for line in text[:20_000].splitlines()[:20] if line.strip()][:-1] or text[:20_000].splitlines()[:1]
    best, most = ",", 0
    for sign in SEPARATORS:
        counts = [line.count(sign) for line in lines]
        usual = max(set(counts), key=counts.count, default=0)
        if usual and counts.count(usual) * (usual + 1) > most:
            best, most = sign, counts.count(usual) * (usual + 1)
    return best
