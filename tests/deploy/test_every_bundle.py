"""Every bundle, in an empty environment of its own: it starts, and processes its jobs."""

from pathlib import Path

import pytest

from tests.gcp.test_bundles import FAMILIES, install
from tests.serve.test_wake_up import SECRET, running_function
from tests.world import World
from tickwork.shipped import FUNCTIONS
from tickwork_gcp.bundles import build


@pytest.mark.parametrize("family", FAMILIES)
def test_an_installed_bundle_starts_and_settles_its_jobs(family: str, world: World, tmp_path: Path) -> None:
    bundle = build(FUNCTIONS / family, tmp_path)
    python = install(bundle, tmp_path / "environment")
    types = [row["key"] for row in world.rows("select key from job_types where family = %s", family)]
    # Otherwise the queue itself would refuse what no handler can use.
    world.run("update job_types set payload_schema = null")
    settings = {"TICKWORK_DATABASE_URL": world.worker_url, "TICKWORK_BEARER_SECRET": SECRET}

    with running_function(bundle / "main.py", tmp_path / "run", python=python, **settings) as function:
        jobs = [world.job(type) for type in types]
        answer = function.wake()

    # An empty payload is no good to any handler, and that is found out by all that the bundle brings.
    assert (answer.status, answer.body["claimed"]) == (200, len(jobs))
    assert {world.reload(job).status for job in jobs} == {"failed"}
    assert function.complaints() == ""
