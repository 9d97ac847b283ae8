"""To Google Cloud: a plan, its commands, and the jobs of Cloud Scheduler over real gRPC."""

import json
import os
import shlex
import stat
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from google.cloud import scheduler_v1

from tests.servers.scheduler import CloudScheduler, running_scheduler
from tests.world.command_line import run
from tickwork.errors import BadSetting, Error, InvalidRequest, Unavailable
from tickwork.waking import cloud_scheduler
from tickwork_gcp import plan as plans
from tickwork_gcp.gcloud import Gcloud
from tickwork_gcp.plan import Plan, make_plan

FAMILIES = Path(plans.__file__).with_name("families.toml")
PASSWORD = "canary-7f3a"
ENVIRONMENT = {"TICKWORK_DATABASE_URL": f"postgresql://tickwork_worker:{PASSWORD}@db.example:6543/postgres"}
PLACE = "projects/my-project/locations/europe-west1"

# Stands in for gcloud: notes what it is called with, answers as if nothing but what is listed existed.
GCLOUD = """#!{python}
import json, os, sys
folder = os.environ["GCLOUD_FOLDER"]
given = sys.stdin.read()
with open(f"{{folder}}/calls", "a") as file:
    file.write(json.dumps([sys.argv[1:], given]) + "\\n")
words = " ".join(sys.argv[1:])
broken = os.environ.get("GCLOUD_BREAKS_AT")
if broken and broken in words:
    sys.exit("ERROR: (gcloud) PERMISSION_DENIED: the caller does not have permission")
if "services describe" in words:
    print(f"https://{{sys.argv[4]}}-abc123-ew.a.run.app")
elif " describe " in words:
    known = os.environ.get("GCLOUD_KNOWS", "").split()
    sys.exit(0 if any(name in words for name in known) else "ERROR: NOT_FOUND")
"""


def planned(*families: str, callers: Any = "scheduler", **environment: str) -> Plan:
    chosen = list(families) or ["extract", "webhook"]
    given = {**ENVIRONMENT, **environment}
    return make_plan(chosen, "my-project", "europe-west1", callers, Path("dist"), given, FAMILIES)


def command(plan: Plan, words: str) -> list[str]:
    (found,) = [step.command for step in plan.steps if words in step.what]
    return found


def option(command: list[str], name: str) -> str:
    (found,) = [word.partition("=")[2] for word in command if word.startswith(f"--{name}=")]
    return found


def pairs(text: str) -> dict[str, str]:
    return dict(pair.split("=", 1) for pair in text.split(","))


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


def test_each_function_has_an_account_that_reads_its_own_secrets_only() -> None:
    plan = planned("extract", "webhook", TICKWORK_UNSTRUCTURED_API_KEY="k", TICKWORK_VAULT_KEY="v")

    grants = {
        (option(step.command, "member"), step.command[3])
        for step in plan.steps
        if "add-iam-policy-binding" in step.command and step.command[1] == "secrets"
    }

    account = "serviceAccount:tickwork-{}@my-project.iam.gserviceaccount.com"
    assert grants == {
        (account.format("extract"), "tickwork-database-url"),
        (account.format("extract"), "tickwork-unstructured-api-key"),
        (account.format("extract"), "tickwork-vault-key"),
        (account.format("webhook"), "tickwork-database-url"),
    }
    roles = {option(step.command, "role") for step in plan.steps if "add-iam-policy-binding" in step.command}
    assert roles == {"roles/secretmanager.secretAccessor", "roles/run.invoker"}
    for family in ("extract", "webhook"):
        deploy = command(plan, f"deploy tickwork-{family}")
        assert option(deploy, "service-account") == account.format(family).partition(":")[2]


