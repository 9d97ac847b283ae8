"""The commands that change jobs, one by its id or many by filters: retry, reschedule, cancel."""

import sys
from collections.abc import Callable, Mapping
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
from tickwork.cli.options import AsJson, DatabaseUrl, Family, Tenant, Type
from tickwork.cli.output import print_json, printable, say
from tickwork.client import Tickwork
from tickwork.errors import InvalidRequest
from tickwork.jobs.rows import Changed

# How many are counted at most; beyond that the output says `or more`.
MANY = 1000

MaybeId = Annotated[
    str | None, typer.Argument(help="Id of a job or its first digits, or use options to select several.", metavar="ID")
]
Yes = Annotated[bool, typer.Option("--yes", help="Do not ask before changing many jobs.")]

commands = typer.Typer()


@commands.command()
def retry(
    job_id: MaybeId = None,
    run_at: RunAt = None,
    max_attempts: Annotated[
        int | None, typer.Option(help="How many further attempts, 1 to 25; by default those of the type.")
    ] = None,
    tenant: Tenant = None,
    family: Family = None,
    type: Type = None,
    status: InStatus = None,
    lane: Lane = None,
    error_code: ErrorCode = None,
    created_after: CreatedAfter = None,
    created_before: CreatedBefore = None,
    correlation_id: CorrelationId = None,
    yes: Yes = False,
    database_url: DatabaseUrl = None,
    as_json: AsJson = False,
) -> None:
    """Put failed, dead or cancelled jobs back into the queue.

    They are due at once, but a job that was scheduled for later keeps its time: --run-at now changes that.
    """
    client = connect.client(database_url)
    chosen = chosen_filters(
        client, tenant, family, type, status, lane, error_code, created_after, created_before, correlation_id
    )
    given: dict[str, Any] = {"run_at": arguments.point_in_time(client, run_at), "max_attempts": max_attempts}
    if is_one("retry", job_id, chosen):
        say(client.jobs.retry_job(arguments.job_id(client, str(job_id)), **given), as_json)
    else:
        count = confirmed(client, "Retry", chosen, ["failed", "dead"], yes)
        say_changed(changed(client.jobs.retry_jobs, {**chosen, **given}), count, "queued again", as_json)


@commands.command()
def reschedule(
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
    correlation_id: CorrelationId = None,
    yes: Yes = False,
    database_url: DatabaseUrl = None,
    as_json: AsJson = False,
) -> None:
    """Make jobs that are not running due at another time."""
    client = connect.client(database_url)
    chosen = chosen_filters(
        client, tenant, family, type, status, lane, error_code, created_after, created_before, correlation_id
    )
    due = arguments.point_in_time(client, run_at)
    if due is None:
        raise InvalidRequest("run_at: is missing", hint="Such as --run-at 2027-01-31T08:00Z, or --run-at '1 hour'.")
    if is_one("reschedule", job_id, chosen):
        say(client.jobs.reschedule_job(arguments.job_id(client, str(job_id)), due), as_json)
    else:
        count = confirmed(client, "Reschedule", chosen, ["queued"], yes)
        say_changed(changed(client.jobs.reschedule_jobs, {**chosen, "run_at": due}), count, "rescheduled", as_json)


@commands.command()
def cancel(
    job_id: MaybeId = None,
    tenant: Tenant = None,
    family: Family = None,
    type: Type = None,
    status: InStatus = None,
    lane: Lane = None,
    error_code: ErrorCode = None,
    created_after: CreatedAfter = None,
    created_before: CreatedBefore = None,
    correlation_id: CorrelationId = None,
    yes: Yes = False,
    database_url: DatabaseUrl = None,
    as_json: AsJson = False,
) -> None:
    """Cancel queued jobs, and ask running ones to stop."""
    client = connect.client(database_url)
    chosen = chosen_filters(
        client, tenant, family, type, status, lane, error_code, created_after, created_before, correlation_id
    )
    if is_one("cancel", job_id, chosen):
        say(client.jobs.cancel_job(arguments.job_id(client, str(job_id))), as_json)
    else:
        count = confirmed(client, "Cancel", chosen, ["queued", "running"], yes)
        say_changed(changed(client.jobs.cancel_jobs, chosen), count, "cancelled or asked to stop", as_json)


def is_one(command: str, job_id: str | None, chosen: Mapping[str, Any]) -> bool:
    """Whether a single job is meant, and not all that match."""
    if (job_id is None) == (not chosen):
        what = "an ID, or options that select jobs" if job_id is None else "either an ID or options, not both"
        hint = (
            f"For example `tickwork {command} --type extract_document`; `tickwork {command} --help` lists the options."
        )
        raise InvalidRequest(f"give {what}", hint=hint)
    return job_id is not None


def confirmed(client: Tickwork, verb: str, chosen: Mapping[str, Any], statuses: list[str], is_sure: bool) -> str:
    """How many jobs match, once the user has confirmed."""
    wanted = [chosen["status"]] if "status" in chosen else statuses
    found = sum(len(client.jobs.list_jobs(**{**chosen, "status": each}, max_jobs=MANY)) for each in wanted)
    count = f"{MANY} or more" if found >= MANY else str(found)
    if is_sure or not found:
        return count
    filters = ", ".join(f"{name} {printable(str(value))}" for name, value in chosen.items() if name != "status")
    which = f"{' or '.join(wanted)} jobs{' with ' if filters else ''}{filters}"
    print(f"{verb} {count} {which}? [y/N] ", end="", file=sys.stderr, flush=True)
    if sys.stdin.readline().strip().lower() not in ("y", "yes"):
        raise InvalidRequest("nothing was changed", hint="Answer y, or pass --yes.")
    return count


def changed(verb: Callable[..., Changed], arguments: Mapping[str, Any]) -> int:
    """Change jobs batch by batch until none is left; returns how many."""
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
