"""A report as one HTML page: no script, nothing from elsewhere, fit for print."""

import re
from collections.abc import Iterator
from datetime import date, datetime
from decimal import Decimal
from functools import partial
from html import escape
from pathlib import Path
from typing import Any, LiteralString, cast

from psycopg import sql
from psycopg.abc import Buffer
from psycopg.adapt import Loader

from tickwork.families.report.definitions import Definition
from tickwork.families.report.files import query_of
from tickwork.families.report.period import Language, Scope
from tickwork.jobs.connection import Connection
from tickwork.tools.svg import stacked_bars

FRAME = Path(__file__).with_name("page.html")
# {{_ English|Deutsch}}, or {{figure select …}}, {{table select …}} and {{bars select …}} from the rows of the report.
PLACEHOLDER = re.compile(r"\{\{(_|figure|table|bars)\s+(.*?)\}\}", re.DOTALL)
MAX_ROWS = 1000
GERMAN = {
    "queued": "wartend",
    "running": "laufend",
    "done": "erledigt",
    "failed": "gescheitert",
    "dead": "aufgegeben",
    "cancelled": "abgebrochen",
    "pending": "ausstehend",
    "delivered": "zugestellt",
    "unknown": "unbekannt",
}


class LocalTime(Loader):
    """As the database writes it, in the time zone of the transaction: this machine may not know that zone."""

    def load(self, data: Buffer) -> datetime:
        return datetime.fromisoformat(bytes(data).decode()[:19])


def page(connection: Connection, wanted: list[Definition], scope: Scope) -> Iterator[bytes]:
    head, foot = texts(FRAME.read_text(), scope.language).split("{{sections}}")
    first, last = (shown(day, scope.language) for day in (scope.first_day, scope.last_day))
    # In one pass: what is put in may look like a placeholder itself.
    told = {
        "language": scope.language,
        "tenant": scope.tenant,
        "timezone": scope.timezone,
        "first": first,
        "last": last,
    }
    yield re.sub(r"\{\{= (\w+)\}\}", lambda found: escape(told[found[1]]), head).encode()
    for definition in wanted:
        fill = partial(filled, connection, definition, scope)
        yield f"<section>\n{PLACEHOLDER.sub(fill, definition.template)}</section>\n".encode()
    yield foot.encode()


def texts(template: str, language: Language) -> str:
    return PLACEHOLDER.sub(lambda found: text(found[2], language), template)


def text(both: str, language: Language) -> str:
    """`English|Deutsch`, or the same in both languages; escaped."""
    english, _, german = both.strip().partition("|")
    return escape((german or english) if language == "de" else english)


def filled(connection: Connection, definition: Definition, scope: Scope, found: re.Match[str]) -> str:
    kind, content = found.groups()
    if kind == "_":
        return text(content, scope.language)
    query = sql.SQL("with rows as ({}) {}").format(query_of(definition), sql.SQL(cast(LiteralString, content)))
    cursor = connection.cursor()
    cursor.adapters.register_loader("timestamptz", LocalTime)
    cursor.execute(query, scope.parameters)
    names = [column.name for column in cursor.description or ()]
    rows = [list(row.values()) for row in cursor.fetchmany(MAX_ROWS)]
    match kind:
        case "figure":
            label = text(names[0], scope.language)
            return f'<span class="figure"><b>{escape(shown(rows[0][0], scope.language))}</b> {label}</span>'
        case "bars":
            return bars(rows, scope.language)
        case _:
            return table(names, rows, scope.language)


def table(names: list[str], rows: list[list[Any]], language: Language) -> str:
    if not rows:
        return f"<p>{text('None in this period.|Keine in diesem Zeitraum.', language)}</p>"
    head = "".join(
        f"<th{kind_of(value)}>{text(name, language)}</th>" for name, value in zip(names, rows[0], strict=True)
    )
    body = "".join(f"<tr>{''.join(cell(value, language) for value in row)}</tr>\n" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead>\n<tbody>{body}</tbody></table>"


def cell(value: Any, language: Language) -> str:
    return f"<td{kind_of(value)}>{escape(shown(value, language))}</td>"


def kind_of(value: Any) -> str:
    return ' class="number"' if isinstance(value, int | float | Decimal) else ""


def bars(rows: list[list[Any]], language: Language) -> str:
    """Of rows with a place on the axis, a series and a number."""
    points = [(shown(place, language), shown(series, language), float(number)) for place, series, number in rows]
    return stacked_bars(points, partial(shown, language=language)) if points else table([], [], language)


def shown(value: Any, language: Language) -> str:
    match value:
        case None:
            return "–"
        case bool():
            return text("yes|ja" if value else "no|nein", language)
        case int() | float() | Decimal():
            number = f"{value:,}" if isinstance(value, int) else f"{value:,.2f}".removesuffix(".00")
            return number.translate(str.maketrans(",.", ".,")) if language == "de" else number
        case datetime():
            return f"{value:%d.%m.%Y %H:%M}" if language == "de" else f"{value:%Y-%m-%d %H:%M}"
        case date():
            return f"{value:%d.%m.%Y}" if language == "de" else f"{value:%Y-%m-%d}"
        case _:
            return GERMAN.get(str(value), str(value)) if language == "de" else str(value)
