"""The verbs for one job, which the worker does not need: a method each, with the name of its SQL function."""

import json
from collections.abc import Iterable, Sequence
from typing import Any

from tickwork.database.call import call
from tickwork.database.json_text import as_given, as_stored, storable
from tickwork.jobs.outcomes import Json
from tickwork.jobs.rows import ClaimedJob, FollowUp, Job
from tickwork.jobs.worked_job import WorkedJob
from tickwork.queue import Leased, Queue, lease_of


class VerbQueue(Queue):
    def claim_next_job(
        self, family: str, lease_seconds: int | None = None, types: Iterable[str] | None = None
    ) -> ClaimedJob | None:
        rows = call(
            self.database,
            "claim_next_job",
            family=family,
            worker_id=self.worker_id,
            lease_seconds=self.lease_seconds if lease_seconds is None else lease_seconds,
            types=None if types is None else list(types),
        )
        return ClaimedJob(**rows[0]) if rows else None

    def claim_jobs(
        self, family: str, max_jobs: int, lease_seconds: int | None = None, types: Iterable[str] | None = None
    ) -> list[ClaimedJob]:
        rows = call(
            self.database,
            "claim_jobs",
            family=family,
            worker_id=self.worker_id,
            max_jobs=max_jobs,
            lease_seconds=self.lease_seconds if lease_seconds is None else lease_seconds,
            types=None if types is None else list(types),
        )
        return [ClaimedJob(**row) for row in rows]

    def heartbeat_job(self, job: Leased, progress: float | None = None, message: str | None = None) -> bool:
        """True if cancel was requested."""
        (row,) = call(self.database, "heartbeat_job", **lease_of(job), progress=progress, message=storable(message))
        return bool(row["heartbeat_job"])

    def complete_job(
        self, job: Leased, result: Any = None, follow_ups: Sequence[FollowUp] = (), logs: str | None = None
    ) -> Job:
        (row,) = call(
            self.database,
            "complete_job",
            **lease_of(job),
            result=as_stored(result),
            follow_ups=as_given([each.model_dump(mode="json") for each in follow_ups]) if follow_ups else None,
            logs=storable(logs),
        )
        return Job(**row)

    def fail_job(
        self,
        job: Leased,
        error: Json,
        retryable: bool = True,
        retry_after_seconds: float | None = None,
        logs: str | None = None,
        pid: int | None = None,
        exit_code: int | None = None,
        stdout_tail: str | None = None,
        stderr_tail: str | None = None,
        exception: str | None = None,
    ) -> Job:
        (row,) = call(
            self.database,
            "fail_job",
            **lease_of(job),
            error=as_stored(error),
            retryable=retryable,
            retry_after_seconds=retry_after_seconds,
            logs=storable(logs),
            pid=pid,
            exit_code=exit_code,
            stdout_tail=storable(stdout_tail),
            stderr_tail=storable(stderr_tail),
            exception=storable(exception),
        )
        return Job(**row)

    def release_job(self, job: Leased, delay_seconds: float = 0.0) -> Job:
        (row,) = call(self.database, "release_job", **lease_of(job), delay_seconds=delay_seconds)
        return Job(**row)


def settled_and_claimed(
    queue: Queue,
    outcomes: Sequence[Json],
    family: str,
    max_jobs: int = 1,
    lease_seconds: int | None = None,
    types: Iterable[str] | None = None,
) -> tuple[list[dict[str, Any]], list[ClaimedJob]]:
    """By settle_and_claim, with what settle_jobs and claim_jobs take and return."""
    ids = [each["job_id"] for each in outcomes]
    given = {"job_id", "lease_token", "result"}
    statuses, jobs = queue.settle_and_claim(
        ids,
        [each["lease_token"] for each in outcomes],
        [as_stored(each.get("result")) for each in outcomes],
        as_stored([{name: value for name, value in each.items() if name not in given} for each in outcomes]),
        family,
        max_jobs,
        lease_seconds,
        types,
    )
    settled = [
        {"job_id": id, "is_held": bool(status), "status": status} for id, status in zip(ids, statuses, strict=True)
    ]
    return settled, [claimed_job(job, queue.worker_id) for job in jobs]


def claimed_job(job: WorkedJob, worker_id: str) -> ClaimedJob:
    return ClaimedJob.model_validate({**job._asdict(), "payload": json.loads(job.payload), "worker_id": worker_id})
