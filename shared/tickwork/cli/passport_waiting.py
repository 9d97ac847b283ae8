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
    raise InvalidRequest(f"{job.type} {job.status}: {job.error_code} {job.error_message}", hint=what_next(job))


def what_next(job: Job) -> str:
    """A job that has failed for good fails again with the same input."""
    if job.status != "failed":
        return f"`tickwork job {job.id}` shows the attempts; `tickwork retry {job.id}` tries again."
    if job.error_code == "COMPILE_ERROR":
        return (
            "`tickwork passport check SNAPSHOT --category …` lists all that is wrong, before a snapshot is sealed too."
        )
    if job.error_code == "DOCUMENT_REJECTED":
        return "Correct the file and add it again."
    return f"Correct what it was given, then run the command again; `tickwork job {job.id}` shows the attempt."


def read_version(client: Tickwork, passport_document_id: UUID | str, version_id: str, seconds: float) -> Row:
    """The version of a document once its facts have been taken. Raises if it was rejected."""
    give_up_at = time.monotonic() + seconds
    while True:
        versions = client.passport_documents.list_document_versions(
            passport_document_id=passport_document_id, max_rows=1000
        )
        version = next(row for row in versions if str(row["id"]) == version_id)
        if version["status"] == "rejected":
            raise InvalidRequest(f"the document is rejected: {version['error_code']} {version['error_message']}")
        if version["status"] != "uploaded":
            return version
        if time.monotonic() > give_up_at:
            raise InvalidRequest(f"its facts have not been taken after {seconds:.0f} s", hint="Is a worker running?")
        time.sleep(LOOK_SECONDS)


def signed_version(client: Tickwork, passport_id: UUID | str, version_id: str, seconds: float) -> Row:
    """The version once it is signed and has its QR code."""
    give_up_at = time.monotonic() + seconds
    while True:
        version = client.passports.get_passport_version(version_id)
        if version["qr_payload"]:
            return version
        if time.monotonic() > give_up_at:
            why = client.passports.explain_passport(passport_id)
            raise InvalidRequest(f"the version is not signed after {seconds:.0f} s", hint=why)
        time.sleep(LOOK_SECONDS)


def signed_status_list(client: Tickwork, tenant_id: UUID | str | None, seconds: float) -> Row:
    """With all that was revoked or superseded before it was asked for."""
    for status in ("queued", "running"):
        for job in client.jobs.list_jobs(tenant_id=tenant_id, type="sign_status_list", status=status):
            finished_job(client, job.id, seconds)
    found = client.passports.passport_status_list(tenant_id)
    if found is None:
        raise InvalidRequest("there is no status list yet", hint="The first revoked or superseded version makes one.")
    return found
