"""Jobs: one method per SQL function, with the same name, and some that read a job again and again."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from datetime import datetime
from itertools import chain, repeat
from time import monotonic
from typing import Any, Unpack
from uuid import UUID

from tickwork.client.aio.way import Row, Way
from tickwork.client.job_options import JobFilter, ListFilter
from tickwork.client.json_values import as_json, ids
from tickwork.client.sending import CONVERSATION, sending
from tickwork.errors import NoSuchJob
from tickwork.jobs.outcomes import Json
from tickwork.jobs.rows import AfterWhen, Changed, EnqueuedJob, Job, Receipt

Time = datetime | str | None


class Jobs:
    def __init__(self, way: Way) -> None:
        self._way = way

    async def enqueue_job(
        self,
        tenant_id: UUID | str | None,
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
        traceparent: str | None = None,
    ) -> EnqueuedJob:
        """Over HTTP, None stands for the only tenant that the caller may act for."""
        options = {
            "priority": priority,
            "run_at": run_at,
            "idempotency_key": idempotency_key,
            "dedupe_key": dedupe_key,
            "lane": lane,
            "max_attempts": max_attempts,
            "correlation_id": correlation_id,
            "notify": notify or None,
            "after": None if after is None else ids(after),
            "after_when": after_when,
        }
        with sending(type, {"tickwork.tenant.id": str(tenant_id), CONVERSATION: correlation_id}) as sent:
            given = {
                "tenant_id": tenant_id,
                "type": type,
                "payload": as_json({} if payload is None else payload),
                **{name: value for name, value in options.items() if value is not None},
                **sent.argument(traceparent),
            }
            # Without a key, repeating it after a broken connection might enqueue the job twice.
            job = await self._way.one(EnqueuedJob, "enqueue_job", given, repeatable=idempotency_key is not None)
            sent.note(job)
        return job

    async def enqueue_jobs(self, jobs: Sequence[Json]) -> list[Receipt]:
        """Enqueue all of them or none; returns a receipt for each, in their order."""
        # The whole rows of a thousand jobs would take longer to read than to write.
        with sending("jobs", {"messaging.batch.message_count": len(jobs or ())}) as sent:
            if sent.traceparent:
                jobs = [{"traceparent": sent.traceparent, **job} for job in jobs]
            given = {"jobs": as_json(jobs)}
            rows = await self._way.rows("enqueue_jobs", given, columns="id, deduplicated", repeatable=False)
        return [Receipt(row["id"], row["deduplicated"]) for row in rows]

    async def cancel_job(self, job_id: UUID | str) -> Job:
        return await self._way.one(Job, "cancel_job", {"job_id": job_id})

    async def retry_job(self, job_id: UUID | str, run_at: Time = None, max_attempts: int | None = None) -> Job:
        given = {"job_id": job_id, "run_at": run_at, "max_attempts": max_attempts}
        return await self._way.one(Job, "retry_job", given, repeatable=False)

    async def bury_job(self, job_id: UUID | str, reason: str | None = None) -> Job:
        return await self._way.one(Job, "bury_job", {"job_id": job_id, "reason": reason})

    async def reschedule_job(self, job_id: UUID | str, run_at: datetime | str) -> Job:
        return await self._way.one(Job, "reschedule_job", {"job_id": job_id, "run_at": run_at})

    async def cancel_jobs(self, *, max_jobs: int = 1000, **chosen: Unpack[JobFilter]) -> Changed:
        return await self._change_many("cancel_jobs", {"max_jobs": max_jobs, **chosen})

    async def retry_jobs(
        self,
        *,
        run_at: Time = None,
        max_attempts: int | None = None,
        max_jobs: int = 1000,
        **chosen: Unpack[JobFilter],
    ) -> Changed:
        """Retry failed and dead jobs; cancelled ones only if that is the status asked for."""
        given = {"run_at": run_at, "max_attempts": max_attempts, "max_jobs": max_jobs, **chosen}
        return await self._change_many("retry_jobs", given)

    async def reschedule_jobs(
        self, run_at: datetime | str, *, max_jobs: int = 1000, **chosen: Unpack[JobFilter]
    ) -> Changed:
        """Make queued jobs, or those with the status asked for, due at another time."""
        return await self._change_many("reschedule_jobs", {"run_at": run_at, "max_jobs": max_jobs, **chosen})

    async def list_jobs(
        self, *, after_id: UUID | str | None = None, max_jobs: int = 50, **wanted: Unpack[ListFilter]
    ) -> list[Job]:
        """One page; `list` of the client reads all of them."""
        rows = await self._way.rows("list_jobs", {"after_id": after_id, "max_jobs": max_jobs, **wanted})
        return [Job(**row) for row in rows]

    async def queue_summary(self, tenant_id: UUID | str | None = None) -> list[Row]:
        return await self._way.rows("queue_summary", {"tenant_id": tenant_id})

    async def summarize_jobs(self, tenant_id: UUID | str | None = None) -> Row:
        (row,) = await self._way.rows("summarize_jobs", {"tenant_id": tenant_id})
        return row

    async def list_workers(self, tenant_id: UUID | str | None = None) -> list[Row]:
        """Whoever has running jobs."""
        return await self._way.rows("list_workers", {"tenant_id": tenant_id})

    async def queue_health(self) -> list[Row]:
        """Whether the queue works, check by check."""
        return await self._way.rows("queue_health", {})

    async def explain_job(self, job_id: UUID | str) -> str:
        (row,) = await self._way.rows("explain_job", {"job_id": job_id})
        return str(row["explain_job"])

    async def reveal_job(self, job_id: UUID | str, reason: str) -> Row:
        """Payload and result with all that is redacted in them: for platform admins, and kept on record."""
        (row,) = await self._way.rows("reveal_job", {"job_id": job_id, "reason": reason}, repeatable=False)
        return row

    async def get_job(self, job_id: UUID | str) -> Job:
        return Job(**await self.row(job_id))

    async def row(self, job_id: UUID | str) -> Row:
        """As it is in the table."""
        rows = await self._way.rows("get_job", {"job_id": job_id})
        if not rows or rows[0]["id"] is None:
            raise NoSuchJob(f"job_id: there is no job {job_id}", sqlstate="TWJOB")
        return rows[0]

    async def list_attempts(self, job_id: UUID | str) -> list[Row]:
        return await self._way.rows("list_attempts", {"job_id": job_id})

    async def find_matching_jobs(
        self,
        filter: Json | None = None,
        max_jobs: int = 50,
        after_id: UUID | str | None = None,
        oldest_first: bool = False,
    ) -> list[Job]:
        given = {"filter": as_json(filter or {}), "max_jobs": max_jobs, "oldest_first": oldest_first}
        rows = await self._way.rows("find_matching_jobs", {**given, "after_id": after_id})
        return [Job(**row) for row in rows]

    async def count_matching_jobs(self, filter: Json | None = None, at_most: int = 10_000) -> int:
        given = {"filter": as_json(filter or {}), "at_most": at_most}
        (row,) = await self._way.rows("count_matching_jobs", given)
        return int(row["count_matching_jobs"])

    async def list_errors(self, tenant_id: UUID | str | None = None, since: Time = None, steps: int = 24) -> list[Row]:
        given = {"tenant_id": tenant_id, "steps": steps, **({} if since is None else {"since": since})}
        return await self._way.rows("list_errors", given)

    async def estimate_start(self, job_id: UUID | str) -> Row | None:
        """When a queued job will probably start; None if it is not queued, or waits for others."""
        rows = await self._way.rows("estimate_start", {"job_id": job_id})
        return rows[0] if rows else None

    async def change_matching_jobs(
        self, action: str, filter: Json, reason: str, run_at: Time = None, max_attempts: int | None = None
    ) -> Job:
        """The job that changes them."""
        given = {"action": action, "filter": as_json(filter), "reason": reason}
        options = {"run_at": run_at, "max_attempts": max_attempts}
        return await self._way.one(Job, "change_matching_jobs", {**given, **options}, repeatable=False)

    async def list_steps(self, job_id: UUID | str) -> list[Row]:
        """What a handler that runs in steps has stored, in its order, and then what it waits for."""
        return await self._way.rows("list_steps", {"job_id": job_id})

    async def follow(self, job_id: UUID | str, timeout_seconds: float = 60.0) -> AsyncIterator[Job]:
        """The job as it is, again and again, until it has ended or the time is over.

        In a database, the end of a job that was enqueued with notify is seen at once, and others within two seconds.
        Over HTTP, the API waits for the end.
        """
        give_up_at = monotonic() + timeout_seconds
        # Listens before it reads: if the job ends in between, that is announced.
        async with self._way.watch() as watch:
            pauses = watch.pauses()
            for pause in chain(pauses, repeat(pauses[-1])):
                job = await self.get_job(job_id)
                yield job
                seconds_left = give_up_at - monotonic()
                if job.finished_at is not None or seconds_left <= 0:
                    return
                await watch.wait_for(str(job.id), min(seconds_left, pause))

    async def _change_many(self, function: str, given: dict[str, Any]) -> Changed:
        # Repeating it after a broken connection might change more jobs than max_jobs.
        (row,) = await self._way.rows(function, given, repeatable=False)
        return Changed(row["changed"], row["has_more"])
