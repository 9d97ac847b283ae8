"""The real gcloud: it knows every flag of a plan, and what it does to a local Google Cloud is what was meant."""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from google.cloud import scheduler_v1
from google.protobuf import json_format

from tests.gcp.test_plan import ACCOUNT, ENVIRONMENT, planned
from tests.servers.google_cloud import running_google_cloud
from tickwork.errors import DeployFailed
from tickwork.waking.cloud_scheduler import job_of
from tickwork_gcp.gcloud import Gcloud
from tickwork_gcp.scheduler_jobs import (
    delete_command,
    describe_command,
    keep_as_shell,
    list_command,
    prune_as_shell,
    write_command,
)

pytestmark = pytest.mark.skipif(shutil.which("gcloud") is None, reason="gcloud is not installed")

EVERYTHING = {"TICKWORK_HMAC_SECRET": "s" * 32, "TICKWORK_VAULT_URL": "s3://bucket?region=eu,x"}


def complaints(commands: list[str], folder: Path) -> dict[str, str]:
    """What gcloud has to say against each command that it does not understand."""
    file = folder / "commands.json"
    file.write_text(json.dumps([{"command_string": each} for each in commands]))
    # With a configuration of its own, which is empty: no account, no project, nothing to call anybody with.
    quiet = {
        "CLOUDSDK_CONFIG": str(folder),
        "CLOUDSDK_CORE_CHECK_GCE_METADATA": "false",
        "CLOUDSDK_CORE_DISABLE_USAGE_REPORTING": "true",
        "CLOUDSDK_COMPONENT_MANAGER_DISABLE_UPDATE_CHECK": "true",
    }
    asked = ["gcloud", "meta", "lint-gcloud-commands", f"--commands-file={file}"]
    done = subprocess.run(asked, env={**os.environ, **quiet}, capture_output=True, text=True, timeout=600)
    if not done.stdout.startswith("["):
        pytest.skip(f"this gcloud does not lint: {done.stderr.strip()[-200:]}")
    answers = json.loads(done.stdout)
    assert len(answers) == len(commands)
    return {each["command_string"]: each["error_message"] for each in answers if not each["success"]}


@pytest.mark.parametrize("target", ["run", "functions"])
@pytest.mark.parametrize("callers", ["scheduler", "supabase"])
def test_gcloud_understands_every_command(callers: str, target: str, tmp_path: Path) -> None:
    plan = planned("extract", "billing", callers=callers, target=target, **EVERYTHING)
    commands = [each for step in plan.steps for each in (step.command, step.unless) if each]
    commands += [list_command(plan), delete_command(plan, "tickwork-old")]
    for tick in plan.ticks:
        commands += [describe_command(plan, tick), *(write_command(plan, tick, verb) for verb in ("create", "update"))]
    # It reads a command as a plain string, and takes a parenthesis for the end of it.
    plain = [[word for word in each if "(" not in word and " " not in word] for each in commands]
    texts = sorted({re.sub(r"\$\w+_URL", "https://x.example", " ".join(each)) for each in plain})

    assert len(texts) >= 12
    # The schedule, which has spaces, is the one thing that is missing then.
    found = complaints(texts, tmp_path).items()
    assert {text: words for text, words in found if "--schedule" not in words} == {}


def test_the_check_can_fail(tmp_path: Path) -> None:
    command = "gcloud run deploy tickwork-extract --nonsense=3"

    assert "--nonsense" in complaints([command], tmp_path)[command]


# What takes a real build is done by this, everything else by gcloud.
WITHOUT_BUILDS = """#!/bin/sh
case "$1 $2 $3" in
  "run services describe") echo https://tickwork-webhook-abc123-ew.a.run.app ;;
  "run "*) ;;
  *) exec {gcloud} "$@" ;;
esac
"""


