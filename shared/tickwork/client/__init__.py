"""The client for applications: `client = Client(Database(url))`, `client.wait(client.jobs.enqueue_job(...))`.

One file per resource, loaded when it is first used.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING
from uuid import UUID

from tickwork.database.connection import Database
from tickwork.errors import NotFinished

if TYPE_CHECKING:
    from tickwork.client.admins import Admins
    from tickwork.client.connectors import Connectors
    from tickwork.client.documents import Documents
    from tickwork.client.events import Events
    from tickwork.client.job_types import JobTypes
    from tickwork.client.jobs import Jobs
    from tickwork.client.maintenance import Maintenance
    from tickwork.client.members import Members
    from tickwork.client.pauses import Pauses
    from tickwork.client.schedules import Schedules
    from tickwork.client.secrets import Secrets
    from tickwork.client.tenants import Tenants
    from tickwork.client.triggers import Triggers
    from tickwork.client.webhooks import Webhooks
    from tickwork.jobs.rows import Job, Receipt


class Client:
    """Secrets are sealed with `secret_key`; without one they are stored in Supabase Vault, if there is one."""

    def __init__(self, database: Database, secret_key: str | None = None) -> None:
        self.database = database
        self._secret_key = secret_key

    def wait(self, job: Job | Receipt | UUID | str, timeout_seconds: float = 60.0) -> Job:
        """The job once it has ended, however it ended: at once if it was enqueued with notify, else within seconds.

        Raises NotFinished, which says why, if it has not ended in time.
        """
        id = job if isinstance(job, UUID | str) else job.id
        for latest in self.jobs.follow(id, timeout_seconds):
            if latest.finished_at is not None:
                return latest
        raise NotFinished(
            f"job {id} has not ended after {timeout_seconds:g} s: {self.jobs.explain_job(id)}",
            hint="Wait longer with timeout_seconds.",
        )

    @cached_property
    def jobs(self) -> Jobs:
        from tickwork.client.jobs import Jobs

        return Jobs(self.database)

    @cached_property
    def job_types(self) -> JobTypes:
        from tickwork.client.job_types import JobTypes

        return JobTypes(self.database)

    @cached_property
    def pauses(self) -> Pauses:
        from tickwork.client.pauses import Pauses

        return Pauses(self.database)

    @cached_property
    def schedules(self) -> Schedules:
        from tickwork.client.schedules import Schedules

        return Schedules(self.database)

    @cached_property
    def maintenance(self) -> Maintenance:
        from tickwork.client.maintenance import Maintenance

        return Maintenance(self.database)

    @cached_property
    def tenants(self) -> Tenants:
        from tickwork.client.tenants import Tenants

        return Tenants(self.database)

    @cached_property
    def members(self) -> Members:
        from tickwork.client.members import Members

        return Members(self.database)

    @cached_property
    def admins(self) -> Admins:
        from tickwork.client.admins import Admins

        return Admins(self.database)

    @cached_property
    def documents(self) -> Documents:
        from tickwork.client.documents import Documents

        return Documents(self.database)

    @cached_property
    def connectors(self) -> Connectors:
        from tickwork.client.connectors import Connectors

        return Connectors(self.database, self.secrets)

    @cached_property
    def webhooks(self) -> Webhooks:
        from tickwork.client.webhooks import Webhooks

        return Webhooks(self.database, self.secrets)

    @cached_property
    def events(self) -> Events:
        from tickwork.client.events import Events

        return Events(self.database)

    @cached_property
    def triggers(self) -> Triggers:
        from tickwork.client.triggers import Triggers

        return Triggers(self.database)

    @cached_property
    def secrets(self) -> Secrets:
        from tickwork.client.secrets import Secrets
        from tickwork.tools.secrets import SecretStore

        return Secrets(self.database, SecretStore(self._secret_key))