def test_the_keys_of_a_vault_at_s3_go_to_those_who_read_and_write_files() -> None:
    keys = {"AWS_ACCESS_KEY_ID": "a", "AWS_SECRET_ACCESS_KEY": "b", "TICKWORK_SECRET_KEY": "c"}
    families = ["extract", "import", "classify", "webhook"]

    at_s3 = planned(*families, TICKWORK_VAULT_URL="s3://bucket", **keys)
    elsewhere = planned(*families, TICKWORK_VAULT_URL="supabase:https://x", **keys)

    def given(plan: Plan) -> dict[str, set[str]]:
        deploys = {family: command(plan, f"deploy tickwork-{family}") for family in families}
        return {
            family: pairs(option(each, "set-secrets")).keys() - ENVIRONMENT.keys() for family, each in deploys.items()
        }

    assert given(at_s3) == {
        "extract": {"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"},
        "import": keys.keys(),
        "classify": set(),
        "webhook": {"TICKWORK_SECRET_KEY"},
    }
    assert given(elsewhere) == {
        "extract": set(),
        "import": {"TICKWORK_SECRET_KEY"},
        "classify": set(),
        "webhook": {"TICKWORK_SECRET_KEY"},
    }


def test_a_function_is_deployed_in_its_own_shape_and_closed() -> None:
    deploy = command(planned(), "deploy tickwork-extract")

    shape = {name: option(deploy, name) for name in ("memory", "concurrency", "timeout", "min-instances", "source")}
    assert shape == {
        "memory": "2Gi",
        "concurrency": "1",
        "timeout": "660",
        "min-instances": "0",
        "source": "dist/extract",
    }
    assert option(deploy, "function") == "main"
    assert "--no-allow-unauthenticated" in deploy
    variables = pairs(option(deploy, "set-env-vars"))
    assert variables["TICKWORK_OIDC_AUDIENCE"] == option(deploy, "set-custom-audiences")
    assert variables["TICKWORK_OIDC_EMAIL"] == "tickwork-scheduler@my-project.iam.gserviceaccount.com"
    assert variables["TICKWORK_LOOK_AGAIN_SECONDS"] == "30"


def test_where_pg_net_calls_the_function_checks_the_signature() -> None:
    plan = planned("extract", callers="supabase", TICKWORK_HMAC_SECRET="s" * 32)
    deploy = command(plan, "deploy")

    assert "--allow-unauthenticated" in deploy
    assert "TICKWORK_HMAC_SECRET=tickwork-hmac-secret:latest" in option(deploy, "set-secrets")
    assert "TICKWORK_OIDC" not in option(deploy, "set-env-vars")
    assert plan.ticks == []
    with pytest.raises(BadSetting, match="TICKWORK_HMAC_SECRET is not set"):
        planned("extract", callers="supabase")


def test_no_secret_is_in_any_command() -> None:
    names = ("HMAC_SECRET", "SECRET_KEY", "VAULT_KEY", "UNSTRUCTURED_API_KEY", "BEARER_SECRET", "X_CLIENT_SECRET")
    values = {f"TICKWORK_{name}": f"{PASSWORD}-{name}" for name in names}
    plan = planned("extract", **values)

    text = "\n".join(step.as_shell() for step in plan.steps)

    assert PASSWORD not in text
    assert all(f'printf %s "${name}" | gcloud secrets create' in text for name in values)


def test_what_the_operator_has_set_reaches_the_function_and_nothing_else_does() -> None:
    given = {
        "TICKWORK_VAULT_URL": "s3://bucket?region=eu,x",
        "TICKWORK_BUDGET_SECONDS": "40",
        "TICKWORK_HOME": "/here",
        "TICKWORK_OPEN_ON_LOOPBACK": "true",
        "HOME": "/home/somebody",
    }
    text = option(command(planned("extract", **given), "deploy"), "set-env-vars")

    assert text.startswith("^~^")
    variables = dict(pair.split("=", 1) for pair in text.removeprefix("^~^").split("~"))
    assert variables["TICKWORK_VAULT_URL"] == "s3://bucket?region=eu,x"
    assert variables["TICKWORK_BUDGET_SECONDS"] == "40"
    assert not {"TICKWORK_HOME", "TICKWORK_OPEN_ON_LOOPBACK", "HOME"} & variables.keys()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"project": "My_Project"}, "is not a project id"),
        ({"project": "p; rm -rf /"}, "is not a project id"),
        ({"region": "Frankfurt"}, "is not a region"),
        ({"environment": {}}, "TICKWORK_DATABASE_URL is not set"),
        ({"environment": {**ENVIRONMENT, "TICKWORK_VAULT_URL": "file:/tmp"}}, "a folder is lost"),
        ({"shapes": Path("/nowhere.toml")}, "nowhere.toml"),
        ({"families": ["a_family_with_a_name_too_long"]}, "longer than 30"),
    ],
)
def test_a_plan_that_cannot_work_is_refused(change: dict[str, Any], words: str) -> None:
    good: dict[str, Any] = {
        "families": ["extract"],
        "project": "my-project",
        "region": "europe-west1",
        "callers": "scheduler",
        "bundles": Path("dist"),
        "environment": ENVIRONMENT,
        "shapes": FAMILIES,
    }

    with pytest.raises(Error, match=words):
        make_plan(**{**good, **change})


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


