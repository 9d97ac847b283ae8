"""What an application does most, and the resources with everything else, each loaded when it is first used."""

from __future__ import annotations

import builtins
from collections.abc import AsyncIterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Unpack
from uuid import UUID

from tickwork.client.aio.way import Row, Way
from tickwork.client.job_options import JobOptions, ListFilter
from tickwork.client.json_values import in_json
from tickwork.errors import NotFinished

if TYPE_CHECKING:
    from tickwork.client.aio.alerts import Alerts
    from tickwork.client.aio.artifacts import Artifacts
    from tickwork.client.aio.audit import Audit
    from tickwork.client.aio.connectors import Connectors
    from tickwork.client.aio.documents import Documents
    from tickwork.client.aio.events import Events
    from tickwork.client.aio.facts import Facts
    from tickwork.client.aio.job_types import JobTypes
    from tickwork.client.aio.jobs import Jobs, Time
    from tickwork.client.aio.keys import Keys
    from tickwork.client.aio.members import Members
    from tickwork.client.aio.metrics import Metrics
    from tickwork.client.aio.passport_documents import PassportDocuments
    from tickwork.client.aio.passports import Passports
    from tickwork.client.aio.pauses import Pauses
    from tickwork.client.aio.rules import Rules
    from tickwork.client.aio.schedules import Schedules
    from tickwork.client.aio.signing_keys import SigningKeys
    from tickwork.client.aio.snapshots import Snapshots
    from tickwork.client.aio.triggers import Triggers
    from tickwork.client.aio.webhooks import Webhooks
    from tickwork.client.aio.workers import Workers
    from tickwork.jobs.outcomes import Json
    from tickwork.jobs.rows import EnqueuedJob, Job, Receipt


