"""A real Postgres for the tests, with tickwork's schema and the project's."""

import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from uuid import UUID

import pytest
from functions_framework import create_app

from tickwork.cli.project import find_project
from tickwork.database.connection import Database
from tickwork_local.postgres import running_postgres
from tickwork_local.project_database import prepare

PROJECT = find_project(Path(__file__).parent)
# Tests import the files of a function as its main.py does.
sys.path += [str(folder) for folder in PROJECT.own_families().values()]


@pytest.fixture(scope="session")
def database_url() -> Iterator[str]:
    with TemporaryDirectory() as folder:
        # As root, Postgres runs as another user.
        Path(folder).chmod(0o755)
        with running_postgres(Path(folder, "data"), settings={"fsync": "off"}) as server:
            prepare(server.url(), PROJECT)
            yield server.url()


@pytest.fixture
def database(database_url: str) -> Iterator[Database]:
    with closing(Database(database_url, "tests")) as database:
        yield database


@pytest.fixture
def tenant_id(database: Database) -> UUID:
    (tenant,) = database.rows(
        "insert into public.organizations (name) values (gen_random_uuid()::text) returning id as id", {}
    )
    found: UUID = tenant["id"]
    return found


@pytest.fixture
def wake(database_url: str, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Any]:
    """Wakes the function of a family, as it is deployed, and returns its report."""
    monkeypatch.setenv("TICKWORK_DATABASE_URL", database_url.replace("postgres@", "tickwork_worker@"))
    monkeypatch.setenv("TICKWORK_OPEN_ON_LOOPBACK", "true")

    def wake(family: str) -> Any:
        source = PROJECT.own_families()[family] / "main.py"
        app = create_app("main", str(source))  # type: ignore[no-untyped-call]
        return app.test_client().post("/").json

    return wake
