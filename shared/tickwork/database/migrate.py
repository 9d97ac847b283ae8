"""Brings a Postgres, version 15 or later, up to the current schema."""

from collections.abc import Iterable
from pathlib import Path

import psycopg

from tickwork.database.adoption import Adopted, check_names, check_tables, settings_of
from tickwork.database.connection import Connection, connect, translated
from tickwork.database.modules import CHAPTERS, module_of, with_needs
from tickwork.database.own_migrations import apply_own, missing_own
from tickwork.errors import InvalidRequest
from tickwork.shipped import MIGRATIONS, ROOT

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


def migrate(
    url: str,
    modules: Iterable[str] | None = None,
    tenants: Adopted | None = None,
    members: Adopted | None = None,
    own: Path | None = None,
) -> list[str]:
    """Apply all missing files or none, and return the names of the applied ones.

    Without a choice of modules, those that the database has are brought up to date; a new database gets all. The
    files of the folder `own` come after tickwork's.
    """
    settings = settings_of(tenants, members)
    try:
        with connect(url, "tickwork migrate") as connection, connection.transaction():
            check_version(connection)
            connection.execute("select pg_advisory_xact_lock(%s)", [LOCK])
            connection.execute(HISTORY)
            files = missing_files(connection, modules, chapters_left_out(connection, tenants, members))
            check_tables(connection, tenants, members)
            check_names(connection, files)
            for setting, value in settings.items():
                connection.execute("select set_config(%s, %s, true)", [setting, value])
            files = [*stand_ins(connection), *files]
            for file in files:
                apply(connection, file)
            return [*(file.stem for file in files), *(apply_own(connection, own) if own else [])]
    except psycopg.Error as error:
        raise translated(error) from error


def chapters_left_out(connection: Connection, tenants: Adopted | None, members: Adopted | None) -> set[str]:
    """The tables of tenants and members are created by the first migration, or never."""
    if not has_schema(connection):
        return replaced_chapters(tenants, members)
    if tenants or members:
        hint = "Leave the option out: what the first run was told still holds."
        raise InvalidRequest("--tenants: this database has its tables of tenants and members already", hint=hint)
    return {"organizations", "memberships"}


def has_schema(connection: Connection) -> bool:
    row = connection.execute("select to_regnamespace('tickwork') is not null as is_migrated").fetchone()
    return bool(row and row["is_migrated"])


def is_migrated(url: str) -> bool:
    """Whether tickwork is in this database, in whatever version."""
    try:
        with connect(url, "tickwork migrate") as connection:
            return has_schema(connection)
    except psycopg.Error as error:
        raise translated(error) from error


def installed_modules(url: str) -> list[str]:
    try:
        with connect(url, "tickwork migrate") as connection:
            return modules_in(connection) if has_schema(connection) else []
    except psycopg.Error as error:
        raise translated(error) from error


def pending(url: str, modules: Iterable[str] | None, own: Path | None) -> list[str]:
    """What `migrate` would apply, beside the tables of tenants and members."""
    try:
        with connect(url, "tickwork migrate") as connection:
            if not has_schema(connection):
                return ["tickwork's schema"]
            files = missing_files(connection, modules, {"organizations", "memberships"})
            return [file.stem for file in [*files, *(missing_own(connection, own) if own else [])]]
    except psycopg.Error as error:
        raise translated(error) from error


def modules_in(connection: Connection) -> list[str]:
    applied = applied_versions(connection)
    return sorted({module_of(file) for file in chapters(CHAPTERS) if version_of(file) in applied})


def applied_versions(connection: Connection) -> set[str]:
    rows = connection.execute("select version from supabase_migrations.schema_migrations").fetchall()
    return {row["version"] for row in rows}


def replaced_chapters(tenants: Adopted | None, members: Adopted | None) -> set[str]:
    return {name for name, table in (("organizations", tenants), ("memberships", members)) if table}


def missing_files(connection: Connection, modules: Iterable[str] | None, left_out: set[str]) -> list[Path]:
    applied, installed = applied_versions(connection), modules_in(connection)
    wanted = with_needs([*installed, *(modules if modules is not None else [] if installed else CHAPTERS)])
    return [file for file in chapters(wanted) if version_of(file) not in applied and name_of(file) not in left_out]


def write_files(
    target: Path, modules: Iterable[str], tenants: Adopted | None = None, members: Adopted | None = None
) -> list[str]:
    """The migrations as files in a folder, for those who apply theirs with the Supabase CLI."""
    left_out = replaced_chapters(tenants, members)
    settings = [f"set {name} = '{value}';\n" for name, value in settings_of(tenants, members).items()]
    files = [file for file in chapters(with_needs(modules)) if name_of(file) not in left_out]
    for file in files:
        first = "".join(settings) if name_of(file) == "tenants_and_members" else ""
        (target / file.name).write_text(first + file.read_text())
    return [file.stem for file in files]


def chapters(modules: Iterable[str]) -> list[Path]:
    return [file for file in sorted(MIGRATIONS.glob("*.sql")) if module_of(file) in modules]


def version_of(file: Path) -> str:
    return file.stem.partition("_")[0]


def name_of(file: Path) -> str:
    return file.stem.partition("_")[2]


def check_version(connection: Connection) -> None:
    version = connection.info.server_version
    if version < 150_000:
        raise InvalidRequest(f"Postgres {version // 10_000} is too old: tickwork needs 15 or later")


def stand_ins(connection: Connection) -> list[Path]:
    """What Supabase provides, if it is missing."""
    row = connection.execute("select to_regnamespace('auth') is null as is_plain").fetchone()
    return [ROOT / "infra/local/stand_ins.sql"] if row and row["is_plain"] else []


def apply(connection: Connection, file: Path) -> None:
    """Run one file and note it in the history that the Supabase CLI keeps too."""
    connection.execute(file.read_bytes())
    if version_of(file).isdecimal():
        connection.execute(
            "insert into supabase_migrations.schema_migrations (version, name, statements) values (%s, %s, %s)",
            [version_of(file), name_of(file), [file.read_text()]],
        )


def edited_since(url: str) -> list[str]:
    """The files that differ from what was applied: until the first release they are edited in place."""
    with connect(url, "tickwork migrate") as connection:
        rows = connection.execute("select version, statements from supabase_migrations.schema_migrations").fetchall()
    applied = {row["version"]: row["statements"] for row in rows}
    files = MIGRATIONS.glob("*.sql")
    return sorted(
        file.stem for file in files if applied.get(version_of(file), [file.read_text()]) != [file.read_text()]
    )