class Verbs:
    """Whoever names no tenant means `tenant_id` or, over HTTP, the only one that the caller may act for."""

    def __init__(self, way: Way, tenant_id: UUID | str | None = None) -> None:
        self._way = way
        self._tenant_id = tenant_id

    async def enqueue(
        self,
        type: str,
        payload: Json | None = None,
        *,
        tenant_id: UUID | str | None = None,
        **options: Unpack[JobOptions],
    ) -> EnqueuedJob:
        """The job; `deduplicated` says whether there was one with the same key already."""
        return await self.jobs.enqueue_job(tenant_id or self._tenant_id, type, payload, **options)

    async def enqueue_many(self, jobs: Sequence[Json]) -> builtins.list[Receipt]:
        """All of them or none. Each is an object with type, payload and the options of `enqueue`."""
        tenant = {"tenant_id": str(self._tenant_id)} if self._tenant_id else {}
        return await self.jobs.enqueue_jobs([{**tenant, **in_json(job)} for job in jobs])

    async def get(self, job_id: UUID | str) -> Job:
        return await self.jobs.get_job(job_id)

    async def list(self, *, page_size: int = 100, **chosen: Unpack[ListFilter]) -> AsyncIterator[Job]:
        """All jobs that match, the newest first, page by page as they are asked for."""
        last: UUID | None = None
        while True:
            page = await self.jobs.list_jobs(after_id=last, max_jobs=page_size, **chosen)
            for job in page:
                yield job
            if len(page) < page_size:
                return
            last = page[-1].id

    async def wait(self, job_id: Job | Receipt | UUID | str, timeout_seconds: float = 60.0) -> Job:
        """The job once it has ended, however it ended. Raises NotFinished, which says why, if it has not in time."""
        id = job_id if isinstance(job_id, UUID | str) else job_id.id
        async for latest in self.jobs.follow(id, timeout_seconds):
            if latest.finished_at is not None:
                return latest
        why = await self.jobs.explain_job(id)
        raise NotFinished(
            f"job {id} has not ended after {timeout_seconds:g} s: {why}", hint="Wait longer with timeout_seconds."
        )

    async def cancel(self, job_id: UUID | str) -> Job:
        return await self.jobs.cancel_job(job_id)

    async def retry(self, job_id: UUID | str, run_at: Time = None, max_attempts: int | None = None) -> Job:
        return await self.jobs.retry_job(job_id, run_at, max_attempts)

    async def explain(self, job_id: UUID | str) -> str:
        """Why it is not running, in a sentence."""
        return await self.jobs.explain_job(job_id)

    async def emit(
        self,
        type: str,
        payload: Json | None = None,
        *,
        aggregate: str | None = None,
        tenant_id: UUID | str | None = None,
    ) -> UUID:
        """Emit an event, for triggers and webhooks. Returns its id."""
        return await self.events.emit_event(tenant_id or self._tenant_id, type, aggregate, payload)

    async def search(self, query: str, *, tenant_id: UUID | str | None = None, **options: Any) -> builtins.list[Row]:
        """Passages of documents, the best first. `options` are those of `documents.search_chunks`."""
        return await self.documents.search_chunks(tenant_id or self._tenant_id, query, **options)

    async def close(self) -> None:
        """Close what was opened for this client; a connection or a client that was passed in stays open."""
        await self._way.close()

    @cached_property
    def jobs(self) -> Jobs:
        from tickwork.client.aio.jobs import Jobs

        return Jobs(self._way)

    @cached_property
    def schedules(self) -> Schedules:
        from tickwork.client.aio.schedules import Schedules

        return Schedules(self._way)

    @cached_property
    def triggers(self) -> Triggers:
        from tickwork.client.aio.triggers import Triggers

        return Triggers(self._way)

    @cached_property
    def documents(self) -> Documents:
        from tickwork.client.aio.documents import Documents

        return Documents(self._way)

    @cached_property
    def artifacts(self) -> Artifacts:
        from tickwork.client.aio.artifacts import Artifacts

        return Artifacts(self._way)

    @cached_property
    def signing_keys(self) -> SigningKeys:
        from tickwork.client.aio.signing_keys import SigningKeys

        return SigningKeys(self._way)

    @cached_property
    def passports(self) -> Passports:
        from tickwork.client.aio.passports import Passports

        return Passports(self._way)

    @cached_property
    def rules(self) -> Rules:
        from tickwork.client.aio.rules import Rules

        return Rules(self._way)

    @cached_property
    def passport_documents(self) -> PassportDocuments:
        from tickwork.client.aio.passport_documents import PassportDocuments

        return PassportDocuments(self._way)

    @cached_property
    def facts(self) -> Facts:
        from tickwork.client.aio.facts import Facts

        return Facts(self._way)

    @cached_property
    def snapshots(self) -> Snapshots:
        from tickwork.client.aio.snapshots import Snapshots

        return Snapshots(self._way)

    @cached_property
    def webhooks(self) -> Webhooks:
        from tickwork.client.aio.webhooks import Webhooks

        return Webhooks(self._way)

    @cached_property
    def connectors(self) -> Connectors:
        from tickwork.client.aio.connectors import Connectors

        return Connectors(self._way)

    @cached_property
    def job_types(self) -> JobTypes:
        from tickwork.client.aio.job_types import JobTypes

        return JobTypes(self._way)

    @cached_property
    def members(self) -> Members:
        from tickwork.client.aio.members import Members

        return Members(self._way)

    @cached_property
    def events(self) -> Events:
        from tickwork.client.aio.events import Events

        return Events(self._way)

    @cached_property
    def keys(self) -> Keys:
        from tickwork.client.aio.keys import Keys

        return Keys(self._way)

    @cached_property
    def pauses(self) -> Pauses:
        from tickwork.client.aio.pauses import Pauses

        return Pauses(self._way)

    @cached_property
    def workers(self) -> Workers:
        from tickwork.client.aio.workers import Workers

        return Workers(self._way)

    @cached_property
    def metrics(self) -> Metrics:
        from tickwork.client.aio.metrics import Metrics

        return Metrics(self._way)

    @cached_property
    def alerts(self) -> Alerts:
        from tickwork.client.aio.alerts import Alerts

        return Alerts(self._way)

    @cached_property
    def audit(self) -> Audit:
        from tickwork.client.aio.audit import Audit

        return Audit(self._way)
