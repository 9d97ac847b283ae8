"""The API, and two tenants that use it."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from uuid import UUID

import pytest

from tests.world import World
from tests.world.api import Api, api_of, member_of
from tickwork.testing.database import TEMPLATE, cloned
from tickwork_local.postgres import Server


@dataclass(frozen=True)
class Users:
    """The same API seen by an admin and a member of acme, and by an admin of another tenant."""

    nobody: Api
    admin: Api
    member: Api
    stranger: Api
    acme: UUID
    other: UUID


@contextmanager
def users_of(world: World) -> Iterator[Users]:
    acme, other = world.tenant("acme"), world.tenant("other")
    world.type("greet_person", payload_schema={"type": "object", "properties": {"name": {"type": "string"}}})
    with api_of(world) as nobody:
        yield Users(
            nobody,
            nobody.as_user(member_of(world, acme, role="admin")),
            nobody.as_user(member_of(world, acme)),
            nobody.as_user(member_of(world, other, role="owner")),
            acme,
            other,
        )


@pytest.fixture
def users(world: World) -> Iterator[Users]:
    with users_of(world) as users:
        yield users


@pytest.fixture(scope="module")
def shared(server: Server, worker_port: int) -> Iterator[Users]:
    """The same for all tests of a file, which must not mind each other."""
    with cloned(server, TEMPLATE) as name:
        worker_url = f"postgresql://tickwork_worker@127.0.0.1:{worker_port}/{name}"
        with World(server.url(name), worker_url) as world, users_of(world) as users:
            yield users
