"""A plan, carried out by a gcloud that notes its calls: in order, only what is missing, and with errors one can use."""

import json
import os
import re
import shlex
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from google.cloud import scheduler_v1

from tests.gcp.test_plan import ENVIRONMENT, PASSWORD, planned
from tests.servers.scheduler import running_scheduler
from tests.world.command_line import run
from tickwork.errors import BadSetting, DeployFailed
from tickwork_gcp.gcloud import Gcloud
from tickwork_gcp.plan import Plan
from tickwork_gcp.scheduler_jobs import keep_as_shell

PLACE = "projects/my-project/locations/europe-west1/jobs"

# Stands in for gcloud: notes what it is called with, and knows the secrets and other things that it was told of.
GCLOUD = """#!{python}
import json, os, sys
folder = os.environ["GCLOUD_FOLDER"]
given = "" if sys.stdin.isatty() else sys.stdin.read()
with open(f"{{folder}}/calls", "a") as file:
    file.write(json.dumps([sys.argv[1:], given]) + "\\n")
words = " ".join(sys.argv[1:])
broken, error = os.environ.get("GCLOUD_BREAKS_AT"), os.environ.get("GCLOUD_ERROR")
if broken and broken in words:
    sys.exit(error or "Building...\\nERROR: (gcloud) PERMISSION_DENIED: the caller may not\\n- a list of details")
file = f"{{folder}}/secrets"
secrets = json.load(open(file)) if os.path.exists(file) else {{}}
if "versions add" in words:
    secrets[sys.argv[4]] = given
    json.dump(secrets, open(file, "w"))
elif "versions access" in words or "versions describe" in words:
    name = sys.argv[5].removeprefix("--secret=")
    if name not in secrets:
        sys.exit("ERROR: (gcloud) NOT_FOUND: no version")
    if "access" in words:
        sys.stdout.write(secrets[name])
elif "services describe" in words or "functions describe" in words:
    print(f"https://{{words.partition('describe ')[2].split()[0]}}-abc123-ew.a.run.app")
elif "jobs list" in words:
    print(os.environ.get("GCLOUD_JOBS", ""))
elif " describe " in words:
    known = os.environ.get("GCLOUD_KNOWS", "").split()
    sys.exit(0 if any(name in words for name in known) else "ERROR: NOT_FOUND")
"""


@pytest.fixture
def gcloud(tmp_path: Path) -> dict[str, str]:
    """An environment in which gcloud is a program that notes its calls."""
    program = tmp_path / "bin" / "gcloud"
    program.parent.mkdir()
    program.write_text(GCLOUD.format(python=sys.executable))
    program.chmod(program.stat().st_mode | stat.S_IEXEC)
    return {"PATH": f"{program.parent}{os.pathsep}/usr/bin:/bin", "GCLOUD_FOLDER": str(tmp_path), **ENVIRONMENT}


def calls(folder: Path) -> list[tuple[list[str], str]]:
    file = folder / "calls"
    return [tuple(json.loads(line)) for line in file.read_text().splitlines()] if file.exists() else []


def carried_out(plan: Plan, environment: dict[str, str], folder: Path) -> list[tuple[list[str], str]]:
    """What gcloud was called with."""
    (folder / "calls").unlink(missing_ok=True)
    Gcloud(environment).run(plan, lambda line: None)
    return calls(folder)


def test_gcloud_runs_what_is_missing_in_order_and_is_told_secrets_by_stdin(
    gcloud: dict[str, str], tmp_path: Path
) -> None:
    plan = planned("extract")
    said: list[str] = []

    urls = Gcloud({**gcloud, "GCLOUD_KNOWS": "tickwork-scheduler@"}).run(plan, said.append)

    made = calls(tmp_path)
    assert urls == {"extract": "https://tickwork-extract-abc123-ew.a.run.app"}
    ran = [["gcloud", *arguments] for arguments, _ in made]
    expected = [step.command for step in plan.steps if "tickwork-scheduler, which" not in step.what]
    assert [each for each in ran if each in expected] == expected
    assert not [each for each in ran if "create" in each and "tickwork-scheduler" in each]
    assert [given for arguments, given in made if given] == [ENVIRONMENT["TICKWORK_DATABASE_URL"]]
    assert not [arguments for arguments, _ in made if PASSWORD in " ".join(arguments)]
    assert PASSWORD not in "\n".join(said)


