"""The database of a project: the application's own tables, tickwork's, and those of the project's migrations."""

import os
import re
import subprocess
from pathlib import Path

import psycopg
from psycopg.conninfo import conninfo_to_dict

from tickwork.cli.project import Project
from tickwork.database.migrate import is_migrated, migrate
from tickwork.errors import InvalidRequest
from tickwork_local.postgres import embedded_binaries


def prepare(url: str, project: Project) -> list[str]:
    """Bring a database that is the stack's own, or a test's, up to date; returns what was applied."""
    if is_migrated(url):
        return migrate(url, project.modules, own=project.migrations)
    if project.schema:
        create_tables(url, project.schema)
    return migrate(url, project.modules, project.tenants, project.members, project.migrations)


def create_tables(url: str, file: Path) -> None:
    try:
        with psycopg.connect(url) as connection:
            # pg_dump writes commands for psql, too.
            connection.execute(re.sub(r"^\\.*$", "", file.read_text(), flags=re.MULTILINE).encode())
    except psycopg.Error as error:
        hint = "Correct the file: it creates the application's own tables, before tickwork's."
        raise InvalidRequest(f"{file}: {error}", hint=hint) from None


def schema_of(url: str) -> str:
    """The tables of an application, as SQL."""
    if is_migrated(url):
        hint = "Leave the option out, and set database under [stack] in tickwork.toml afterwards."
        raise InvalidRequest("--database-url: tickwork's tables are in this database already", hint=hint)
    options = ["--schema-only", "--no-owner", "--no-privileges"]
    # Everybody can read the arguments of a process.
    password = str(conninfo_to_dict(url).get("password") or os.environ.get("PGPASSWORD", ""))
    command = [str(embedded_binaries() / "pg_dump"), *options, without_password(url)]
    environment = {**os.environ, "PGPASSWORD": password}
    dump = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if dump.returncode != 0:
        raise InvalidRequest(f"--database-url: {dump.stderr.strip()}", hint="The role must be able to read all tables.")
    return dump.stdout


def without_password(url: str) -> str:
    # tickwork.toml is committed; libpq finds a password in PGPASSWORD or ~/.pgpass.
    return re.sub(
        r"(?<=//)([^:@/]*):[^@/]*@|(?<=[?&])password=[^&]*&?",
        lambda found: f"{found[1]}@" if found[1] is not None else "",
        url,
    )
