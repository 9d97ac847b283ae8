"""The commands for jobs: enqueue, list, count, show, bury."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Annotated, Any

import typer

from tickwork.cli import arguments, connect
from tickwork.cli.job_options import (
    CorrelationId,
    CreatedAfter,
    CreatedBefore,
    ErrorCode,
    InStatus,
    Lane,
    RunAt,
    chosen_filters,
)
from tickwork.cli.options import AsJson, DatabaseUrl, Family, JobId, OfTenant, Tenant, Type
from tickwork.cli.output import job_table, moment, print_job, print_json, print_rows, print_table, say
from tickwork.cli.progress import wait_for
from tickwork.jobs.rows import AfterWhen, Job

commands = typer.Typer()

COUNTED = ("queued", "due", "running", "done", "failed", "dead", "cancelled")


@commands.command()
def enqueue(
    type: Annotated[str, typer.Argument(help="A key of job_types, such as extract_document.", metavar="TYPE")],
    tenant: OfTenant,
    payload: Annotated[str, typer.Argument(help="A JSON object.", metavar="PAYLOAD", show_default=False)] = "{}",
    priority: Annotated[
        int | None, typer.Option(help="0 to 100; higher runs first. By default that of the type.")
    ] = None,
    run_at: RunAt = None,
    idempotency_key: Annotated[str | None, typer.Option(help="Repeating it returns the first job.")] = None,
    dedupe_key: Annotated[str | None, typer.Option(help="At most one job with this key is queued or running.")] = None,
    lane: Lane = None,
    max_attempts: Annotated[int | None, typer.Option(help="1 to 25; by default that of the type.")] = None,
    correlation_id: Annotated[str | None, typer.Option(help="To find related jobs.")] = None,
    after: Annotated[list[str] | None, typer.Option(help="Id of a job to wait for; repeatable.")] = None,
    after_when: Annotated[
        AfterWhen | None, typer.Option(help="What to wait for; all_done cancels the job if one of them is not done.")
    ] = None,
    wait: Annotated[
        bool, typer.Option("--wait", help="Wait for its end, show the result or the error, and exit accordingly.")
    ] = False,
    timeout: Annotated[float, typer.Option(min=0, help="With --wait: for how many seconds.")] = 300,
    database_url: DatabaseUrl = None,
    as_json: AsJson = False,
) -> None:
    """Put a job into the queue."""
    client = connect.client(database_url)
    job = client.jobs.enqueue_job(
        client.tenants.find(tenant),
        type,
        arguments.payload(payload),
        priority=priority,
        run_at=arguments.point_in_time(client, run_at),
        idempotency_key=idempotency_key,
        dedupe_key=dedupe_key,
        lane=lane,
        max_attempts=max_attempts,
        correlation_id=correlation_id,
        notify=wait,
        after=[arguments.job_id(client, id, "after") for id in after] if after else None,
        after_when=after_when,
    )
    if wait:
        raise typer.Exit(wait_for(client, job.id, timeout, as_json))
    say(job, as_json, "already existed and is" if job.deduplicated else "is")


@commands.command()
def jobs(
    tenant: Tenant = None,
    family: Family = None,
    type: Type = None,
    status: InStatus = None,
    lane: Lane = None,
    source: Annotated[str | None, typer.Option(help="manual, event, schedule or system.")] = None,
    error_code: ErrorCode = None,
    key: Annotated[
        str | None, typer.Option(help="Beginning of an idempotency key, dedupe key or correlation id.")
    ] = None,
    created_after: CreatedAfter = None,
    created_before: CreatedBefore = None,
    correlation_id: CorrelationId = None,
    finished_after: Annotated[str | None, typer.Option(help="Such as '1 hour ago'.")] = None,
    finished_before: Annotated[str | None, typer.Option(help="Likewise; excludes that time.")] = None,
    oldest_first: Annotated[bool, typer.Option("--oldest-first", help="Oldest first instead of newest first.")] = False,
    after: Annotated[str | None, typer.Option(help="The last id of the previous page.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=1000)] = 20,
    database_url: DatabaseUrl = None,
    as_json: AsJson = False,
) -> None:
    """List jobs, the newest first."""
    client = connect.client(database_url)
    chosen = chosen_filters(
        client, tenant, family, type, status, lane, error_code, created_after, created_before, correlation_id
    )
    found = client.jobs.list_jobs(
        **chosen,
        source=source,
        key_starts_with=key,
        finished_after=arguments.point_in_time(client, finished_after, "finished_after"),
        finished_before=arguments.point_in_time(client, finished_before, "finished_before"),
        oldest_first=oldest_first,
        after_id=arguments.job_id(client, after, "after") if after else None,
        max_jobs=limit,
    )
    if as_json:
        print_json([job.model_dump(mode="json") for job in found])
    elif found:
        print_table(job_table(found, {tenant["id"]: tenant["name"] for tenant in client.tenants.overview()}))
        if len(found) == limit:
            print(f"There may be more: --after {found[-1].id}")
    else:
        print("No jobs.")


@commands.command()
def summary(tenant: Tenant = None, database_url: DatabaseUrl = None, as_json: AsJson = False) -> None:
    """Count the jobs of each type by their status."""
    client = connect.client(database_url)
    columns: dict[str, Callable[[Mapping[str, Any]], str]] = {
        "family": lambda row: row["family"],
        "type": lambda row: row["type"],
        **{status: partial(count_of, status) for status in COUNTED},
        "oldest due since": lambda row: moment(row["oldest_due_at"]) if row["oldest_due_at"] else "",
    }
    rows = client.jobs.queue_summary(client.tenants.find(tenant) if tenant else None)
    print_rows(rows, as_json, columns, "No jobs.")


def count_of(status: str, row: Mapping[str, Any]) -> str:
    return str(row[status])


@commands.command()
def job(
    job_id: JobId,
    operator: Annotated[
        bool, typer.Option("--operator", help="Also show the exceptions of its handler, which the tenant cannot read.")
    ] = False,
    database_url: DatabaseUrl = None,
    as_json: AsJson = False,
) -> None:
    """Show one job: attempts, steps, and why it is not running."""
    client = connect.client(database_url)
    id = arguments.job_id(client, job_id)
    why = client.jobs.explain_job(id)
    row, attempts, steps = client.jobs.row(id), client.jobs.list_attempts(id), client.jobs.list_steps(id)
    if operator:
        exceptions = client.jobs.exceptions(id)
        attempts = [{**each, "exception": exceptions.get(each["number"])} for each in attempts]
    if as_json:
        print_json({**Job(**row).model_dump(mode="json"), "why": why, "attempt_history": attempts, "steps": steps})
    else:
        print_job(row, attempts, steps, why)


@commands.command()
def bury(
    job_id: JobId,
    reason: Annotated[str | None, typer.Option(help="Kept as the error message of the job.")] = None,
    database_url: DatabaseUrl = None,
    as_json: AsJson = False,
) -> None:
    """Bury a queued job: it stays dead unless somebody retries it."""
    client = connect.client(database_url)
    say(client.jobs.bury_job(arguments.job_id(client, job_id), reason), as_json)
