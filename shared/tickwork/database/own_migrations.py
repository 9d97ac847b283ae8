"""The migrations of a project, applied after tickwork's and noted in the same history."""

import re
from collections.abc import Iterable
from pathlib import Path

import psycopg

from tickwork.database.connection import Connection
from tickwork.errors import InvalidRequest
from tickwork.shipped import MIGRATIONS

NAME = re.compile(r"([0-9]{4,14})_(\w+)\.sql")
APPLIED = "select version, statements from supabase_migrations.schema_migrations"
NOTE = "insert into supabase_migrations.schema_migrations (version, name, statements) values (%s, %s, %s)"


def apply_own(connection: Connection, folder: Path) -> list[str]:
    """Apply the missing files of a folder in order, and return their names."""
    files = missing_own(connection, folder)
    for file in files:
        apply(connection, file)
    return [file.stem for file in files]


def missing_own(connection: Connection, folder: Path) -> list[Path]:
    """The files of a folder that are still to be applied; refuses one that was edited after it was."""
    # Somebody is only about to write an empty one.
    files = [file for file in sorted(folder.glob("*.sql")) if file.read_text().strip()]
    check_names(files)
    applied = {row["version"]: row["statements"] for row in connection.execute(APPLIED).fetchall()}
    for file in files:
        if is_edited(file, applied.get(version_of(file))):
            hint = (
                "Undo the edit and write another migration. "
                "In the local stack, `tickwork up --reset` creates the database again; its contents are lost."
            )
            raise InvalidRequest(f"{file} has been edited since it was applied", hint=hint)
    return [file for file in files if version_of(file) not in applied]


def check_names(files: Iterable[Path]) -> None:
    taken = {file.name.partition("_")[0]: file for file in MIGRATIONS.glob("*.sql")}
    for file in files:
        if not NAME.fullmatch(file.name):
            raise InvalidRequest(f"{file}: its name must be such as 20270131080000_invoices.sql: a time and a word")
        if other := taken.get(version_of(file)):
            raise InvalidRequest(f"{file} has the same number as {other.name}", hint="Change the number.")
        taken[version_of(file)] = file


def version_of(file: Path) -> str:
    return file.name.partition("_")[0]


def is_edited(file: Path, statements: list[str] | None) -> bool:
    # The Supabase CLI notes a list of statements, which cannot be compared with a file; we note the whole file.
    return statements is not None and len(statements) == 1 and bare(statements[0]) != bare(file.read_text())


def bare(sql: str) -> str:
    return sql.strip().rstrip(";")


def apply(connection: Connection, file: Path) -> None:
    sql = file.read_text()
    try:
        connection.execute(sql.encode())
    except psycopg.Error as error:
        position = int(error.diag.statement_position or 0)
        line = f", line {sql[:position].count(chr(10)) + 1}" if position else ""
        message = error.diag.message_primary or str(error)
        raise InvalidRequest(f"{file}{line}: {message}", hint=error.diag.message_hint) from None
    connection.execute(NOTE, [version_of(file), file.stem.partition("_")[2], [sql]])
