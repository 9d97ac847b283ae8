"""A real Postgres for the whole run, and a fresh clone of the migrated database for each test."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from shutil import disk_usage
from tempfile import TemporaryDirectory

import psycopg
import pytest

from tests.servers.pooler import running_pgbouncer
from tests.world import World
from tickwork.database.migrate import migrate
from tickwork_local.launch import die_with_parent
from tickwork_local.postgres import Server, embedded_binaries, running_postgres

pytest_plugins = ["tests.world.clouds"]

TEMPLATE = "template_tickwork"
NUMBERS = count(1)


def pytest_configure() -> None:
    # A killed `make test` leaves nothing behind.
    die_with_parent()


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    binaries = Path(os.environ.get("TICKWORK_TEST_BINARIES") or embedded_binaries())
    settings = {"fsync": "off", "full_page_writes": "off", "max_connections": "200", "shared_buffers": "256MB"}
    # A full page cache is no reason to fail a test on a small disk.
    settings |= {"max_wal_size": "512MB", "log_min_messages": "fatal"}
    with (
        TemporaryDirectory(prefix="tickwork-test-", dir=roomy_memory()) as folder,
        running_postgres(
            open_to_all(folder) / "data", binaries=Path(binaries or embedded_binaries()), settings=settings
        ) as server,
    ):
        with psycopg.connect(server.url(), autocommit=True) as connection:
            connection.execute(f"create database {TEMPLATE}")
        migrate(server.url(TEMPLATE))
        yield server


def roomy_memory() -> str | None:
    """Where there is much of it, data lies in memory: a clone of the database takes a quarter of the time there."""
    memory = Path("/dev/shm")
    return str(memory) if os.access(memory, os.W_OK) and disk_usage(memory).free > 8 * 2**30 else None


def open_to_all(folder: str) -> Path:
    # As root, Postgres and the pooler run as another user.
    Path(folder).chmod(0o755)
    return Path(folder)


@pytest.fixture(scope="session")
def worker_port(server: Server) -> Iterator[int]:
    """Where workers connect: to the server, or to a transaction-mode pooler in front of it."""
    if not os.environ.get("TICKWORK_TEST_PGBOUNCER"):
        yield server.port
        return
    with pooler(server) as port:
        yield port


@contextmanager
def pooler(server: Server) -> Iterator[int]:
    with (
        TemporaryDirectory(prefix="tickwork-pooler-") as folder,
        running_pgbouncer(server.port, open_to_all(folder)) as port,
    ):
        yield port


@pytest.fixture
def world(server: Server, worker_port: int) -> Iterator[World]:
    with cloned(server, TEMPLATE) as name:
        worker_url = f"postgresql://tickwork_worker@127.0.0.1:{worker_port}/{name}"
        with World(server.url(name), worker_url) as world:
            yield world


@contextmanager
def cloned(server: Server, template: str) -> Iterator[str]:
    name = f"test_{os.getpid()}_{next(NUMBERS)}"
    with psycopg.connect(server.url(), autocommit=True) as connection:
        connection.execute(f"create database {name} template {template} strategy file_copy")
        try:
            yield name
        finally:
            connection.execute(f"drop database {name} with (force)")
