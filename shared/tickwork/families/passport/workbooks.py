"""XLSX: rows of the first sheet, read by a process of its own after a look at the directory of the ZIP file."""

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple
from zipfile import BadZipFile, ZipFile

from tickwork.logs import log
from tickwork.passports.reading import Refused
from tickwork.passports.sheets import MAX_ROWS
from tickwork.passports.tables import Cell, Numbered
from tickwork.tools.confined.running import TooDemanding, lines_of, running

CHILD = "tickwork.families.passport.workbook_child"
SECONDS = 60.0
MAX_ANSWER = 100_000_000
MAX_ENTRIES = 10_000
MAX_UNPACKED = 300_000_000
# What texts and numbers in XML shrink by; only what was made to do harm shrinks more.
MAX_RATIO = 100
SMALL = 10_000_000


class Sheet(NamedTuple):
    name: str
    rows: list[Numbered]
    left_out: list[str]


def read_workbook(file: Path, breathe: Callable[[], None]) -> Sheet:
    """The first sheet that has rows, and the names of the others."""
    look_at_directory(file)
    rows: list[Numbered] = []
    told: dict[str, Any] = {}
    try:
        with file.open("rb") as source, running(CHILD, source, SECONDS) as child:
            for line in lines_of(child, time.monotonic() + SECONDS, MAX_ANSWER, breathe):
                said = json.loads(line)
                if "row" in said:
                    rows.append(Numbered(int(said["number"]), [checked(cell) for cell in said["row"]]))
                else:
                    told |= said
    except (TooDemanding, ValueError, TypeError, KeyError):
        raise too_demanding() from None
    if "unconfined" in told:
        log("unconfined", "WARNING", engine="workbook", reason=str(told["unconfined"])[:200])
    return sheet_of(rows, told)


def sheet_of(rows: list[Numbered], told: dict[str, Any]) -> Sheet:
    match told.get("end"):
        case "done":
            return Sheet(str(told.get("sheet", "")), rows, [str(name)[:200] for name in told.get("left_out", [])])
        case "too many rows":
            raise Refused("TOO_MANY_FACTS", f"the sheet has more than {MAX_ROWS - 1} rows; split it")
        case "corrupt":
            raise Refused("SCHEMA_MISMATCH", "the file is no workbook that can be read; save it anew as XLSX")
    raise too_demanding()


def look_at_directory(file: Path) -> None:
    """Refuse a bomb before anything of it is unpacked."""
    try:
        with ZipFile(file) as archive:
            entries = archive.infolist()
    except (BadZipFile, OSError, ValueError, NotImplementedError):
        raise Refused("SCHEMA_MISMATCH", "the file is no XLSX workbook, or needs a password") from None
    unpacked, packed = sum(each.file_size for each in entries), sum(each.compress_size for each in entries)
    is_dense = unpacked > SMALL and unpacked > MAX_RATIO * max(packed, 1)
    if len(entries) > MAX_ENTRIES or unpacked > MAX_UNPACKED or is_dense:
        raise Refused("FILE_TOO_LARGE", "the workbook unpacks to more than a workbook may; save it anew, or split it")


def checked(cell: object) -> Cell:
    if not isinstance(cell, str | float):
        raise TypeError
    return cell


def too_demanding() -> Refused:
    return Refused("TOO_DEMANDING", "reading the workbook takes more time or memory than it may; save it anew as CSV")
