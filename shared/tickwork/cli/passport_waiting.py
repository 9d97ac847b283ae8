"""Waits for the jobs of a passport, and says why one does not get done."""

import time
from uuid import UUID

from tickwork.cli.progress import LOOK_SECONDS
from tickwork.client import Tickwork
from tickwork.client.way import Row
from tickwork.errors import InvalidRequest
from tickwork.jobs.rows import Job


def finished_job(client: Tickwork, job_id: UUID | str, seconds: float) -> Job:
    """Raises if it fails, or has not ended by then."""
    job = client.wait(UUID(str(job_id)), seconds)
    if job.status == "done":
        return job
    hint = f"`tickwork job {job.id}` shows the attempts; `tickwork retry {job.id}` tries again."
    raise InvalidRequest(f"{job.type} {job.status}: {job.error_code} {job.error_message}", hint=hint)


def signed_version(client: Tickwork, passport_id: UUID | str, version_id: str, seconds: float) -> Row:
    """The version once it is signed and has its QR code."""
    give_up_at = time.monotonic() + seconds
    while True:
        versions = client.passports.list_passport_versions(passport_id=passport_id, max_rows=1000)
        version = next(row for row in versions if str(row["id"]) == version_id)
        if version["qr_payload"]:
            return version
        if time.monotonic() > give_up_at:
            why = client.passports.explain_passport(passport_id)
            raise InvalidRequest(f"the version is not signed after {seconds:.0f} s", hint=why)
        time.sleep(LOOK_SECONDS)