def test_gcloud_does_what_is_meant_and_only_what_is_new(tmp_path: Path) -> None:
    program = tmp_path / "bin" / "gcloud"
    program.parent.mkdir()
    program.write_text(WITHOUT_BUILDS.format(gcloud=shutil.which("gcloud")))
    program.chmod(0o755)
    first = ENVIRONMENT["TICKWORK_DATABASE_URL"]
    plan = planned("webhook")

    with running_google_cloud() as cloud:
        path = {"PATH": f"{program.parent}{os.pathsep}{os.environ['PATH']}", "CLOUDSDK_CONFIG": str(tmp_path)}
        settings = {**os.environ, **ENVIRONMENT, **path, **cloud.environment()}
        Gcloud(settings).run(plan, print)
        said: list[str] = []
        Gcloud(settings).run(plan, said.append)
        versions_before = list(cloud.secrets["tickwork-database-url"])
        Gcloud({**settings, "TICKWORK_DATABASE_URL": "postgresql://ä@b/c"}).run(plan, print)

    assert {"run.googleapis.com", "cloudscheduler.googleapis.com"} <= cloud.services
    assert cloud.accounts == {ACCOUNT.format("scheduler"), ACCOUNT.format("webhook")}
    (binding,) = cloud.policies["tickwork-database-url"]["bindings"]
    assert binding["members"] == [f"serviceAccount:{ACCOUNT.format('webhook')}"]
    assert versions_before == [first]
    assert cloud.secrets == {"tickwork-database-url": [first, "postgresql://ä@b/c"]}
    assert "✓ keep TICKWORK_DATABASE_URL in Secret Manager: nothing to do" in said
    assert cloud.jobs == {}


def test_the_printed_commands_write_the_jobs_of_cloud_scheduler_as_its_client_does(tmp_path: Path) -> None:
    plan = planned("webhook")
    (tick,) = plan.ticks
    url = "https://tickwork-webhook-abc123-ew.a.run.app"

    with running_google_cloud() as cloud:
        settings = {**os.environ, "CLOUDSDK_CONFIG": str(tmp_path), **cloud.environment(), "WEBHOOK_URL": url}

        def run(command: str) -> None:
            subprocess.run(["sh", "-e", "-c", command], env=settings, check=True, stdin=subprocess.DEVNULL)

        run(keep_as_shell(plan, tick))
        created = parsed(cloud.jobs["tickwork-webhook"])
        cloud.jobs["tickwork-webhook"] |= {"schedule": "0 0 * * *", "attemptDeadline": "180s"}
        cloud.jobs["tickwork-webhook"]["retryConfig"]["retryCount"] = 5
        cloud.jobs["tickwork-webhook"]["httpTarget"]["headers"] = {"X-Of": "the operator"}
        run(keep_as_shell(plan, tick))
        updated = parsed(cloud.jobs["tickwork-webhook"])
        for name in ("tickwork-old", "backup"):
            cloud.jobs[name] = {"name": f"{plan.place()}/jobs/{name}"}
        run(prune_as_shell(plan))

    meant = job_of(plan.place(), tick, url)
    # gcloud spells out what Cloud Scheduler would fill in.
    defaults = {"minBackoffDuration": "5s", "maxBackoffDuration": "3600s", "maxDoublings": 5}
    meant.retry_config = parsed({"retryConfig": defaults}).retry_config
    assert created == meant
    meant.http_target.headers["X-Of"] = "the operator"
    assert updated == meant
    assert cloud.jobs.keys() == {"tickwork-webhook", "backup"}


def parsed(job: dict[str, Any]) -> scheduler_v1.Job:
    return scheduler_v1.Job(json_format.ParseDict(job, scheduler_v1.Job.pb(scheduler_v1.Job())))


def test_who_is_not_signed_in_is_told_so_by_the_real_one(tmp_path: Path) -> None:
    with running_google_cloud() as cloud:
        settings = {**os.environ, **ENVIRONMENT, "CLOUDSDK_CONFIG": str(tmp_path), **cloud.environment()}
        settings["CLOUDSDK_AUTH_DISABLE_CREDENTIALS"] = "false"

        with pytest.raises(DeployFailed, match="gcloud is not signed in"):
            Gcloud(settings).run(planned("webhook"), print)