def test_nothing_is_made_while_a_secret_is_missing(gcloud: dict[str, str], tmp_path: Path) -> None:
    without = {name: value for name, value in gcloud.items() if name != "TICKWORK_DATABASE_URL"}

    with pytest.raises(BadSetting, match="TICKWORK_DATABASE_URL is neither set nor in Secret Manager"):
        Gcloud(without).run(planned("extract"), print)

    assert [" ".join(arguments[:2]) for arguments, _ in calls(tmp_path)] == ["secrets describe"]


def test_a_step_that_fails_ends_it_and_says_why(gcloud: dict[str, str], tmp_path: Path) -> None:
    with pytest.raises(Unavailable, match=r"could not deploy tickwork-extract: .*PERMISSION_DENIED") as failed:
        Gcloud({**gcloud, "GCLOUD_BREAKS_AT": "run deploy"}).run(planned("extract"), lambda line: None)

    assert "run the command again" in str(failed.value.hint)
    assert calls(tmp_path)[-1][0][:2] == ["run", "deploy"]


def test_without_gcloud_one_line_says_so(tmp_path: Path) -> None:
    with pytest.raises(BadSetting, match="gcloud is not installed"):
        Gcloud({"PATH": str(tmp_path)})


@pytest.fixture
def cloud() -> Iterator[tuple[CloudScheduler, str]]:
    with running_scheduler() as running:
        yield running


URLS = {"extract": "https://tickwork-extract.a.run.app", "webhook": "https://tickwork-webhook.a.run.app"}


def test_jobs_of_the_scheduler_are_created_once_and_then_left_alone(cloud: tuple[CloudScheduler, str]) -> None:
    server, address = cloud
    plan = planned()

    first = cloud_scheduler.keep_ticks(plan.place(), plan.ticks, URLS, address)
    second = cloud_scheduler.keep_ticks(plan.place(), plan.ticks, URLS, address)

    assert [what for _, what in first] == ["created", "created"]
    assert [what for _, what in second] == ["unchanged", "unchanged"]
    assert server.calls == ["create", "create"]
    job = server.jobs[f"{PLACE}/jobs/tickwork-extract"]
    assert (job.schedule, job.time_zone, job.http_target.uri) == ("* * * * *", "Etc/UTC", URLS["extract"])
    assert job.http_target.http_method == scheduler_v1.HttpMethod.POST
    assert job.http_target.oidc_token.audience == "https://tickwork-extract.my-project"
    assert job.http_target.oidc_token.service_account_email == "tickwork-scheduler@my-project.iam.gserviceaccount.com"
    assert job.attempt_deadline.total_seconds() == 660
    assert job.retry_config.retry_count == 0


def test_a_job_that_changed_is_updated_and_keeps_what_is_not_ours(cloud: tuple[CloudScheduler, str]) -> None:
    server, address = cloud
    plan = planned("extract")
    cloud_scheduler.keep_ticks(plan.place(), plan.ticks, URLS, address)
    name = f"{PLACE}/jobs/tickwork-extract"
    for change in ("schedule", "audience", "deadline", "retries"):
        job = server.jobs[name]
        match change:
            case "schedule":
                job.schedule = "0 0 * * *"
            case "audience":
                job.http_target.oidc_token.audience = "https://mallory.example"
            case "deadline":
                job.attempt_deadline = None
            case "retries":
                job.retry_config.retry_count = 5
        job.state = scheduler_v1.Job.State(2)

        assert cloud_scheduler.keep_ticks(plan.place(), plan.ticks, URLS, address) == [("tickwork-extract", "updated")]

        assert cloud_scheduler.keep_ticks(plan.place(), plan.ticks, URLS, address) == [
            ("tickwork-extract", "unchanged")
        ]
    moved = {"extract": "https://elsewhere.example"}
    assert cloud_scheduler.keep_ticks(plan.place(), plan.ticks, moved, address) == [("tickwork-extract", "updated")]
    assert server.jobs[name].http_target.uri == "https://elsewhere.example"


