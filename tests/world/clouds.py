"""Fixtures: a running server for each provider, and a tenant whose connectors talk to them."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.servers.cloud import Cloud, running
from tests.servers.drive import Drive
from tests.servers.dropbox import Dropbox
from tests.servers.graph import Graph
from tests.world import World
from tests.world.office import Office


@pytest.fixture
def dropbox() -> Iterator[Dropbox]:
    with running(cloud := Dropbox()):
        yield cloud


@pytest.fixture
def graph() -> Iterator[Graph]:
    with running(cloud := Graph()):
        yield cloud


@pytest.fixture
def drive() -> Iterator[Drive]:
    with running(cloud := Drive()):
        yield cloud


@pytest.fixture
def clouds(dropbox: Dropbox, graph: Graph, drive: Drive) -> dict[str, Cloud]:
    return {"dropbox": dropbox, "onedrive": graph, "gdrive": drive}


@pytest.fixture
def office(world: World, tmp_path: Path, clouds: dict[str, Cloud], monkeypatch: pytest.MonkeyPatch) -> Office:
    return Office(world, tmp_path, clouds, monkeypatch)
