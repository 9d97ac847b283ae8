"""The commands that list jobs and change them, one by its id or many by filters."""

import sys
from collections.abc import Callable, Mapping
from typing import Annotated, Any, get_args

import typer

from tickwork.cli import arguments
from tickwork.cli.options import AsJson, DatabaseUrl, JobId, Tenant, desk
from tickwork.cli.output import job_table, print_json, print_table, printable, say
from tickwork.errors import InvalidRequest
from tickwork.jobs.rows import Changed, Status
from tickwork.queue import Queue

STATUSES = get_args(Status)
# What one look counts; of more it is said that there are so many or more.
MANY = 1000

MaybeId = Annotated[str | None, typer.Argument(help="Id of a job; or say with the options which ones.", metavar="[ID]")]
Family = Annotated[str | None, typer.Option(help="Such as extract.")]
Type = Annotated[str | None, typer.Option(help="Such as extract_document.")]
InStatus = Annotated[str | None, typer.Option("--status", help=f"{', '.join(STATUSES[:-1])} or {STATUSES[-1]}.")]
Lane = Annotated[str | None, typer.Option(help="Such as connector:<id>.")]
ErrorCode = Annotated[str | None, typer.Option(help="Such as TIMEOUT.")]
CreatedAfter = Annotated[str | None, typer.Option(help="Such as 2027-01-31T08:00Z or '1 hour ago'.")]
CreatedBefore = Annotated[str | None, typer.Option(help="Likewise; that time not included.")]
Yes = Annotated[bool, typer.Option("--yes", help="Do not ask before changing many jobs.")]
RunAt = Annotated[str | None, typer.Option(help="Not before, such as 2027-01-31T08:00Z or '1 hour'.")]


