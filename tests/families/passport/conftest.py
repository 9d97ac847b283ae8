"""A tenant that makes batteries, with a vault."""

from pathlib import Path

import pytest

from tests.world import World
from tests.world.battery_maker import BatteryMaker


@pytest.fixture
def maker(world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> BatteryMaker:
    monkeypatch.setenv("TICKWORK_DATABASE_URL", world.worker_url)
    monkeypatch.setenv("TICKWORK_VAULT_URL", f"file:{tmp_path / 'vault'}")
    return BatteryMaker(world, tmp_path)
