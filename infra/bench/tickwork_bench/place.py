"""Where everything is measured: one server, and a fresh database for each measurement on it."""

import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from urllib.parse import urlsplit

import psycopg

from tickwork_local.postgres import running_postgres

# Configured to keep the data safe: every commit waits for the disk.
SETTINGS = {
    "fsync": "on",
    "synchronous_commit": "on",
    "full_page_writes": "on",
    "shared_buffers": "512MB",
    "max_connections": "200",
    "max_wal_size": "4GB",
    "checkpoint_timeout": "15min",
}
PREFIX = "tickwork_bench_"
NUMBERS = count(1)


class Place:
    def __init__(self, server_url: str) -> None:
        self._server_url = server_url

    @contextmanager
    def database(self) -> Iterator[str]:
        """The URL of an empty database, which is dropped afterwards."""
        name = f"{PREFIX}{os.getpid()}_{next(NUMBERS)}"
        with psycopg.connect(self._server_url, autocommit=True) as connection:
            connection.execute(f"create database {name}")
            try:
                yield urlsplit(self._server_url)._replace(path=f"/{name}").geturl()
            finally:
                connection.execute(f"drop database {name} with (force)")

    def describe(self) -> dict[str, str]:
        with psycopg.connect(self._server_url) as connection:
            rows = connection.execute(
                "select name, current_setting(name) from pg_settings where name = any(%s)",
                [[*SETTINGS, "server_version"]],
            ).fetchall()
        return {str(name): str(value) for name, value in rows}

    def drop_leftovers(self) -> None:
        """What a killed run left behind on the embedded server."""
        with psycopg.connect(self._server_url, autocommit=True) as connection:
            found = connection.execute("select datname from pg_database where starts_with(datname, %s)", [PREFIX])
            for (name,) in found.fetchall():
                connection.execute(f"drop database {name} with (force)")


@contextmanager
def running_place(folder: Path) -> Iterator[Place]:
    """The server of DATABASE_URL, or else an embedded one, whose data is deleted afterwards."""
    if url := os.environ.get("DATABASE_URL"):
        yield Place(url)
        return
    with embedded_place(folder / "postgres", SETTINGS) as place:
        yield place


@contextmanager
def place_without_disk(folder: Path) -> Iterator[Place]:
    """An embedded server that never waits for the disk: for what is measured in CPU time."""
    with embedded_place(folder / "postgres-without-disk", {**SETTINGS, "fsync": "off"}) as place:
        yield place


@contextmanager
def embedded_place(data: Path, settings: Mapping[str, str]) -> Iterator[Place]:
    with running_postgres(data, settings=settings) as server:
        place = Place(server.url())
        place.drop_leftovers()
        try:
            yield place
        finally:
            server.stop()
            shutil.rmtree(server.data, ignore_errors=True)
