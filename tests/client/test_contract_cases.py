"""The same calls give the same results and the same errors over every way in, with and without an event loop."""

import asyncio
import json
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote
from uuid import UUID

import psycopg
import pytest

from tests.contract.running import CASES, Setting, run_case, set_up
from tests.servers.api import running_api
from tests.servers.supabase import SupabaseServer, running_supabase
from tests.world import World
from tests.world.api import user_token
from tests.world.node import why_not
from tickwork.client import AsyncTickwork, Tickwork
from tickwork.testing.database import TEMPLATE, cloned
from tickwork.testing.fixture import connected
from tickwork_local.postgres import Server

Kind = type[Tickwork | AsyncTickwork]

WAYS = [
    "url",
    "connection",
    "http",
    pytest.param("rpc", marks=pytest.mark.skipif(why_not() is not None, reason=str(why_not()))),
]


@dataclass(frozen=True)
class Stage:
    """One database for all cases, with whatever serves it started when the first case needs it."""

    world: World
    setting: Setting


@pytest.fixture(scope="module")
def stage(server: Server) -> Iterator[Stage]:
    with cloned(server, TEMPLATE) as name, World(server.url(name), server.url(name)) as world:
        yield Stage(world, set_up(world))


@pytest.fixture(scope="module")
def supabase(stage: Stage, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SupabaseServer]:
    with running_supabase(stage.world.url, tmp_path_factory.mktemp("supabase")) as server:
        yield server


@pytest.fixture(scope="module")
def api(stage: Stage, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with running_api(stage.world, tmp_path_factory.mktemp("api")) as url:
        yield url


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", [Tickwork, AsyncTickwork], ids=["sync", "async"])
def test_a_case_is_the_same_over_every_way_in(
    stage: Stage,
    kind: type[Tickwork | AsyncTickwork],
    way: str,
    case: Mapping[str, Any],
    request: pytest.FixtureRequest,
) -> None:
    user = stage.setting.users[case["as"]]

    async def run() -> None:
        async with opened(kind, way, user, stage, request) as client:

            async def call(name: str, arguments: Mapping[str, Any]) -> Any:
                return await called(client, name, arguments)

            await run_case(case, stage.setting, call)

    asyncio.run(run())


@pytest.mark.parametrize("way", WAYS)
def test_rows_have_the_types_of_python_over_every_way_in(
    stage: Stage, way: str, request: pytest.FixtureRequest
) -> None:
    async def created() -> tuple[dict[str, Any], UUID]:
        async with opened(Tickwork, way, stage.setting.users["admin"], stage, request) as client:
            assert isinstance(client, Tickwork)
            given = (stage.setting.names["tenant"], f"types of {way}", "greet_person", "0 7 * * *")
            job = client.enqueue("greet_person", tenant_id=given[0])
            return client.schedules.create_schedule(*given, starts_at="2099-01-31T08:00Z"), job.id

    row, job_id = asyncio.run(created())

    same = stage.world.row("select * from schedules where id = %s", row["id"])
    assert {name: type(row[name]) for name in same} == {name: type(value) for name, value in same.items()}
    assert isinstance(job_id, UUID)


@asynccontextmanager
async def opened(
    kind: Kind, way: str, user: UUID, stage: Stage, request: pytest.FixtureRequest
) -> AsyncIterator[Tickwork | AsyncTickwork]:
    async with AsyncExitStack() as stack:
        match way, kind is Tickwork:
            case "url", _:
                target: Any = as_user(stage.world.url, user)
            case "connection", True:
                target = stack.enter_context(connected(stage.world.url, "authenticated", user))
            case "connection", False:
                connection = await psycopg.AsyncConnection.connect(as_user(stage.world.url, user), autocommit=True)
                target = await stack.enter_async_context(connection)
            case "rpc", is_sync:
                server: SupabaseServer = request.getfixturevalue("supabase")
                target = server.client(str(user)) if is_sync else await server.async_client(str(user), stack)
            case _:
                target = request.getfixturevalue("api")
        client = kind(target, token=user_token(user)) if way == "http" else kind(target)
        try:
            yield client
        finally:
            await ended(client.close())


def as_user(url: str, user: UUID) -> str:
    """Signed in for as long as the connection lasts."""
    claims = json.dumps({"sub": str(user), "role": "authenticated"}, separators=(",", ":"))
    return f"{url}?options={quote(f'-crole=authenticated -crequest.jwt.claims={claims}')}"


async def called(client: Tickwork | AsyncTickwork, name: str, arguments: Mapping[str, Any]) -> Any:
    *resource, method = name.split(".")
    home = getattr(client, resource[0]) if resource else client
    result = getattr(home, method)(**arguments)
    if hasattr(result, "__aiter__"):
        return [each async for each in result]
    return list(result) if hasattr(result, "__next__") else await ended(result)


async def ended(result: Any) -> Any:
    return await result if hasattr(result, "__await__") else result
