"""Reports as CSV and JSON, in pieces: the database writes each row as text, and no more than a piece is in memory."""

import json
from collections.abc import Iterator
from typing import Any, LiteralString

from psycopg import sql

from tickwork.families.report.definitions import Definition
from tickwork.families.report.period import Scope
from tickwork.jobs.connection import Connection

PIECE = 1 << 18
# bool, bigint, smallint, integer, real, double precision, date, timestamp, timestamptz, numeric and uuid: a spreadsheet
# takes none of them for a formula.
HARMLESS = {16, 20, 21, 23, 700, 701, 1082, 1114, 1184, 1700, 2950}
# What a spreadsheet may take for one, in whichever width; blanks before it do not help.
RISKY = r"^(\s|[-+=@＝＋－＠])"
CSV = "copy ({}) to stdout with (format csv, header)"
JSON = "copy (select row_to_json(rows) from ({}) as rows) to stdout"


class Rows:
    """Counts the rows that it writes."""

    def __init__(self) -> None:
        self.count = 0

    def as_csv(self, connection: Connection, chosen: list[Definition], scope: Scope) -> Iterator[bytes]:
        (definition,) = chosen
        yield from self._pieces(connection, CSV, defused(connection, definition, scope), scope, escape=False)
        # The header.
        self.count -= 1

    def as_json(self, connection: Connection, chosen: list[Definition], scope: Scope) -> Iterator[bytes]:
        (definition,) = chosen
        head = {
            "report": definition.name,
            "tenant": scope.tenant,
            "first_day": str(scope.first_day),
            "last_day": str(scope.last_day),
            "timezone": scope.timezone,
        }
        yield json.dumps(head, ensure_ascii=False)[:-1].encode() + b', "rows": [\n'
        yield from self._pieces(connection, JSON, query_of(definition), scope, escape=True)
        yield b"]}\n"

    def _pieces(
        self, connection: Connection, statement: LiteralString, query: sql.Composable, scope: Scope, *, escape: bool
    ) -> Iterator[bytes]:
        piece: list[bytes] = []
        length = 0
        with connection.cursor() as cursor, cursor.copy(sql.SQL(statement).format(query), scope.parameters) as copy:
            # The server sends each row in a message of its own.
            for message in copy:
                row = bytes(message)
                if escape:
                    # JSON has no other character that COPY escapes.
                    row = (b"," if self.count else b" ") + row.replace(b"\\\\", b"\\")
                self.count += 1
                piece.append(row)
                length += len(row)
                if length >= PIECE:
                    yield b"".join(piece)
                    piece, length = [], 0
        yield b"".join(piece)


def query_of(definition: Definition) -> sql.SQL:
    # It is a file of ours.
    return sql.SQL(definition.query)


def defused(connection: Connection, definition: Definition, scope: Scope) -> sql.Composed:
    """The same rows, with an apostrophe before every text that a spreadsheet may take for a formula."""
    nothing = sql.SQL("select * from ({}) as rows limit 0").format(query_of(definition))
    columns = connection.execute(nothing, scope.parameters).description or []
    cells = [_cell(column) for column in columns]
    return sql.SQL("select {} from ({}) as rows").format(sql.SQL(", ").join(cells), query_of(definition))


def _cell(column: Any) -> sql.Composable:
    name = sql.Identifier(column.name)
    if column.type_code in HARMLESS:
        return name
    guarded = "case when {0}::text ~ {1} then '''' || {0}::text else {0}::text end as {0}"
    return sql.SQL(guarded).format(name, sql.Literal(RISKY))