def test_a_job_that_somebody_else_creates_meanwhile_is_updated(cloud: tuple[CloudScheduler, str]) -> None:
    server, address = cloud
    plan = planned("extract")
    (tick,) = plan.ticks
    server.sneak_in = cloud_scheduler.job_of(PLACE, tick, "https://other.example")

    assert cloud_scheduler.keep_ticks(plan.place(), plan.ticks, URLS, address) == [("tickwork-extract", "updated")]

    assert server.jobs[f"{PLACE}/jobs/tickwork-extract"].http_target.uri == URLS["extract"]


def test_our_jobs_are_listed_over_several_pages_and_deleted_once(cloud: tuple[CloudScheduler, str]) -> None:
    server, address = cloud
    plan = planned("extract", "webhook", "classify", "import")
    cloud_scheduler.keep_ticks(plan.place(), plan.ticks, dict.fromkeys(plan.shapes, "https://x.example"), address)
    server.jobs[f"{PLACE}/jobs/backup"] = scheduler_v1.Job(name=f"{PLACE}/jobs/backup")

    names = cloud_scheduler.ours(plan.place(), address)
    removed = cloud_scheduler.remove_ticks(
        plan.place(), ["tickwork-import", "tickwork-import", "tickwork-gone"], address
    )

    assert names == ["tickwork-classify", "tickwork-extract", "tickwork-import", "tickwork-webhook"]
    assert removed == ["tickwork-import"]
    assert f"{PLACE}/jobs/backup" in server.jobs
    assert len(server.jobs) == 4


def test_what_the_scheduler_refuses_is_said_in_one_line(cloud: tuple[CloudScheduler, str]) -> None:
    _, address = cloud

    with pytest.raises(InvalidRequest, match=r"Cloud Scheduler: .*Invalid HTTP target URI"):
        cloud_scheduler.keep_ticks(PLACE, planned("extract").ticks, {"extract": "nowhere"}, address)


def test_the_command_plans_prints_and_does_it(
    gcloud: dict[str, str], cloud: tuple[CloudScheduler, str], tmp_path: Path
) -> None:
    server, address = cloud
    server.jobs[f"{PLACE}/jobs/tickwork-old"] = scheduler_v1.Job(name=f"{PLACE}/jobs/tickwork-old")
    settings = {**gcloud, "TICKWORK_SCHEDULER_EMULATOR": address}
    deploy = ["deploy", "gcp", "--project", "my-project", "--region", "europe-west1", "webhook"]
    deploy += ["--output", str(tmp_path / "dist")]

    planned = run(*deploy, home=tmp_path, **settings)
    printed = run(*deploy, "--dry-run", home=tmp_path, **settings)
    listed = run(*deploy, "--json", home=tmp_path, **settings)
    assert calls(tmp_path) == []
    assert server.calls == []
    done = run(*deploy, "--yes", "--prune", home=tmp_path, **settings)

    assert (planned.returncode, printed.returncode, done.returncode) == (0, 0, 0), done.stderr
    assert "Nothing was changed" in planned.stdout
    assert [tick["name"] for tick in json.loads(listed.stdout)["ticks"]] == ["tickwork-webhook"]
    assert (tmp_path / "dist" / "webhook" / "main.py").exists()
    lines = [line.split(" || ") for line in printed.stdout.splitlines() if line.startswith("gcloud")]
    shown = [shlex.split(each.rpartition(" | ")[2]) for line in lines for each in line]
    assert shown == [["gcloud", *arguments] for arguments, _ in calls(tmp_path)][:-1]
    assert "Cloud Scheduler: tickwork-webhook created" in done.stdout
    assert "Cloud Scheduler: tickwork-old deleted" in done.stdout
    assert list(server.jobs) == [f"{PLACE}/jobs/tickwork-webhook"]
    assert PASSWORD not in planned.stdout + printed.stdout + done.stdout
