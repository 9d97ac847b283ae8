"""Fixtures for what holds for every provider alike."""

import threading
from collections.abc import Iterator
from pathlib import Path
from uuid import UUID

import pytest

from tests.servers.cloud import Cloud, running
from tests.servers.drive import Drive
from tests.servers.dropbox import Dropbox
from tests.servers.graph import Graph
from tests.world import World
from tests.world.office import HANDLERS, Office
from tickwork.runtime.deadline import Deadline
from tickwork.runtime.work import work

CLOUDS: dict[str, type[Cloud]] = {"dropbox": Dropbox, "onedrive": Graph, "gdrive": Drive}


@pytest.fixture(params=CLOUDS)
def provider(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def cloud(provider: str) -> Iterator[Cloud]:
    one = CLOUDS[provider]()
    with running(one):
        yield one


@pytest.fixture
def office(world: World, tmp_path: Path, provider: str, cloud: Cloud, monkeypatch: pytest.MonkeyPatch) -> Office:
    return Office(world, tmp_path, {provider: cloud}, monkeypatch)


@pytest.fixture
def connector(office: Office, provider: str) -> UUID:
    return office.connect(provider)


def at_once(office: Office) -> None:
    queues = (office.world.queue, office.world.other_queue)
    threads = [threading.Thread(target=work, args=(queue, "import", HANDLERS, Deadline(60, 1))) for queue in queues]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
