"""The proxy that cuts connections around a commit."""

from collections.abc import Iterator
from contextlib import nullcontext

import psycopg
import pytest

from tests.world import World
from tests.world.waiting import until
from tickwork_chaos.proxy import Cut, CuttingProxy
from tickwork_local.postgres import Server


@pytest.fixture
def proxy(server: Server) -> Iterator[CuttingProxy]:
    with CuttingProxy(server.port) as proxy:
        yield proxy


def url_of(world: World, proxy: CuttingProxy) -> str:
    return world.url.replace(world.url.rpartition(":")[2].partition("/")[0], str(proxy.port))


@pytest.mark.parametrize("is_explicit", [False, True])
@pytest.mark.parametrize(("cut", "committed"), [(Cut.BEFORE, 0), (Cut.AFTER, 1), (Cut.SILENT, 1)])
def test_a_cut_before_the_commit_undoes_it_and_one_after_it_does_not(
    world: World, proxy: CuttingProxy, cut: Cut, committed: int, is_explicit: bool
) -> None:
    world.run("create table notes (note text)")

    with psycopg.connect(url_of(world, proxy), autocommit=True) as connection:
        connection.execute("select 1")
        proxy.cut(cut, seconds=0.1)
        until(proxy.is_armed)
        with pytest.raises(psycopg.OperationalError), connection.transaction() if is_explicit else nullcontext():
            connection.execute("insert into notes values (%s)", ["one"])

    until(lambda: world.value("select count(*) from notes") == committed)
    assert proxy.done == {cut: 1}


def test_other_connections_go_on_and_new_ones_go_to_the_target(world: World, proxy: CuttingProxy) -> None:
    url = url_of(world, proxy)
    with psycopg.connect(url, autocommit=True) as one:
        one.execute("select 1")

        proxy.drop_all()

        with pytest.raises(psycopg.OperationalError):
            one.execute("select 1")
    with psycopg.connect(url, autocommit=True) as other:
        assert other.execute("select 1").fetchone() == (1,)
