"""The pytest plugin: a Postgres for the session, and the fixture `tickwork`."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tickwork.cli.project import Project
    from tickwork.testing.fixture import Tickwork
    from tickwork_local.postgres import Server


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addini("tickwork_project", "The folder with tickwork.toml; by default the root folder or one above it.")


def pytest_configure(config: pytest.Config) -> None:
    folder = config.rootpath / config.getini("tickwork_project")
    # Most runs are none of ours, and should not load more than this.
    if any((each / "tickwork.toml").is_file() for each in (folder, *folder.parents)):
        # Tests import the files of a function as its main.py does.
        sys.path += [str(family) for family in project_of(config).own_families().values()]


def project_of(config: pytest.Config) -> Project:
    from tickwork.cli.project import find_project

    return find_project(config.rootpath / config.getini("tickwork_project"))


@pytest.fixture(scope="session")
def tickwork_server(pytestconfig: pytest.Config) -> Iterator[Server]:
    """A Postgres, and in it a template with the tables of the project and of tickwork."""
    from tickwork.errors import Error
    from tickwork.testing.database import running_server
    from tickwork_local.postgres import PostgresFailed

    try:
        with running_server(project_of(pytestconfig)) as server:
            yield server
    except (Error, PostgresFailed) as error:
        hint = getattr(error, "hint", None)
        pytest.fail(f"{error}. {hint}" if hint else str(error), pytrace=False)


@pytest.fixture
def tickwork(
    tickwork_server: Server,
    pytestconfig: pytest.Config,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Tickwork]:
    """The queue in a database of the test's own."""
    from tickwork.testing.database import TEMPLATE, cloned, settings_for
    from tickwork.testing.fixture import Tickwork

    with cloned(tickwork_server, TEMPLATE) as name:
        url, worker_url = tickwork_server.url(name), tickwork_server.url(name, "tickwork_worker")
        for setting, value in settings_for(worker_url, tmp_path_factory.mktemp("vault")).items():
            monkeypatch.setenv(setting, value)
        with Tickwork(project_of(pytestconfig), url, worker_url) as tickwork:
            yield tickwork


def pytest_assertrepr_compare(op: str, left: object, right: object) -> list[str] | None:
    """What the jobs that ran have to say, if a report is not the expected one."""
    if op != "==" or "tickwork.testing.ran" not in sys.modules:
        return None
    from tickwork.testing.ran import Ran

    given = next((each for each in (left, right) if isinstance(each, Ran)), None)
    return None if given is None else [f"{left!r} == {right!r}", *given.told()]
