"""The jobs of Cloud Scheduler, created and updated with its own client.

`place` looks like projects/our-project/locations/europe-west1.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import grpc
from google.api_core.exceptions import AlreadyExists, GoogleAPICallError, NotFound, RetryError
from google.auth.exceptions import GoogleAuthError
from google.cloud import scheduler_v1
from google.cloud.scheduler_v1.services.cloud_scheduler.transports import CloudSchedulerGrpcTransport
from google.protobuf import duration_pb2, field_mask_pb2

from tickwork.errors import InvalidRequest, Unavailable
from tickwork.waking.ticks import Tick

# The fields that we set. The others belong to the server or the operator.
FIELDS = ["description", "schedule", "time_zone", "http_target", "attempt_deadline", "retry_config"]
SECONDS = 60.0


def client_for(emulator: str | None = None) -> scheduler_v1.CloudSchedulerClient:
    """The client, with gcloud's application default credentials; for a local server, without any."""
    if emulator is None:
        return scheduler_v1.CloudSchedulerClient()
    return scheduler_v1.CloudSchedulerClient(
        transport=CloudSchedulerGrpcTransport(channel=grpc.insecure_channel(emulator))
    )


def keep_ticks(
    place: str, ticks: Iterable[Tick], urls: Mapping[str, str], emulator: str | None = None
) -> list[tuple[str, str]]:
    """Create or update the job of each family; returns what was done for each. Repeating it changes nothing."""
    try:
        client = client_for(emulator)
        return [(tick.name, keep(client, place, job_of(place, tick, urls[tick.family]))) for tick in ticks]
    except (GoogleAPICallError, RetryError, GoogleAuthError) as error:
        raise translated(error) from error


def remove_ticks(place: str, names: Iterable[str], emulator: str | None = None) -> list[str]:
    """Delete the existing jobs with these names."""
    removed = []
    try:
        client = client_for(emulator)
        for name in names:
            try:
                client.delete_job(name=f"{place}/jobs/{name}", timeout=SECONDS)
                removed.append(name)
            except NotFound:
                continue
        return removed
    except (GoogleAPICallError, RetryError, GoogleAuthError) as error:
        raise translated(error) from error


def ours(place: str, emulator: str | None = None) -> list[str]:
    """The names of our existing jobs, of deployed families and of others."""
    try:
        jobs: Iterator[Any] = iter(client_for(emulator).list_jobs(parent=place, timeout=SECONDS))
        names = [str(job.name).rpartition("/")[2] for job in jobs]
    except (GoogleAPICallError, RetryError, GoogleAuthError) as error:
        raise translated(error) from error
    return sorted(name for name in names if name.startswith("tickwork-"))


def job_of(place: str, tick: Tick, url: str) -> scheduler_v1.Job:
    return scheduler_v1.Job(
        name=f"{place}/jobs/{tick.name}",
        description=f"wakes the function of {tick.family}",
        schedule=tick.schedule,
        time_zone="Etc/UTC",
        http_target=scheduler_v1.HttpTarget(
            uri=url,
            http_method=scheduler_v1.HttpMethod.POST,
            # By default the audience would be the whole URL, including the path.
            oidc_token=scheduler_v1.OidcToken(service_account_email=tick.service_account, audience=tick.audience),
        ),
        # The default is three minutes.
        attempt_deadline=duration_pb2.Duration(seconds=tick.attempt_seconds),
        # The next minute is soon enough, and the queue has its own retries.
        retry_config=scheduler_v1.RetryConfig(retry_count=0),
    )


def keep(client: scheduler_v1.CloudSchedulerClient, place: str, job: scheduler_v1.Job) -> str:
    try:
        found = client.get_job(name=job.name, timeout=SECONDS)
    except NotFound:
        try:
            client.create_job(parent=place, job=job, timeout=SECONDS)
            return "created"
        except AlreadyExists:
            # Somebody else was faster, with the same plan or a different one.
            found = client.get_job(name=job.name, timeout=SECONDS)
    if is_current(found, job):
        return "unchanged"
    client.update_job(job=job, update_mask=field_mask_pb2.FieldMask(paths=FIELDS), timeout=SECONDS)
    return "updated"


def is_current(found: scheduler_v1.Job, job: scheduler_v1.Job) -> bool:
    """Whether everything that we would set is already set; the server adds its own headers and defaults."""
    return (
        all(getattr(found, name) == getattr(job, name) for name in ("description", "schedule", "time_zone"))
        and found.http_target.uri == job.http_target.uri
        and found.http_target.http_method == job.http_target.http_method
        and found.http_target.oidc_token == job.http_target.oidc_token
        and found.attempt_deadline == job.attempt_deadline
        and found.retry_config.retry_count == job.retry_config.retry_count
    )


def translated(error: Exception) -> Exception:
    text = f"Cloud Scheduler: {getattr(error, 'message', None) or error}"
    if isinstance(error, GoogleAuthError):
        return Unavailable(text, hint="Run `gcloud auth application-default login` first.")
    if isinstance(error, GoogleAPICallError) and error.code == 400:
        return InvalidRequest(text)
    return Unavailable(text, hint="Run the command again: finished steps are not repeated.")