def test_a_secret_gets_a_version_when_its_value_changed_and_only_then(gcloud: dict[str, str], tmp_path: Path) -> None:
    plan = planned("extract")

    def versions(**environment: str) -> list[str]:
        ran = carried_out(plan, {**gcloud, **environment}, tmp_path)
        added = [given for arguments, given in ran if arguments[:3] == ["secrets", "versions", "add"]]
        # The function that is deployed after it reads the new version.
        kinds = [arguments[:2] for arguments, _ in ran]
        assert kinds.index(["run", "deploy"]) > max(index for index, kind in enumerate(kinds) if kind[0] == "secrets")
        return added

    assert versions() == [ENVIRONMENT["TICKWORK_DATABASE_URL"]]
    assert versions() == []
    assert versions(TICKWORK_DATABASE_URL="postgresql://changed@db/x") == ["postgresql://changed@db/x"]
    assert versions(TICKWORK_DATABASE_URL="postgresql://changed@db/x") == []


def test_the_printed_commands_do_the_same_in_a_shell(gcloud: dict[str, str], tmp_path: Path) -> None:
    plan = planned("extract", "webhook")
    script = "".join(f"{step.as_shell()}\n" for step in plan.steps)
    once = carried_out(plan, gcloud, tmp_path)
    changed = {**gcloud, "TICKWORK_DATABASE_URL": 'it\'s $HOME "and" `more`'}

    for environment in (gcloud, changed):
        by_us = carried_out(plan, environment, tmp_path)
        (tmp_path / "secrets").write_text(json.dumps({"tickwork-database-url": gcloud["TICKWORK_DATABASE_URL"]}))
        (tmp_path / "calls").unlink()
        subprocess.run(["sh", "-e", "-c", script], env=environment, check=True, stdin=subprocess.DEVNULL)
        assert calls(tmp_path) == by_us
    assert len(once) == len(by_us)


def test_nothing_is_deployed_while_a_secret_is_missing(gcloud: dict[str, str], tmp_path: Path) -> None:
    with pytest.raises(DeployFailed, match=r"could not find STRIPE_KEY in Secret Manager.*NOT_FOUND") as failed:
        Gcloud(gcloud).run(planned("billing"), lambda line: None)

    assert failed.value.hint.startswith("Set STRIPE_KEY, or add it to Secret Manager as tickwork-stripe-key.")
    assert not [arguments for arguments, _ in calls(tmp_path) if "deploy" in arguments]

    (tmp_path / "secrets").write_text('{"tickwork-stripe-key": "k"}')
    assert Gcloud(gcloud).run(planned("billing"), lambda line: None).keys() == {"billing"}


def test_a_step_that_fails_ends_it_and_says_which_and_why(gcloud: dict[str, str], tmp_path: Path) -> None:
    with pytest.raises(DeployFailed) as failed:
        Gcloud({**gcloud, "GCLOUD_BREAKS_AT": "run deploy"}).run(planned("extract"), lambda line: None)

    first, second = str(failed.value).splitlines()
    assert first == "could not deploy tickwork-extract: ERROR: (gcloud) PERMISSION_DENIED: the caller may not"
    assert second.startswith("The command was: gcloud run deploy tickwork-extract --project=my-project")
    assert failed.value.hint.endswith("Running `tickwork deploy gcp` again continues here.")
    assert calls(tmp_path)[-1][0][:2] == ["run", "deploy"]


