"""The jobs of Cloud Scheduler, created, updated and deleted with its own client.

`place` looks like projects/our-project/locations/europe-west1.
"""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from operator import attrgetter
from typing import Any

import grpc
from google.api_core.exceptions import AlreadyExists, GoogleAPICallError, NotFound, RetryError
from google.auth.exceptions import GoogleAuthError
from google.cloud import scheduler_v1
from google.cloud.scheduler_v1 import CloudSchedulerClient
from google.cloud.scheduler_v1.services.cloud_scheduler.transports import CloudSchedulerGrpcTransport
from google.protobuf import duration_pb2, field_mask_pb2

from tickwork.errors import DeployFailed
from tickwork.waking.ticks import Tick

# The fields that we set. The others, such as headers, belong to the server or the operator.
FIELDS = [
    *("description", "schedule", "time_zone", "attempt_deadline", "retry_config.retry_count"),
    *("http_target.uri", "http_target.http_method"),
    *("http_target.oidc_token.service_account_email", "http_target.oidc_token.audience"),
]
SECONDS = 60.0


@contextmanager
def clear_errors() -> Iterator[None]:
    try:
        yield
    except (GoogleAPICallError, RetryError, GoogleAuthError) as error:
        text = f"Cloud Scheduler: {getattr(error, 'message', None) or error}"
        if isinstance(error, GoogleAuthError):
            raise DeployFailed(text, "Run `gcloud auth application-default login`.") from error
        raise DeployFailed(text) from error


@clear_errors()
def client_for(emulator: str | None = None) -> CloudSchedulerClient:
    """The client, with gcloud's application default credentials; for a local server, without any."""
    if emulator is None:
        return CloudSchedulerClient()
    return CloudSchedulerClient(transport=CloudSchedulerGrpcTransport(channel=grpc.insecure_channel(emulator)))


@clear_errors()
def keep_ticks(
    client: CloudSchedulerClient, place: str, ticks: Iterable[Tick], urls: Mapping[str, str]
) -> list[tuple[str, str]]:
    """Create or update the job of each family; returns what was done for each. Repeating it changes nothing."""
    return [(tick.name, keep(client, place, job_of(place, tick, urls[tick.family]))) for tick in ticks]


@clear_errors()
def remove_ticks(client: CloudSchedulerClient, place: str, names: Iterable[str]) -> list[str]:
    """Delete the existing jobs with these names."""
    removed = []
    for name in names:
        try:
            client.delete_job(name=f"{place}/jobs/{name}", timeout=SECONDS)
            removed.append(name)
        except NotFound:
            continue
    return removed


@clear_errors()
def ours(client: CloudSchedulerClient, place: str) -> list[str]:
    """The names of our existing jobs, of deployed families and of others."""
    jobs: Iterator[Any] = iter(client.list_jobs(parent=place, timeout=SECONDS))
    names = [str(job.name).rpartition("/")[2] for job in jobs]
    return sorted(name for name in names if name.startswith("tickwork-"))


def job_of(place: str, tick: Tick, url: str) -> scheduler_v1.Job:
    return scheduler_v1.Job(
        name=f"{place}/jobs/{tick.name}",
        description=tick.description,
        schedule=tick.schedule,
        time_zone=tick.time_zone,
        http_target=scheduler_v1.HttpTarget(
            uri=url,
            http_method=scheduler_v1.HttpMethod.POST,
            # By default the audience would be the whole URL, including the path.
            oidc_token=scheduler_v1.OidcToken(service_account_email=tick.service_account, audience=tick.audience),
        ),
        attempt_deadline=duration_pb2.Duration(seconds=tick.attempt_seconds),
        retry_config=scheduler_v1.RetryConfig(retry_count=tick.retries),
    )


def keep(client: CloudSchedulerClient, place: str, job: scheduler_v1.Job) -> str:
    try:
        found = client.get_job(name=job.name, timeout=SECONDS)
    except NotFound:
        try:
            client.create_job(parent=place, job=job, timeout=SECONDS)
            return "created"
        except AlreadyExists:
            # Somebody else was faster, with the same plan or a different one.
            found = client.get_job(name=job.name, timeout=SECONDS)
    values = attrgetter(*FIELDS)
    if values(found) == values(job):
        return "unchanged"
    client.update_job(job=job, update_mask=field_mask_pb2.FieldMask(paths=FIELDS), timeout=SECONDS)
    return "updated"
