"""The reports: for each a query, NAME.sql, and a template, NAME.html. What is in this folder is offered."""

from dataclasses import dataclass
from functools import cache
from pathlib import Path

FOLDER = Path(__file__).parent
# What people look for first; the others follow by name.
FIRST = ("jobs", "errors", "usage")


@dataclass(frozen=True)
class Definition:
    """Its first line, a comment, says what it is about. Its query has the rows of the report, for the parameters
    first_day and last_day (dates) and begins_at and ends_at (points in time, in the time zone of the session)."""

    name: str
    about: str
    query: str
    template: str


@cache
def definitions() -> dict[str, Definition]:
    names = sorted(file.stem for file in FOLDER.glob("*.sql"))
    return {name: read(FOLDER / f"{name}.sql") for name in sorted(names, key=place)}


def place(name: str) -> int:
    return FIRST.index(name) if name in FIRST else len(FIRST)


def read(file: Path) -> Definition:
    comment, _, query = file.read_text().partition("\n")
    return Definition(file.stem, comment.removeprefix("-- "), query.strip(), file.with_suffix(".html").read_text())
