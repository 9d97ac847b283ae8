"""The fixtures of tickwork.testing, by shorter names, and the world on top of them."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from tempfile import TemporaryDirectory

import pytest

from tests.servers.pooler import running_pgbouncer
from tests.world import World
from tickwork.testing.database import TEMPLATE, cloned, open_to_all
from tickwork_local.launch import die_with_parent
from tickwork_local.postgres import Server

pytest_plugins = ["tests.world.clouds"]


def pytest_configure() -> None:
    # A killed `make test` leaves nothing behind.
    die_with_parent()


@pytest.fixture(scope="session")
def server(tickwork_server: Server) -> Server:
    return tickwork_server


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
