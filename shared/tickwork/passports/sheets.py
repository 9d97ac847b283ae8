"""CSV and TSV: rows of text."""

import csv
import io

from tickwork.passports.reading import Refused, decoded

SEPARATORS = ";,\t|"
MAX_ROWS = 20_001
MAX_CELLS = 2_000_000


def rows_of_csv(data: bytes) -> list[list[str]]:
    text = decoded(data)
    if "\0" in text:
        raise Refused("NUL_CHARACTER", "the file contains U+0000")
    csv.field_size_limit(1 << 20)
    rows: list[list[str]] = []
    cells = 0
    try:
        for row in csv.reader(io.StringIO(text, newline=""), delimiter=separator_of(text), strict=True):
            cells += len(row)
            if cells > MAX_CELLS:
                raise Refused("TOO_MANY_FACTS", "the table has more than two million cells; split it")
            rows.append(row)
            if len(rows) > MAX_ROWS:
                raise Refused("TOO_MANY_FACTS", f"the table has more than {MAX_ROWS - 1} rows; split it")
    except csv.Error as error:
        raise Refused("SCHEMA_MISMATCH", f"row {len(rows) + 1}: {error}") from None
    return rows


def separator_of(text: str) -> str:
    """The sign that comes most often in the head, outside of quotes."""
    head = text.lstrip("\r\n").partition("\n")[0]
    unquoted = "".join(head.split('"')[::2])
    return max(SEPARATORS, key=unquoted.count)
