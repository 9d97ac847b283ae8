"""Follows a job until it has ended."""

import time
from uuid import UUID

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn

from tickwork.cli.output import print_error, printable
from tickwork.client import Client
from tickwork.jobs.rows import Job

ENDINGS = ("done", "failed", "dead", "cancelled")
LOOK_SECONDS = 0.3


def progress_bars(is_silent: bool) -> Progress:
    console = Console(stderr=True)
    return Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TextColumn("{task.percentage:>3.0f} %"),
        console=console,
        transient=True,
        disable=is_silent or not console.is_terminal,
    )


def followed(client: Client, job_id: UUID, progress: Progress, bar: TaskID, give_up_at: float) -> Job:
    while True:
        job = client.jobs.get(job_id)
        label = job.progress_message or job.status
        progress.update(bar, completed=job.progress or 0.0, description=printable(label)[:60])
        if job.status in ENDINGS or time.monotonic() > give_up_at:
            return job
        time.sleep(LOOK_SECONDS)


def explain_unfinished(client: Client, job: Job) -> None:
    if job.error_code == "REAUTHORIZE":
        print_error(
            f"{job.error_code}: {job.error_message}", "`tickwork connectors renew CONNECTOR` replaces the token."
        )
    elif job.status in ENDINGS:
        print_error(f"{job.error_code}: {job.error_message}", f"`tickwork job {job.id}` shows more.")
    else:
        why = client.jobs.explain_job(job.id)
        print_error(f"job {job.id} has not ended yet: {why}", f"`tickwork job {job.id}` shows its progress.")
