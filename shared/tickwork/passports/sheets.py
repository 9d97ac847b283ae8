"""CSV and TSV: rows of text."""

import csv
import io

from tickwork.passports.reading import Refused, decoded
from tickwork.passports.tables import Numbered

SEPARATORS = ";,\t|"
MAX_ROWS = 20_001
MAX_CELLS = 2_000_000


def rows_of_csv(data: bytes) -> list[Numbered]:
    """Blank rows are left out."""
    text = decoded(data)
    if "\0" in text:
        raise Refused("NUL_CHARACTER", "the file contains U+0000")
    csv.field_size_limit(1 << 20)
    rows: list[Numbered] = []
    number = cells = 0
    try:
        lines = csv.reader(io.StringIO(text, newline=""), delimiter=separator_of(text), strict=True)
        for number, row in enumerate(lines, start=1):
            cells += len(row)
            if cells > MAX_CELLS:
                raise Refused("TOO_MANY_FACTS", "the table has more than two million cells; split it")
            if any(cell.strip() for cell in row):
                rows.append(Numbered(number, row))
            if len(rows) > MAX_ROWS:
                raise Refused("TOO_MANY_FACTS", f"the table has more than {MAX_ROWS - 1} rows; split it")
    except csv.Error as error:
        raise Refused("SCHEMA_MISMATCH", f"row {number + 1}: {error}") from None
    return rows


def separator_of(text: str) -> str:
    """The sign that comes most often in the head, outside of quotes."""
    head = text.lstrip("\r\n").partition("\n")[0]
    unquoted = "".join(head.split('"')[::2])
    return max(SEPARATORS, key=unquoted.count)
