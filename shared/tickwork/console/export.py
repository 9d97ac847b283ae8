"""Lists as files, on any page with a list: ?format=csv for spreadsheets, ?format=json for programs."""

import csv
import io
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import islice
from typing import TYPE_CHECKING, Any

from tickwork.console.page import Refused, Shown

if TYPE_CHECKING:
    from tickwork.console.view import View

Row = Mapping[str, Any]

MIME_TYPES = {"csv": "text/csv", "json": "application/json"}
MAX_ROWS = 10_000
# What verbs return at a time.
MAX_PAGE = 1000
# A spreadsheet takes a cell that begins with one of these for a formula, and runs it.
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n")


def is_export(view: "View") -> bool:
    """Whether a file is wanted instead of the page. Raises Refused if there is no such format."""
    wanted = view.query.get("format")
    if wanted is not None and wanted not in MIME_TYPES:
        raise Refused(400, view.say("There is no such format."), view.say("Use csv or json."))
    return wanted is not None


def exported(view: "View", name: str, columns: Sequence[str], rows: Iterable[Row]) -> Shown:
    """The first 10,000 rows as a file, with these of their columns."""
    extension = view.query["format"]
    kept = [{column: row[column] for column in columns} for row in islice(rows, MAX_ROWS)]
    text = as_csv(columns, kept) if extension == "csv" else as_json(kept)
    return Shown(text, mime_type=MIME_TYPES[extension], file_name=f"tickwork-{name}.{extension}")


def every_row(read: Callable[[Any, int], Sequence[Row]], key: str = "id") -> Iterator[Row]:
    """Page after page of a list that pages by key: `read` gets the key of the last row, and the size of a page."""
    after = None
    while page := read(after, MAX_PAGE):
        yield from page
        if len(page) < MAX_PAGE:
            return
        after = page[-1][key]


def as_csv(columns: Sequence[str], rows: Iterable[Row]) -> str:
    file = io.StringIO(newline="")
    writer = csv.writer(file)
    writer.writerow(columns)
    writer.writerows([cell(row[column]) for column in columns] for row in rows)
    return file.getvalue()


def cell(value: Any) -> str:
    """The text of a value, which no spreadsheet runs."""
    if value is None:
        return ""
    if isinstance(value, int | float):
        return str(value)
    text = as_json(value) if isinstance(value, dict | list) else str(plain(value))
    return f"'{text}" if text.startswith(FORMULA_STARTS) else text


def as_json(value: Any) -> str:
    return json.dumps(value, default=plain, ensure_ascii=False)


def plain(value: Any) -> Any:
    """What JSON has no type for, as text."""
    return value.isoformat() if isinstance(value, datetime) else str(value)
