"""Jobs: one method per SQL function, with the same name, and some that read a job's rows."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from datetime import datetime
from itertools import chain, repeat
from typing import Any, Unpack
from uuid import UUID

from psycopg.rows import DictRow

from tickwork.client.job_filter import JobFilter
from tickwork.database.call import call
from tickwork.database.connection import Database
from tickwork.database.json_text import as_given
from tickwork.database.listener import listening
from tickwork.errors import NoSuchJob
from tickwork.jobs.outcomes import Json
from tickwork.jobs.rows import AfterWhen, Changed, EnqueuedJob, Job, Receipt

Time = datetime | str | None

# How long to wait before a job that is followed is read again, in case nothing is announced; the last one from then on.
LOOK_SECONDS = (0.1, 0.2, 0.4, 0.8, 1.0, 1.0, 1.0, 2.0)


class Jobs:
    def __init__(self, database: Database) -> None:
        self._database = database

    def enqueue_job(
        self,
        tenant_id: UUID | str,
        type: str,
        payload: Json | None = None,
        *,
        priority: int | None = None,
        run_at: Time = None,
        idempotency_key: str | None = None,
        dedupe_key: str | None = None,
        lane: str | None = None,
        max_attempts: int | None = None,
        correlation_id: str | None = None,
        notify: bool = False,
        after: Sequence[UUID | str] | None = None,
        after_when: AfterWhen | None = None,
    ) -> EnqueuedJob:
        options = {
            "priority": priority,
            "run_at": run_at,
            "idempotency_key": idempotency_key,
            "dedupe_key": dedupe_key,
            "lane": lane,
            "max_attempts": max_attempts,
            "correlation_id": correlation_id,
            "notify": notify or None,
            "after": None if after is None else [UUID(str(id)) for id in after],
            "after_when": after_when,
        }
        (row,) = call(
            self._database,
            "enqueue_job",
            # One column to read instead of 38.
            columns="to_json(enqueue_job)::text as job",
            # Without a key, repeating it after a broken connection might enqueue the job twice.
            repeatable=idempotency_key is not None,
            tenant_id=tenant_id,
            type=type,
            payload=as_given({} if payload is None else payload),
            **{name: value for name, value in options.items() if value is not None},
        )
        return EnqueuedJob.model_validate_json(row["job"])

    def enqueue_jobs(self, jobs: Sequence[Json]) -> list[Receipt]:
        """Enqueue all of them or none; returns a receipt for each, in their order."""
        # The whole rows of a thousand jobs would take longer to read than to write.
        columns = "id, deduplicated"
        rows = call(self._database, "enqueue_jobs", columns=columns, repeatable=False, jobs=as_given(jobs))
        return [Receipt(**row) for row in rows]

    def cancel_job(self, job_id: UUID | str) -> Job:
        return self._changed("cancel_job", job_id=job_id)

    def retry_job(self, job_id: UUID | str, run_at: Time = None, max_attempts: int | None = None) -> Job:
        return self._changed("retry_job", repeatable=False, job_id=job_id, run_at=run_at, max_attempts=max_attempts)

    def bury_job(self, job_id: UUID | str, reason: str | None = None) -> Job:
        return self._changed("bury_job", job_id=job_id, reason=reason)

    def reschedule_job(self, job_id: UUID | str, run_at: datetime | str) -> Job:
        return self._changed("reschedule_job", job_id=job_id, run_at=run_at)

    def cancel_jobs(self, *, max_jobs: int = 1000, **chosen: Unpack[JobFilter]) -> Changed:
        return self._change_many("cancel_jobs", max_jobs=max_jobs, **chosen)

    def retry_jobs(
        self,
        *,
        run_at: Time = None,
        max_attempts: int | None = None,
        max_jobs: int = 1000,
        **chosen: Unpack[JobFilter],
    ) -> Changed:
        """Retry failed and dead jobs; cancelled ones only if that is the status asked for."""
        return self._change_many("retry_jobs", run_at=run_at, max_attempts=max_attempts, max_jobs=max_jobs, **chosen)

    def reschedule_jobs(self, run_at: datetime | str, *, max_jobs: int = 1000, **chosen: Unpack[JobFilter]) -> Changed:
        """Make queued jobs, or those with the status asked for, due at another time."""
        return self._change_many("reschedule_jobs", run_at=run_at, max_jobs=max_jobs, **chosen)

    def list_jobs(
        self,
        *,
        after_id: UUID | str | None = None,
        max_jobs: int = 50,
        source: str | None = None,
        key_starts_with: str | None = None,
        finished_after: Time = None,
        finished_before: Time = None,
        oldest_first: bool = False,
        **chosen: Unpack[JobFilter],
    ) -> list[Job]:
        rows = call(
            self._database,
            "list_jobs",
            after_id=after_id,
            max_jobs=max_jobs,
            source=source,
            key_starts_with=key_starts_with,
            finished_after=finished_after,
            finished_before=finished_before,
            oldest_first=oldest_first,
            **chosen,
        )
        return [Job(**row) for row in rows]

    def queue_summary(self, tenant_id: UUID | str | None = None) -> list[DictRow]:
        return call(self._database, "queue_summary", tenant_id=tenant_id)

    def explain_job(self, job_id: UUID | str) -> str:
        return str(call(self._database, "explain_job", job_id=job_id)[0]["explain_job"])

    def get(self, job_id: UUID | str) -> Job:
        return Job(**self.row(job_id))

    def row(self, job_id: UUID | str) -> DictRow:
        """As it is in the table."""
        rows = self._database.rows("select * from public.jobs where id = %(job_id)s", {"job_id": job_id})
        if not rows:
            raise NoSuchJob(f"job_id: there is no job {job_id}", sqlstate="TWJOB")
        return rows[0]

    def attempts(self, job_id: UUID | str) -> list[DictRow]:
        query = "select * from public.job_attempts where job_id = %(job_id)s order by number"
        return self._database.rows(query, {"job_id": job_id})

    def exceptions(self, job_id: UUID | str) -> dict[int, str]:
        """For the operator: the exceptions that ended its attempts, by the numbers of these."""
        query = "select number, exception from tickwork.exceptions where job_id = %(job_id)s order by number"
        return {row["number"]: row["exception"] for row in self._database.rows(query, {"job_id": job_id})}

    def follow(self, job_id: UUID | str, timeout_seconds: float = 60.0) -> Iterator[Job]:
        """The job as it is, again and again, until it has ended or the time is over.

        Its end is seen at once if it was enqueued with notify, and within two seconds otherwise.
        """
        give_up_at = time.monotonic() + timeout_seconds
        pauses = chain(LOOK_SECONDS, repeat(LOOK_SECONDS[-1]))
        # Listens before it reads: if the job ends in between, that is announced.
        with listening(self._database, "tickwork_done") as listener:
            for pause in pauses:
                job = self.get(job_id)
                yield job
                seconds_left = give_up_at - time.monotonic()
                if job.finished_at is not None or seconds_left <= 0:
                    return
                listener.wait_for(str(job.id), min(seconds_left, pause))

    def _changed(self, function: str, /, *, repeatable: bool = True, **arguments: Any) -> Job:
        (row,) = call(self._database, function, repeatable=repeatable, **arguments)
        return Job(**row)

    def _change_many(self, function: str, /, **arguments: Any) -> Changed:
        # Repeating it after a broken connection might change more jobs than max_jobs.
        (row,) = call(self._database, function, repeatable=False, **arguments)
        return Changed(**row)
