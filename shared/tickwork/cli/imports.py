"""The command for imports from a cloud drive."""

import time
from collections.abc import Iterator, Sequence
from typing import Annotated, Any
from uuid import UUID

import typer
from rich.progress import Progress, TaskID

from tickwork.cli import connect
from tickwork.cli.connectors import Connector, Wait
from tickwork.cli.options import AsJson, DatabaseUrl
from tickwork.cli.output import print_error, print_json, printable
from tickwork.cli.progress import explain_unfinished, followed, progress_bars
from tickwork.client import Tickwork
from tickwork.errors import Error
from tickwork.jobs.rows import Job

SUMMED = ("imported_count", "imported_bytes", "known_count", "unchanged_count", "skipped_count", "failed_count")
LISTED = ("document_ids", "skipped", "failed", "renamed")

commands = typer.Typer()


@commands.command("import")
def import_files(
    connector: Connector,
    path: Annotated[
        str | None, typer.Argument(help="A folder of the drive; by default all of it.", metavar="PATH")
    ] = None,
    files: Annotated[list[str] | None, typer.Option("--file", help="Only this file; can be repeated.")] = None,
    wait: Wait = 3600,
    database_url: DatabaseUrl = None,
    as_json: AsJson = False,
) -> None:
    """Import new files of a cloud drive into the vault."""
    client = connect.client(database_url)
    raise typer.Exit(run_import(client, connector, path, files or [], wait, as_json))


def run_import(
    client: Tickwork, given: str, path: str | None, files: Sequence[str], wait_seconds: float, as_json: bool
) -> int:
    """Request an import and follow it through all its jobs; the exit code says whether all files were imported."""
    connector = client.connectors.find(given)
    remote_path = path if path is not None or files else ""
    requested = client.connectors.request_import(connector["id"], remote_path, list(files) or None)
    with progress_bars(as_json) as progress:
        bar = progress.add_task("waiting", total=1.0)
        try:
            jobs = list(chain(client, requested.id, progress, bar, time.monotonic() + wait_seconds))
        except (KeyboardInterrupt, Error):
            print_error("the import continues", f"`tickwork job {requested.id}` shows its progress.")
            raise
    job, whole = jobs[-1], summed([each.result or {} for each in jobs])
    if as_json:
        print_json({"job_id": job.id, "status": job.status, "error_code": job.error_code, **whole})
    else:
        tell(client, job, whole)
    return 0 if job.status == "done" and not whole["failed_count"] else 1


def chain(client: Tickwork, job_id: UUID, progress: Progress, bar: TaskID, give_up_at: float) -> Iterator[Job]:
    """Each job of the import once it has ended; the last one may not have."""
    following: UUID | None = job_id
    while following is not None:
        job = followed(client, following, progress, bar, give_up_at)
        yield job
        is_continued = job.status == "done" and (job.result or {}).get("is_continued")
        following = client.connectors.next_import(job) if is_continued else None


def summed(results: Sequence[dict[str, Any]]) -> dict[str, Any]:
    counts = {name: sum(result.get(name, 0) for result in results) for name in SUMMED}
    lists = {name: [each for result in results for each in result.get(name, [])] for name in LISTED}
    return {**counts, **lists}


def tell(client: Tickwork, job: Job, whole: dict[str, Any]) -> None:
    others = {"known": "known before", "unchanged": "unchanged", "skipped": "skipped", "failed": "failed"}
    counts = [f"{whole[f'{name}_count']} {words}" for name, words in others.items() if whole[f"{name}_count"]]
    size = f"{whole['imported_bytes'] / 1e6:,.1f} MB"
    # A failed import has nothing more to report, unless something was imported before it failed.
    if job.status == "done" or whole["imported_count"] or counts:
        print(", ".join([f"{whole['imported_count']} files imported ({size})", *counts]))
    for kind in ("skipped", "failed"):
        for each in whole[kind]:
            told = f"{kind} {each['name']}: {each['reason']} {each.get('message') or ''}"
            print(f"  {printable(told.rstrip())}")
    if job.status != "done":
        explain_unfinished(client, job)