@pytest.mark.parametrize(
    "error",
    [
        "ERROR: (gcloud.services.enable) You do not currently have an active account selected.\nPlease run:\n\n  $ …",
        "ERROR: (gcloud.services.enable) There was a problem refreshing your current auth tokens: invalid_grant",
        "ERROR: (gcloud.services.enable) Reauthentication failed. cannot prompt during non-interactive execution.",
    ],
)
def test_who_is_not_signed_in_is_told_so(error: str, gcloud: dict[str, str]) -> None:
    broken = {**gcloud, "GCLOUD_BREAKS_AT": "services enable", "GCLOUD_ERROR": error}

    with pytest.raises(DeployFailed, match="gcloud is not signed in: ERROR") as failed:
        Gcloud(broken).run(planned("extract"), lambda line: None)

    assert failed.value.hint.startswith("Run `gcloud auth login`.")


def test_without_gcloud_one_line_says_so(tmp_path: Path) -> None:
    with pytest.raises(BadSetting, match="gcloud is not installed"):
        Gcloud({"PATH": str(tmp_path)})


def deploy(*arguments: str, tmp_path: Path, **settings: Any) -> "subprocess.CompletedProcess[str]":
    command = ["deploy", "gcp", "--project", "my-project", "--region", "europe-west1"]
    return run(*command, "--output", str(tmp_path / "dist"), *arguments, home=tmp_path, **settings)


def test_the_command_plans_prints_and_does_it(gcloud: dict[str, str], tmp_path: Path) -> None:
    with running_scheduler() as (scheduler, address):
        for name in ("backup", "tickwork-old"):
            scheduler.jobs[f"{PLACE}/{name}"] = scheduler_v1.Job(name=f"{PLACE}/{name}")
        settings = {**gcloud, "TICKWORK_SCHEDULER_EMULATOR": address}
        planned = deploy("webhook", tmp_path=tmp_path, **settings)
        printed = deploy("webhook", "--dry-run", "--prune", tmp_path=tmp_path, **settings)
        listed = deploy("webhook", "--json", tmp_path=tmp_path, **settings)
        assert calls(tmp_path) == []
        assert scheduler.calls == []
        done = deploy("webhook", "--yes", tmp_path=tmp_path, **settings)
        ran = calls(tmp_path)
        pruned = deploy("webhook", "--yes", "--prune", tmp_path=tmp_path, **settings)

    assert (planned.returncode, printed.returncode, pruned.returncode) == (0, 0, 0), pruned.stderr
    assert "Nothing was changed" in planned.stdout
    assert (tmp_path / "dist" / "webhook" / "main.py").exists()
    assert "✓ Cloud Scheduler: tickwork-webhook created\nCloud Scheduler also has tickwork-old; --prune" in done.stdout
    assert "tickwork-webhook unchanged\n✓ Cloud Scheduler: tickwork-old deleted\n" in pruned.stdout
    assert scheduler.jobs.keys() == {f"{PLACE}/backup", f"{PLACE}/tickwork-webhook"}
    build, *commands = printed.stdout.splitlines()
    assert shlex.split(build)[:3] == ["tickwork", "build", "webhook"]
    assert [step["command"] for step in json.loads(listed.stdout)["steps"]] == commands[:-1]
    assert [step["what"] for step in json.loads(listed.stdout)["steps"]] == re.findall("(?m)^- (.*)", planned.stdout)
    by_hand = in_a_shell(commands, {**gcloud, "GCLOUD_JOBS": "backup\ntickwork-webhook\ntickwork-old"}, tmp_path)
    # Those of Cloud Scheduler do what its client has done.
    assert by_hand[:-4] == ran
    describe, create, names, delete = [words for words, _ in by_hand[-4:]]
    assert describe[:4] == ["scheduler", "jobs", "describe", "tickwork-webhook"]
    assert create[:5] == ["scheduler", "jobs", "create", "http", "tickwork-webhook"]
    assert f"--uri={scheduler.jobs[f'{PLACE}/tickwork-webhook'].http_target.uri}" in create
    assert (names[2], delete[2:4]) == ("list", ["delete", "tickwork-old"])
    assert PASSWORD not in planned.stdout + printed.stdout + listed.stdout + done.stdout


