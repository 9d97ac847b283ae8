"""The process that reads one workbook. It trusts neither the file nor the library that parses it."""

import gc
import io
import json
import os
import sys
from datetime import date, datetime, time, timedelta
from typing import Any

# Loaded before everything is given up: later nothing can be.
from python_calamine import CalamineWorkbook

from tickwork.passports.reading import MAX_BYTES
from tickwork.passports.sheets import MAX_ROWS
from tickwork.tools.confined.confinement import die_with, enter


def main() -> None:
    parent, seconds = sys.argv[1:3]
    die_with(int(parent))
    if problem := enter(int(parent), int(seconds)):
        write({"unconfined": problem})
    gc.disable()
    write({"end": read(sys.stdin.buffer.read(MAX_BYTES + 1))})
    sys.stdout.flush()
    os._exit(0)


def read(data: bytes) -> str:
    """Write the rows of the first sheet that has any; returns how that ended."""
    try:
        book = CalamineWorkbook.from_filelike(io.BytesIO(data))
        for place, name in enumerate(book.sheet_names):
            if write_rows(book, name):
                write({"sheet": name, "left_out": book.sheet_names[place + 1 :]})
                return "done"
        return "done"
    except OverflowError:
        return "too many rows"
    except MemoryError:
        return "too demanding"
    except BaseException:
        # A panic of the library is no Exception.
        return "corrupt"


def write_rows(book: CalamineWorkbook, name: str) -> bool:
    """Empty rows at the end are left out, however many there are."""
    sheet = book.get_sheet_by_name(name)
    written = 0
    for number, row in enumerate(sheet.iter_rows(), start=1):
        cells = [plain(cell) for cell in row]
        if any(cell != "" for cell in cells):
            written += 1
            if written > MAX_ROWS:
                raise OverflowError
            write({"number": number, "row": cells})
    return written > 0


def plain(cell: Any) -> str | float:
    """A number, or text: a formula has its last result."""
    if isinstance(cell, bool):
        return "true" if cell else "false"
    if isinstance(cell, int | float):
        return float(cell)
    if isinstance(cell, datetime):
        return cell.date().isoformat() if cell.time() == time() else cell.isoformat()
    if isinstance(cell, date | time):
        return cell.isoformat()
    return str(cell) if isinstance(cell, timedelta) else cell


def write(line: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(line) + "\n")


if __name__ == "__main__":
    main()
