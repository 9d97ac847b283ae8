"""Options that select jobs, and how they become a filter."""

from typing import Annotated, cast, get_args

import typer

from tickwork.cli import arguments
from tickwork.client import Tickwork
from tickwork.client.job_options import JobFilter
from tickwork.errors import InvalidRequest
from tickwork.jobs.rows import Status

STATUSES = get_args(Status)

InStatus = Annotated[str | None, typer.Option("--status", help=f"{', '.join(STATUSES[:-1])} or {STATUSES[-1]}.")]
Lane = Annotated[str | None, typer.Option(help="Such as connector:<id>.")]
ErrorCode = Annotated[str | None, typer.Option(help="Such as TIMEOUT.")]
CreatedAfter = Annotated[str | None, typer.Option(help="Such as 2027-01-31T08:00Z or '1 hour ago'.")]
CreatedBefore = Annotated[str | None, typer.Option(help="Likewise; excludes that time.")]
CorrelationId = Annotated[str | None, typer.Option(help="All jobs of a chain have the same.")]
RunAt = Annotated[str | None, typer.Option(help="Not before, such as 2027-01-31T08:00Z or '1 hour'.")]


def chosen_filters(
    client: Tickwork,
    tenant: str | None,
    family: str | None,
    type: str | None,
    status: str | None,
    lane: str | None,
    error_code: str | None,
    created_after: str | None,
    created_before: str | None,
    correlation_id: str | None,
) -> JobFilter:
    """The options as a filter."""
    if status is not None and status not in STATUSES:
        raise InvalidRequest(f"status: there is no status {status!r}", hint=f"Use one of {', '.join(STATUSES)}.")
    client.job_types.check(family, type)
    values: JobFilter = {
        "tenant_id": None if tenant is None else client.tenants.find(tenant),
        "family": family,
        "type": type,
        "status": status,
        "lane": lane,
        "error_code": error_code,
        "created_after": arguments.point_in_time(client, created_after, "created_after"),
        "created_before": arguments.point_in_time(client, created_before, "created_before"),
        "correlation_id": correlation_id,
    }
    return cast(JobFilter, {name: value for name, value in values.items() if value is not None})