def jobs(
    context: typer.Context,
    tenant: Tenant = None,
    family: Family = None,
    type: Type = None,
    status: InStatus = None,
    lane: Lane = None,
    source: Annotated[str | None, typer.Option(help="manual, event, schedule or system.")] = None,
    error_code: ErrorCode = None,
    key: Annotated[
        str | None, typer.Option(help="How an idempotency key, dedupe key or correlation id starts.")
    ] = None,
    created_after: CreatedAfter = None,
    created_before: CreatedBefore = None,
    finished_after: Annotated[str | None, typer.Option(help="Such as '1 hour ago'.")] = None,
    finished_before: Annotated[str | None, typer.Option(help="Likewise; that time not included.")] = None,
    oldest_first: Annotated[bool, typer.Option("--oldest-first", help="Instead of the newest.")] = False,
    after: Annotated[str | None, typer.Option(help="The last id of the page before.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=1000)] = 20,
    database_url: DatabaseUrl = None,
    as_json: AsJson = False,
) -> None:
    """List jobs, the newest first."""
    queue = desk(context).queue(database_url)
    chosen = chosen_filters(queue, tenant, family, type, status, lane, error_code, created_after, created_before)
    found = queue.list_jobs(
        **chosen,
        source=source,
        key_starts_with=key,
        finished_after=arguments.point_in_time(queue, finished_after, "finished_after"),
        finished_before=arguments.point_in_time(queue, finished_before, "finished_before"),
        oldest_first=oldest_first,
        after_id=arguments.job_id(after, "after") if after else None,
        max_jobs=limit,
    )
    if as_json:
        print_json([job.model_dump(mode="json") for job in found])
    elif found:
        print_table(job_table(found))
        if len(found) == limit:
            print(f"There may be more: --after {found[-1].id}")
    else:
        print("No jobs.")


def retry(
    context: typer.Context,
    job_id: MaybeId = None,
    run_at: RunAt = None,
    max_attempts: Annotated[
        int | None, typer.Option(help="So many further ones, 1 to 25; by default what the type says.")
    ] = None,
    tenant: Tenant = None,
    family: Family = None,
    type: Type = None,
    status: InStatus = None,
    lane: Lane = None,
    error_code: ErrorCode = None,
    created_after: CreatedAfter = None,
    created_before: CreatedBefore = None,
    yes: Yes = False,
    database_url: DatabaseUrl = None,
    as_json: AsJson = False,
) -> None:
    """Put failed, dead or cancelled jobs back into the queue."""
    queue = desk(context).queue(database_url)
    chosen = chosen_filters(queue, tenant, family, type, status, lane, error_code, created_after, created_before)
    given: dict[str, Any] = {"run_at": arguments.point_in_time(queue, run_at), "max_attempts": max_attempts}
    if is_one("retry", job_id, chosen):
        say(queue.retry_job(arguments.job_id(str(job_id)), **given), as_json)
    else:
        count = confirmed(queue, "Retry", chosen, ["failed", "dead"], yes)
        say_changed(changed(queue.retry_jobs, {**chosen, **given}), count, "queued again", as_json)


def reschedule(
    context: typer.Context,
    job_id: MaybeId = None,
    run_at: RunAt = None,
    tenant: Tenant = None,
    family: Family = None,
    type: Type = None,
    status: InStatus = None,
    lane: Lane = None,
    error_code: ErrorCode = None,
    created_after: CreatedAfter = None,
    created_before: CreatedBefore = None,
    yes: Yes = False,
    database_url: DatabaseUrl = None,
    as_json: AsJson = False,
) -> None:
    """Let jobs that are not running become due at another time."""
    queue = desk(context).queue(database_url)
    chosen = chosen_filters(queue, tenant, family, type, status, lane, error_code, created_after, created_before)
    due = arguments.point_in_time(queue, run_at)
    if due is None:
        raise InvalidRequest("run_at: is missing", hint="Such as --run-at 2027-01-31T08:00Z, or --run-at '1 hour'.")
    if is_one("reschedule", job_id, chosen):
        say(queue.reschedule_job(arguments.job_id(str(job_id)), due), as_json)
    else:
        count = confirmed(queue, "Reschedule", chosen, ["queued"], yes)
        say_changed(changed(queue.reschedule_jobs, {**chosen, "run_at": due}), count, "rescheduled", as_json)


def cancel(
    context: typer.Context,
    job_id: MaybeId = None,
    tenant: Tenant = None,
    family: Family = None,
    type: Type = None,
    status: InStatus = None,
    lane: Lane = None,
    error_code: ErrorCode = None,
    created_after: CreatedAfter = None,
    created_before: CreatedBefore = None,
    yes: Yes = False,
    database_url: DatabaseUrl = None,
    as_json: AsJson = False,
) -> None:
    """Cancel queued jobs, and ask running ones to stop."""
    queue = desk(context).queue(database_url)
    chosen = chosen_filters(queue, tenant, family, type, status, lane, error_code, created_after, created_before)
    if is_one("cancel", job_id, chosen):
        say(queue.cancel_job(arguments.job_id(str(job_id))), as_json)
    else:
        count = confirmed(queue, "Cancel", chosen, ["queued", "running"], yes)
        say_changed(changed(queue.cancel_jobs, chosen), count, "cancelled or asked to stop", as_json)


def bury(
    context: typer.Context,
    job_id: JobId,
    reason: Annotated[str | None, typer.Option(help="Kept as the error message of the job.")] = None,
    database_url: DatabaseUrl = None,
    as_json: AsJson = False,
) -> None:
    """Give up a queued job: it is dead unless somebody retries it."""
    say(desk(context).queue(database_url).bury_job(arguments.job_id(job_id), reason), as_json)


def chosen_filters(
    queue: Queue,
    tenant: str | None,
    family: str | None,
    type: str | None,
    status: str | None,
    lane: str | None,
    error_code: str | None,
    created_after: str | None,
    created_before: str | None,
) -> dict[str, Any]:
    """What was given, as the queue takes it."""
    if status is not None and status not in STATUSES:
        raise InvalidRequest(f"status: there is no status {status!r}", hint=f"It is one of {', '.join(STATUSES)}.")
    values = {
        "tenant_id": None if tenant is None else arguments.tenant_id(queue, tenant),
        "family": family,
        "type": type,
        "status": status,
        "lane": lane,
        "error_code": error_code,
        "created_after": arguments.point_in_time(queue, created_after, "created_after"),
        "created_before": arguments.point_in_time(queue, created_before, "created_before"),
    }
    return {name: value for name, value in values.items() if value is not None}


def is_one(command: str, job_id: str | None, chosen: Mapping[str, Any]) -> bool:
    """Whether a single job is meant, and not all that match."""
    if (job_id is None) == (not chosen):
        what = "an ID, or say which jobs with options" if job_id is None else "an ID or options, not both"
        hint = f"Such as `tickwork {command} --type extract_document`; `tickwork {command} --help` lists the options."
        raise InvalidRequest(f"give {what}", hint=hint)
    return job_id is not None


def confirmed(queue: Queue, verb: str, chosen: Mapping[str, Any], statuses: list[str], is_sure: bool) -> str:
    """How many jobs match, once somebody has agreed to it."""
    wanted = [chosen["status"]] if "status" in chosen else statuses
    found = sum(len(queue.list_jobs(**{**chosen, "status": each}, max_jobs=MANY)) for each in wanted)
    count = f"{MANY} or more" if found >= MANY else str(found)
    if is_sure or not found:
        return count
    filters = ", ".join(f"{name} {printable(str(value))}" for name, value in chosen.items() if name != "status")
    which = f"{' or '.join(wanted)} jobs{' with ' if filters else ''}{filters}"
    print(f"{verb} {count} {which}? [y/N] ", end="", file=sys.stderr, flush=True)
    if sys.stdin.readline().strip().lower() not in ("y", "yes"):
        raise InvalidRequest("nothing was changed", hint="Answer y, or give --yes.")
    return count


def changed(verb: Callable[..., Changed], arguments: Mapping[str, Any]) -> int:
    """How many jobs were changed, portion by portion until none is left."""
    total = 0
    while True:
        portion = verb(**arguments)
        total += portion.changed
        if not portion.has_more:
            return total


def say_changed(total: int, count: str, participle: str, as_json: bool) -> None:
    if as_json:
        print_json({"changed": total})
    elif total < int(count.split()[0]):
        print(f"{total} of {count} jobs are {participle}. The others needed no change, or could not be changed.")
    else:
        print(f"{total} {'job is' if total == 1 else 'jobs are'} {participle}.")
