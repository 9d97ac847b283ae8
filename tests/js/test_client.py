"""The tests of the TypeScript client in shared/tickwork-js/test, run by Node against a stack of real servers."""

import json
import re
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.contract.running import CASES, set_up
from tests.js.npm import run
from tests.servers.api import running_api
from tests.servers.supabase import running_supabase
from tests.world import World
from tests.world.api import user_token
from tickwork.testing.database import TEMPLATE, cloned
from tickwork_local.postgres import Server

FILE = Path(__file__).parents[1] / "contract" / "cases.json"
# For one test; only one that hangs takes so long.
TIMEOUT = "--test-timeout=120000"


@pytest.fixture(scope="module")
def stack(server: Server, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A file that tells where everything is."""
    folder = tmp_path_factory.mktemp("stack")
    with (
        cloned(server, TEMPLATE) as name,
        World(server.url(name), server.url(name)) as world,
        running_supabase(world.url, folder / "supabase") as supabase,
        running_api(world, folder / "api") as url,
    ):
        setting = set_up(world)
        hour = int(time.time()) + 3600
        told = {
            "cases": str(FILE),
            "known": setting.names,
            "url": url,
            "tokens": {user: user_token(id) for user, id in setting.users.items()},
            "supabase_url": supabase.server.url,
            "supabase_key": supabase.server.publishable_key,
            "supabase_tokens": {user: supabase.server.token(str(id), exp=hour) for user, id in setting.users.items()},
        }
        (folder / "stack.json").write_text(json.dumps(told))
        yield folder / "stack.json"


def test_every_test_of_the_package_passes(package: Path, stack: Path) -> None:
    files = sorted(str(file.relative_to(package)) for file in package.glob("test/*.test.mjs"))

    printed = run(package, "node", "--test", TIMEOUT, "--test-reporter=tap", *files, TICKWORK_TEST_STACK=str(stack))

    assert files
    # Both ways in, and none of it left out.
    assert len(set(re.findall(r"ok \d+ - (.*)", printed)) & {case["name"] for case in CASES}) == len(CASES)
    assert "\n# skipped 0\n" in printed
