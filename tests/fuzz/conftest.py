"""One database for the tests of a file: most of what they do is rolled back or writes nothing."""

from collections.abc import Iterator

import pytest

from tests.world import World
from tickwork.testing.database import TEMPLATE, cloned
from tickwork_local.postgres import Server


@pytest.fixture(scope="module")
def world(server: Server) -> Iterator[World]:
    with cloned(server, TEMPLATE) as name, World(server.url(name), server.url(name, "tickwork_worker")) as world:
        # Only a test that fails waits so long.
        world.run("set statement_timeout = '60s'")
        yield world
