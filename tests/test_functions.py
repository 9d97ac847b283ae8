"""Each function of the product starts as it is deployed, and knows what it cannot do."""

from pathlib import Path

import pytest

from tests.test_serve import Answer, running_function, settings
from tests.world import World

FUNCTIONS = Path(__file__).parents[1] / "functions"

FAMILIES = {
    "extract": ["extract_document"],
    "import": ["check_connector", "import_dropbox", "import_gdrive", "import_onedrive", "watch_connector"],
    "classify": ["classify_document"],
    "webhook": ["deliver_webhook", "http_request"],
}


def test_every_function_has_types_and_every_type_a_function(world: World) -> None:
    types = world.rows("select family, array_agg(key order by key) as keys from job_types group by family")

    assert {row["family"]: row["keys"] for row in types} == FAMILIES
    assert {path.parent.name for path in FUNCTIONS.glob("*/main.py")} == FAMILIES.keys()


@pytest.mark.parametrize("family", FAMILIES)
def test_a_function_starts_and_fails_jobs_that_it_cannot_do(family: str, tmp_path: Path, world: World) -> None:
    with running_function(FUNCTIONS / family / "main.py", tmp_path, **settings(world)) as function:
        idle = function.wake()
        jobs = [world.job(type) for type in FAMILIES[family]]
        busy = function.wake()

    assert idle == Answer(204, None)
    assert busy == Answer(200, {"family": family, "claimed": len(jobs), "failed": len(jobs)})
    assert {(world.reload(job).status, world.reload(job).error_code) for job in jobs} == {("failed", "INVALID_PAYLOAD")}
    assert function.complaints() == ""
