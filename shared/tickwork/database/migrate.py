"""Brings a Postgres, version 15 or later, up to the current schema."""

from pathlib import Path

import psycopg

from tickwork.database.connection import Connection, connect, translated
from tickwork.errors import InvalidRequest

# Any number, as long as it never changes: of two concurrent migrations one waits for the other.
LOCK = 7_469_636_875

HISTORY = """
    create schema if not exists supabase_migrations;
    create table if not exists supabase_migrations.schema_migrations (
      version text primary key,
      statements text[],
      name text
    );
"""


def migrate(url: str) -> list[str]:
    """Apply all missing files or none, and return the names of the applied ones."""
    try:
        with connect(url, "tickwork migrate") as connection, connection.transaction():
            check_version(connection)
            connection.execute("select pg_advisory_xact_lock(%s)", [LOCK])
            connection.execute(HISTORY)
            files = [*stand_ins(connection), *sorted(folder("migrations").glob("*.sql"))]
            return [file.stem for file in files if apply(connection, file)]
    except psycopg.Error as error:
        raise translated(error) from error


def check_version(connection: Connection) -> None:
    version = connection.info.server_version
    if version < 150_000:
        raise InvalidRequest(f"Postgres {version // 10_000} is too old: tickwork needs 15 or later")


def stand_ins(connection: Connection) -> list[Path]:
    """What Supabase provides, if it is missing."""
    row = connection.execute("select to_regnamespace('auth') is null as is_plain").fetchone()
    return [folder("local") / "stand_ins.sql"] if row and row["is_plain"] else []


def apply(connection: Connection, file: Path) -> bool:
    """Run a file unless it has been applied; the Supabase CLI keeps its history in the same table."""
    version, _, name = file.stem.partition("_")
    if version.isdecimal():
        inserted = connection.execute(
            "insert into supabase_migrations.schema_migrations (version, name, statements) "
            "values (%s, %s, %s) on conflict do nothing",
            [version, name, [file.read_text()]],
        )
        if inserted.rowcount == 0:
            return False
    connection.execute(file.read_bytes())
    return True


def edited_since(url: str) -> list[str]:
    """The files that differ from what was applied: until the first release they are edited in place."""
    with connect(url, "tickwork migrate") as connection:
        rows = connection.execute("select version, statements from supabase_migrations.schema_migrations").fetchall()
    applied = {row["version"]: row["statements"] for row in rows}
    files = folder("migrations").glob("*.sql")
    return sorted(file.stem for file in files if applied.get(file.stem.partition("_")[0]) != [file.read_text()])


def folder(name: str) -> Path:
    """Where SQL files are: inside the installed package, or else in the repository."""
    packaged = Path(__file__).parents[1] / "sql" / name
    in_repository = {"migrations": "supabase/migrations", "local": "infra/local", "supabase": "supabase"}
    return packaged if packaged.exists() else Path(__file__).parents[3] / in_repository[name]
