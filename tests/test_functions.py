"""Each function of the product starts as it is deployed, and knows what it cannot do."""

import os
import subprocess
import sys
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

from tests.serve.test_wake_up import Answer, running_function, settings
from tests.world import World

FUNCTIONS = Path(__file__).parents[1] / "functions"
HELLO = Path(__file__).parents[1] / "infra/bench/functions/hello/main.py"

FAMILIES = {
    "manage": ["change_jobs"],
    "extract": ["extract_document", "ingest_document"],
    "import": ["check_connector", "import_dropbox", "import_gdrive", "import_onedrive", "watch_connector"],
    "classify": ["classify_document"],
    "report": ["generate_report", "remove_artifacts"],
    "webhook": ["deliver_webhook", "http_request"],
    "passport": [
        *("build_snapshot", "compile_passport", "export_passport", "generate_qr", "parse_facts", "run_rule_tests"),
    ],
    "sign": ["sign_passport", "sign_status_list"],
}


def test_every_function_has_types_and_every_type_a_function(world: World) -> None:
    types = world.rows("select family, array_agg(key order by key) as keys from job_types group by family")

    assert {row["family"]: row["keys"] for row in types} == FAMILIES
    # Those beside them: one processes no jobs, the other only those of the operator's file.
    assert {path.parent.name for path in FUNCTIONS.glob("*/main.py")} == {*FAMILIES, "api", "command"}


@pytest.mark.parametrize("family", FAMILIES)
def test_a_function_starts_and_fails_jobs_that_it_cannot_do(family: str, tmp_path: Path, world: World) -> None:
    # As with a job that was enqueued before its type had a schema.
    world.run("update job_types set payload_schema = null")

    with running_function(FUNCTIONS / family / "main.py", tmp_path, **settings(world)) as function:
        idle = function.wake()
        jobs = [world.job(type, payload={"unknown": 1}) for type in FAMILIES[family]]
        busy = function.wake()

    assert idle == Answer(204, None)
    assert busy == Answer(200, {"family": family, "claimed": len(jobs), "failed": len(jobs)})
    assert {(world.reload(job).status, world.reload(job).error_code) for job in jobs} == {("failed", "INVALID_PAYLOAD")}
    assert function.complaints() == ""


# What a bare function loads is that of the framework.
ANSWER = """
import sys, functions_framework
for source in sys.argv[1:]:
    loaded = set(sys.modules)
    answer = functions_framework.create_app("main", source).test_client().post("/")
assert answer.status_code == 204
print(*(set(sys.modules) - loaded))
"""


@pytest.mark.parametrize("family", FAMILIES)
def test_a_function_that_finds_nothing_due_loads_psycopg_and_no_other_library(family: str, world: World) -> None:
    given = {"TICKWORK_DATABASE_URL": world.worker_url, "TICKWORK_OPEN_ON_LOOPBACK": "true"}
    command = [sys.executable, "-W", "ignore", "-c", ANSWER, str(HELLO), str(FUNCTIONS / family / "main.py")]

    answered = subprocess.run(command, env={**os.environ, **given}, capture_output=True, text=True, check=True)

    brought_by = packages_distributions()
    loaded = {each.partition(".")[0] for each in answered.stdout.split()}
    libraries = {library for each in loaded for library in brought_by.get(each, [])}
    # The server is gunicorn in any case.
    assert libraries - {"tickwork", "typing_extensions", "gunicorn"} == {"psycopg", "psycopg-binary"}
