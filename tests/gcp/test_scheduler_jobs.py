"""A job of Cloud Scheduler as its client writes it, and as the printed commands do: field by field the same."""

from operator import attrgetter
from typing import Any

import pytest
from google.cloud import scheduler_v1

from tests.gcp.test_plan import option, planned
from tickwork.waking.cloud_scheduler import FIELDS, job_of
from tickwork_gcp.scheduler_jobs import describe_command, write_command

# As gcloud itself says which field each of its flags updates.
FLAGS = {
    "description": "description",
    "schedule": "schedule",
    "time-zone": "time_zone",
    "uri": "http_target.uri",
    "http-method": "http_target.http_method",
    "oidc-service-account-email": "http_target.oidc_token.service_account_email",
    "oidc-token-audience": "http_target.oidc_token.audience",
    "attempt-deadline": "attempt_deadline",
    "max-retry-attempts": "retry_config.retry_count",
}


def as_flag(value: Any) -> str:
    match value:
        case scheduler_v1.HttpMethod():
            return str(value.name).lower()
        case str() | int():
            return str(value)
        case deadline:
            return f"{deadline.total_seconds():g}s"


@pytest.mark.parametrize("target", ["run", "functions"])
@pytest.mark.parametrize("verb", ["create", "update"])
def test_the_flags_say_what_the_client_sends(verb: str, target: str) -> None:
    plan = planned("extract", "import", target=target)

    for tick in plan.ticks:
        job = job_of(plan.place(), tick, f"${plan.url_name(tick.family)}")
        command = write_command(plan, tick, verb)
        given = {word[2:].partition("=")[0] for word in command if word.startswith("--")}
        assert given == {*FLAGS, "project", "location", "format"}
        for flag, field in FLAGS.items():
            assert option(command, flag) == as_flag(attrgetter(field)(job)), flag
        where = f"projects/{option(command, 'project')}/locations/{option(command, 'location')}"
        assert command[:6] == ["gcloud", "scheduler", "jobs", verb, "http", job.name.removeprefix(f"{where}/jobs/")]
        assert describe_command(plan, tick)[4:7] == command[5:8]


def test_the_client_sends_these_fields_and_no_others() -> None:
    (tick,) = planned("extract").ticks
    left = scheduler_v1.Job(job_of("projects/p/locations/l", tick, "https://x.example"))

    for field in FIELDS:
        *outer, last = field.split(".")
        delattr(attrgetter(".".join(outer))(left) if outer else left, last)

    assert sorted(FLAGS.values()) == sorted(FIELDS)
    assert left == scheduler_v1.Job(name=left.name, http_target={"oidc_token": {}}, retry_config={})