def in_a_shell(commands: list[str], environment: dict[str, str], folder: Path) -> list[tuple[list[str], str]]:
    """What gcloud is called with by what was printed, where nothing is there yet."""
    for file in ("calls", "secrets"):
        (folder / file).unlink(missing_ok=True)
    script = "\n".join(commands)
    subprocess.run(["sh", "-e", "-c", script], env=environment, check=True, stdin=subprocess.DEVNULL)
    return calls(folder)


def test_the_printed_command_updates_a_job_of_cloud_scheduler_that_is_there(
    gcloud: dict[str, str], tmp_path: Path
) -> None:
    plan = planned("webhook")
    command = [keep_as_shell(plan, tick) for tick in plan.ticks]
    known = {**gcloud, "GCLOUD_KNOWS": "tickwork-webhook", "WEBHOOK_URL": "https://x.example/?a=b c"}

    verbs = [[words[2] for words, _ in in_a_shell(command, each, tmp_path)] for each in (gcloud, known)]

    assert verbs == [["describe", "create"], ["describe", "update"]]
    assert "--uri=https://x.example/?a=b c" in calls(tmp_path)[-1][0]


def test_who_cannot_write_the_jobs_of_cloud_scheduler_learns_it_before_anything_is_changed(
    gcloud: dict[str, str], tmp_path: Path
) -> None:
    (tmp_path / "without" / "grpc").mkdir(parents=True)
    (tmp_path / "without" / "grpc" / "__init__.py").write_text("raise ModuleNotFoundError")
    nobody = {**gcloud, "CLOUDSDK_CONFIG": str(tmp_path), "NO_GCE_CHECK": "true", "GOOGLE_APPLICATION_CREDENTIALS": ""}

    signed_out = deploy("webhook", "--yes", tmp_path=tmp_path, **nobody)
    without = deploy("webhook", "--yes", tmp_path=tmp_path, **gcloud, PYTHONPATH=str(tmp_path / "without"))

    assert signed_out.returncode == without.returncode == 1
    assert signed_out.stderr.startswith("tickwork: Cloud Scheduler: Your default credentials were not found.")
    assert "Run `gcloud auth application-default login`." in signed_out.stderr
    assert without.stderr == "tickwork: Cloud Scheduler needs google-cloud-scheduler: install tickwork[gcp]\n"
    assert calls(tmp_path) == []


def test_an_error_of_gcloud_is_not_one_of_the_database(gcloud: dict[str, str], tmp_path: Path) -> None:
    broken = {**gcloud, "GCLOUD_BREAKS_AT": "services enable", "TICKWORK_SCHEDULER_EMULATOR": "127.0.0.1:1"}
    failed = deploy("webhook", "--yes", tmp_path=tmp_path, **broken)
    missing = deploy("webhook", "--yes", tmp_path=tmp_path, **{**gcloud, "PATH": "/nowhere"})

    assert failed.returncode == missing.returncode == 1
    assert failed.stderr.startswith("tickwork: could not enable the services: ERROR: (gcloud) PERMISSION_DENIED")
    assert "The command was: gcloud services enable run.googleapis.com" in failed.stderr
    assert missing.stderr.startswith("tickwork: gcloud is not installed.")
    assert "database" not in failed.stderr + missing.stderr


def test_choices_that_do_not_exist_are_refused(tmp_path: Path) -> None:
    wrong = [
        deploy(*each, tmp_path=tmp_path, **ENVIRONMENT) for each in (["--callers", "cron"], ["--target", "lambda"])
    ]

    assert ["'cron' is neither scheduler nor supabase" in wrong[0].stderr, "--target" in wrong[1].stderr] == [
        True,
        True,
    ]
