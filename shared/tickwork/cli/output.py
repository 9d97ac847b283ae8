"""What the command line prints: tables, the page of a job, JSON and errors."""

import json
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from rich.console import Console
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from tickwork.jobs.rows import Job
from tickwork.logs import printable as printable

COLOURS = {
    "queued": "cyan",
    "running": "yellow",
    "done": "green",
    "failed": "red",
    "dead": "magenta",
    "cancelled": "bright_black",
}

# Useful to the queue but not to readers.
HIDDEN = ("lease_seconds", "timeout_seconds")


def print_json(value: Any) -> None:
    print(json.dumps(value, default=as_json, indent=2))


def as_json(value: Any) -> str:
    return value.isoformat() if isinstance(value, datetime) else str(value)


def print_table(table: Table) -> None:
    """Does not cut anything: the terminal wraps long lines, so that ids stay whole when copied."""
    console = Console()
    width = Measurement.get(console, console.options.update_width(10_000), table).maximum
    Console(width=width, soft_wrap=True).print(table)


def print_rows(
    rows: Sequence[Mapping[str, Any]],
    as_json: bool,
    columns: Mapping[str, Callable[[Mapping[str, Any]], Text | str]],
    if_none: str,
) -> None:
    """As JSON, as a table with a cell for each column, or as a sentence if there are no rows."""
    if as_json:
        print_json(rows)
        return
    table = plain_table(*columns)
    for row in rows:
        cells = [cell(row) for cell in columns.values()]
        table.add_row(*(one_line(each) if isinstance(each, str) else each for each in cells))
    print_table(table) if rows else print(if_none)


def plain_table(*columns: str) -> Table:
    """Without borders, so that there is room for ids and other programs can read it."""
    return Table(*columns, box=None, pad_edge=False, padding=(0, 1, 0, 0), header_style="bold")


def job_table(jobs: Iterable[Job], tenants: Mapping[UUID, str] | None = None) -> Table:
    """With the names of their tenants, if these are given."""
    table = plain_table()
    # Ids are there to be copied: if the table is too wide, other columns are cut.
    table.add_column("id", no_wrap=True, min_width=36)
    table.add_column("status", no_wrap=True, min_width=len("running 1/4"))
    table.add_column("type", no_wrap=True)
    for name in (*(["tenant"] if tenants is not None else []), "age", "took", "note"):
        table.add_column(name)
    for job in jobs:
        status = Text(f"{job.status} {job.attempts}/{job.max_attempts}", COLOURS[job.status])
        tenant = [] if tenants is None else [tenants.get(job.tenant_id, str(job.tenant_id))]
        age = span(datetime.now(UTC) - job.created_at)
        table.add_row(str(job.id), status, *map(one_line, [job.type, *tenant, age, took(job), note(job)]))
    return table


def took(job: Job) -> str:
    """How long its last attempt took, or has been running."""
    if job.started_at is None or job.status == "queued":
        return ""
    return span((job.finished_at or datetime.now(UTC)) - job.started_at)


def span(time: timedelta) -> str:
    """In one unit, such as 0.4 s, 12 s, 3 min, 2 h or 5 d."""
    # The clock of the database may be ahead of ours.
    seconds = max(time.total_seconds(), 0.0)
    for unit, length in (("d", 86_400), ("h", 3600), ("min", 60)):
        if seconds >= 2 * length:
            return f"{seconds / length:.0f} {unit}"
    return f"{seconds:.1f} s" if seconds < 10 else f"{seconds:.0f} s"


def one_line(text: str) -> Text:
    # A Text is never interpreted as markup, whatever a tenant wrote.
    return Text(printable(text), no_wrap=True, overflow="ellipsis")


def note(job: Job) -> str:
    """What else there is to say besides the status, in a few words."""
    match job.status:
        case "queued" if job.run_at > datetime.now(UTC):
            return f"due {soon(job.run_at)} {job.error_code or ''}".rstrip()
        case "running" if job.cancel_requested_at:
            return "asked to stop"
        case "running" if job.progress is not None:
            return f"{job.progress:.0%} {job.progress_message or ''}".rstrip()
        case "failed" | "dead":
            return job.error_code or ""
        case _:
            return ""


def say(job: Job, as_json: bool, verb: str = "is") -> None:
    if as_json:
        print_json(job.model_dump(mode="json"))
    else:
        extra = printable(note(job))
        print(f"{job.id} {verb} {job.status}{', ' if extra else ''}{extra}")


def soon(time: datetime) -> str:
    seconds = (time - datetime.now(UTC)).total_seconds()
    if seconds < 90:
        return f"in {seconds:.0f} s"
    if seconds < 3600:
        return f"in {seconds / 60:.0f} min"
    return moment(time)


def print_job(
    job: Mapping[str, Any], attempts: Iterable[Mapping[str, Any]], steps: Iterable[Mapping[str, Any]], why: str
) -> None:
    for name, value in job.items():
        if value is not None and name not in HIDDEN:
            print(f"{name:<20} {fact(value)}")
    for attempt in attempts:
        print_attempt(attempt)
    for step in steps:
        outcome = fact(step["result"]) if step["is_stored"] else f"until {moment(step['ends_at'])}"
        print(f"\n{step['kind']} {fact(step['name'])}: {outcome}")
    print(f"\n{printable(why)}")


def print_attempt(attempt: Mapping[str, Any]) -> None:
    if attempt["finished_at"] is None:
        ending = f"has been running since {moment(attempt['started_at'])}"
    else:
        seconds = (attempt["finished_at"] - attempt["started_at"]).total_seconds()
        ending = f"{attempt['status']} after {seconds:.2f} s"
    print(f"\nattempt {attempt['number']} {ending} on {fact(attempt['worker_id'])}")
    if attempt["error_code"]:
        print(f"  {fact(attempt['error_code'])}: {fact(attempt['error_message'])}")
    for name in ("error", "pid", "exit_code", "stdout_tail", "stderr_tail", "logs", "exception"):
        if attempt.get(name) is not None:
            print_lines(name, attempt[name])


def print_lines(name: str, value: Any) -> None:
    # Log lines need no heading: they are what people look for.
    if name != "logs":
        print(f"  {name}")
    # The mark at the beginning tells them from lines of ours.
    for line in value.splitlines() if isinstance(value, str) else [value]:
        print(f"  | {fact(line)}")


def fact(value: Any) -> str:
    match value:
        case datetime():
            return moment(value)
        case dict() | list():
            return printable(json.dumps(value, ensure_ascii=False))
        case _:
            return printable(str(value))


def moment(time: datetime) -> str:
    return f"{time:%Y-%m-%d %H:%M:%S%z}"


def print_error(message: str, hint: str | None = None) -> None:
    console = Console(stderr=True, soft_wrap=True, highlight=False)
    # Some messages have several lines; those after the first are indented, so that none looks like a message.
    first, *others = message.strip().split("\n")
    console.print(Text.assemble(("tickwork: ", "red"), printable(first)))
    for line in [*others, *([hint] if hint else [])]:
        console.print(Text(f"  {printable(line.removeprefix('  '))}"))
    sys.stderr.flush()
