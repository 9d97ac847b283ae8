"""The database of a project: the application's own tables, tickwork's, and those of the project's migrations."""

import os
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

import psycopg
from psycopg.conninfo import conninfo_to_dict

from tickwork.cli.project import Project
from tickwork.database.migrate import is_migrated, migrate, pending
from tickwork.errors import InvalidRequest
from tickwork_local.postgres import embedded_binaries


@dataclass(frozen=True)
class OwnDatabase:
    """A database that is the stack's own: it is always brought up to date."""

    url: str
    worker_url: str
    api_url: str

    def bring_up_to_date(self, project: Project) -> list[str]:
        return [f"applied {name}" for name in prepare(self.url, project)]


@dataclass(frozen=True)
class ExistingDatabase:
    """A database of somebody else: it is only changed by `tickwork migrate`."""

    url: str
    worker_url: str
    api_url: str

    def bring_up_to_date(self, project: Project) -> list[str]:
        check_applied(self.url, project)
        return []


def existing_database(url: str, project: Project) -> ExistingDatabase:
    """Functions connect as the given role, and act as tickwork_worker: its password is not for us to set."""
    check_applied(url, project)
    worker_url, api_url = (
        f"{url}{'&' if '?' in url else '?'}options=-c%20role%3D{role}" for role in ("tickwork_worker", "tickwork_api")
    )
    try:
        psycopg.connect(worker_url).close()
    except psycopg.Error as error:
        hint = f"grant tickwork_worker to {conninfo_to_dict(url).get('user', 'your role')};"
        raise InvalidRequest(f"--database-url: the role may not act as tickwork_worker ({error})", hint=hint) from None
    return ExistingDatabase(url, worker_url, api_url)


def check_applied(url: str, project: Project) -> None:
    if missing := pending(url, project.modules, project.migrations):
        more = f" and {len(missing) - 1} more" if len(missing) > 1 else ""
        hint = f"Run `tickwork migrate {without_password(url)}`."
        raise InvalidRequest(f"the database lacks {missing[0]}{more}", hint=hint)


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
