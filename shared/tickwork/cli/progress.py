"""Follows a job until it has ended, and says why it waits."""

import time
from uuid import UUID

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn
from rich.text import Text

from tickwork.cli.output import print_error, print_json, printable, say
from tickwork.client import Tickwork
from tickwork.errors import Error
from tickwork.jobs.rows import Job

ENDINGS = ("done", "failed", "dead", "cancelled")
LOOK_SECONDS = 0.3
# How long a job waits before it is said why, and before that is looked at again.
EXPLAIN_SECONDS = 1.0
EXPLAIN_AGAIN_SECONDS = 30.0


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


def wait_for(client: Tickwork, job_id: UUID, timeout: float, as_json: bool) -> int:
    """Follow a job to its end and show its result or its error; the exit code says which."""
    with progress_bars(as_json) as progress:
        bar = progress.add_task("waiting", total=1.0)
        try:
            job = followed(client, job_id, progress, bar, time.monotonic() + timeout)
        except (KeyboardInterrupt, Error):
            print_error("the job continues", f"`tickwork job {job_id}` shows its progress.")
            raise
    if as_json:
        print_json(job.model_dump(mode="json"))
    elif job.status == "done":
        say(job, as_json)
        if job.result is not None:
            print_json(job.result)
    else:
        explain_unfinished(client, job)
    return 0 if job.status == "done" else 1


def followed(client: Tickwork, job_id: UUID, progress: Progress, bar: TaskID, give_up_at: float) -> Job:
    """The job as it is when it has ended, or when the time is over."""
    reason = Reason(client, progress)
    for job in client.jobs.follow(job_id, give_up_at - time.monotonic()):
        label = job.progress_message or job.status
        progress.update(bar, completed=job.progress or 0.0, description=printable(label)[:60])
        if job.status == "queued":
            reason.tell(job_id)
    return job


class Reason:
    """Says why a job waits, once it has waited for some seconds, and again when there is another reason."""

    def __init__(self, client: Tickwork, progress: Progress) -> None:
        self._client = client
        self._console = progress.console
        self._look_at = time.monotonic() + EXPLAIN_SECONDS
        self._told: str | None = None

    def tell(self, job_id: UUID) -> None:
        if time.monotonic() < self._look_at:
            return
        self._look_at = time.monotonic() + EXPLAIN_AGAIN_SECONDS
        why = self._client.jobs.explain_job(job_id)
        if why != self._told:
            self._told = why
            self._console.print(Text(f"{job_id} waits. {printable(why)}"), soft_wrap=True)


def explain_unfinished(client: Tickwork, job: Job) -> None:
    if job.error_code == "REAUTHORIZE":
        print_error(
            f"{job.error_code}: {job.error_message}", "`tickwork connectors renew CONNECTOR` replaces the token."
        )
    elif job.status == "cancelled":
        print_error(f"job {job.id} was cancelled", f"`tickwork job {job.id}` shows more.")
    elif job.status in ENDINGS:
        print_error(f"{job.error_code}: {job.error_message}", f"`tickwork job {job.id}` shows more.")
    else:
        why = client.jobs.explain_job(job.id)
        print_error(f"job {job.id} has not ended yet: {why}", f"`tickwork job {job.id}` shows its progress.")
