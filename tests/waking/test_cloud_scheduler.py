"""The jobs of Cloud Scheduler, through its own client against a local server."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from google.cloud import scheduler_v1
from google.cloud.scheduler_v1 import CloudSchedulerClient

from tests.servers.scheduler import CloudScheduler, running_scheduler
from tickwork.errors import DeployFailed
from tickwork.waking.cloud_scheduler import client_for, job_of, keep_ticks, ours, remove_ticks
from tickwork.waking.ticks import Tick

PLACE = "projects/my-project/locations/europe-west1"
SCHEDULER = "tickwork-scheduler@my-project.iam.gserviceaccount.com"
URLS = {"extract": "https://tickwork-extract.a.run.app", "webhook": "https://tickwork-webhook.a.run.app"}


def tick(family: str) -> Tick:
    return Tick(family, f"tickwork-{family}", f"https://tickwork-{family}.my-project", SCHEDULER, 660)


EXTRACT = tick("extract")


@pytest.fixture
def cloud() -> Iterator[tuple[CloudScheduler, CloudSchedulerClient]]:
    with running_scheduler() as (server, address):
        yield server, client_for(address)


def test_jobs_are_created_once_and_then_left_alone(cloud: tuple[CloudScheduler, CloudSchedulerClient]) -> None:
    server, client = cloud
    ticks = [EXTRACT, tick("webhook")]

    first = keep_ticks(client, PLACE, ticks, URLS)
    second = keep_ticks(client, PLACE, ticks, URLS)

    assert [what for _, what in first] == ["created", "created"]
    assert [what for _, what in second] == ["unchanged", "unchanged"]
    assert server.calls == ["create", "create"]
    job = server.jobs[f"{PLACE}/jobs/tickwork-extract"]
    assert (job.schedule, job.time_zone, job.http_target.uri) == ("* * * * *", "Etc/UTC", URLS["extract"])
    assert job.http_target.http_method == scheduler_v1.HttpMethod.POST
    assert job.http_target.oidc_token.audience == "https://tickwork-extract.my-project"
    assert job.http_target.oidc_token.service_account_email == SCHEDULER
    assert job.attempt_deadline.total_seconds() == 660
    assert job.retry_config.retry_count == 0


@pytest.mark.parametrize(
    "change", ["description", "schedule", "zone", "method", "audience", "account", "deadline", "retries"]
)
def test_a_job_that_changed_is_updated_and_keeps_what_is_not_ours(
    change: str, cloud: tuple[CloudScheduler, CloudSchedulerClient]
) -> None:
    server, client = cloud
    keep_ticks(client, PLACE, [EXTRACT], URLS)
    job = server.jobs[f"{PLACE}/jobs/tickwork-extract"]
    before = scheduler_v1.Job(job)
    match change:
        case "description":
            job.description = ""
        case "schedule":
            job.schedule = "0 0 * * *"
        case "zone":
            job.time_zone = "Europe/Berlin"
        case "method":
            job.http_target.http_method = scheduler_v1.HttpMethod(2)
        case "audience":
            job.http_target.oidc_token.audience = "https://mallory.example"
        case "account":
            job.http_target.oidc_token.service_account_email = "mallory@example"
        case "deadline":
            job.attempt_deadline = None
        case "retries":
            job.retry_config.retry_count = 5
    for each in (before, job):
        each.http_target.headers["X-Of"] = "the operator"
        each.retry_config.max_doublings = 2

    assert keep_ticks(client, PLACE, [EXTRACT], URLS) == [("tickwork-extract", "updated")]

    assert server.jobs[before.name] == before
    assert keep_ticks(client, PLACE, [EXTRACT], URLS) == [("tickwork-extract", "unchanged")]


def test_a_function_that_moved_is_called_at_its_new_place(cloud: tuple[CloudScheduler, CloudSchedulerClient]) -> None:
    server, client = cloud
    keep_ticks(client, PLACE, [EXTRACT], URLS)

    moved = keep_ticks(client, PLACE, [EXTRACT], {"extract": "https://elsewhere.example"})

    assert moved == [("tickwork-extract", "updated")]
    assert server.jobs[f"{PLACE}/jobs/tickwork-extract"].http_target.uri == "https://elsewhere.example"


def test_a_job_that_somebody_else_creates_meanwhile_is_updated(
    cloud: tuple[CloudScheduler, CloudSchedulerClient],
) -> None:
    server, client = cloud
    server.sneak_in = job_of(PLACE, EXTRACT, "https://other.example")

    assert keep_ticks(client, PLACE, [EXTRACT], URLS) == [("tickwork-extract", "updated")]

    assert server.jobs[f"{PLACE}/jobs/tickwork-extract"].http_target.uri == URLS["extract"]


def test_our_jobs_are_listed_over_several_pages_and_deleted_once(
    cloud: tuple[CloudScheduler, CloudSchedulerClient],
) -> None:
    server, client = cloud
    families = ["extract", "webhook", "classify", "import"]
    keep_ticks(client, PLACE, map(tick, families), dict.fromkeys(families, "https://x.example"))
    server.jobs[f"{PLACE}/jobs/backup"] = scheduler_v1.Job(name=f"{PLACE}/jobs/backup")

    names = ours(client, PLACE)
    removed = remove_ticks(client, PLACE, ["tickwork-import", "tickwork-import", "tickwork-gone"])

    assert names == ["tickwork-classify", "tickwork-extract", "tickwork-import", "tickwork-webhook"]
    assert removed == ["tickwork-import"]
    assert f"{PLACE}/jobs/backup" in server.jobs
    assert len(server.jobs) == 4


def test_what_the_scheduler_refuses_is_said_in_one_line(cloud: tuple[CloudScheduler, CloudSchedulerClient]) -> None:
    _, client = cloud

    with pytest.raises(DeployFailed, match=r"^Cloud Scheduler: .*Invalid HTTP target URI") as failed:
        keep_ticks(client, PLACE, [EXTRACT], {"extract": "nowhere"})

    assert failed.value.hint == "Fix the cause. Running `tickwork deploy gcp` again continues here."


def test_who_has_no_application_default_credentials_is_told_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GOOGLE_APPLICATION_CREDENTIALS", raising=False)
    monkeypatch.setenv("CLOUDSDK_CONFIG", str(tmp_path))
    monkeypatch.setenv("NO_GCE_CHECK", "true")

    with pytest.raises(DeployFailed, match=r"^Cloud Scheduler: .*credentials were not found") as failed:
        client_for()

    assert failed.value.hint.startswith("Run `gcloud auth application-default login`.")
