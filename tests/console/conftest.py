"""The console, as those who use it see it."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from uuid import UUID, uuid4

import pytest

from tests.world import World
from tests.world.api import member_of
from tests.world.console import Browser, console_of
from tickwork.testing.database import TEMPLATE, cloned
from tickwork_local.postgres import Server


@dataclass(frozen=True)
class Viewers:
    """The console seen by an admin and a member of acme, an admin of another tenant, a platform admin and nobody."""

    world: World
    nobody: Browser
    admin: Browser
    member: Browser
    stranger: Browser
    operator: Browser
    acme: UUID
    other: UUID


@contextmanager
def viewers_of(world: World) -> Iterator[Viewers]:
    acme, other = world.tenant("acme"), world.tenant("other")
    world.type("greet_person", payload_schema={"type": "object", "properties": {"name": {"type": "string"}}})
    operator = uuid4()
    world.run("insert into tickwork.platform_admins (user_id) values (%s)", operator)
    with console_of(world) as nobody:
        yield Viewers(
            world,
            nobody,
            nobody.sign_in(member_of(world, acme, role="admin")),
            nobody.sign_in(member_of(world, acme)),
            nobody.sign_in(member_of(world, other, role="owner")),
            nobody.sign_in(operator),
            acme,
            other,
        )


@pytest.fixture(scope="module")
def viewers(server: Server, worker_port: int) -> Iterator[Viewers]:
    """The same for all tests of a file, which must not mind each other."""
    with cloned(server, TEMPLATE) as name:
        worker_url = f"postgresql://tickwork_worker@127.0.0.1:{worker_port}/{name}"
        with World(server.url(name), worker_url) as world, viewers_of(world) as viewers:
            yield viewers
