"""What tests are made of: tenants, members, types and jobs in a database of their own."""

import json
from contextlib import ExitStack
from types import TracebackType
from typing import Any, LiteralString, Self
from uuid import UUID, uuid4

import psycopg
from psycopg.rows import DictRow, dict_row

from tests.world.verb_queue import VerbQueue
from tickwork.client import Tickwork
from tickwork.database.connection import Connection, Database
from tickwork.jobs.rows import ClaimedJob, Job, JobFields
from tickwork.jobs.worked_job import WorkedJob
from tickwork.testing.fixture import connected


class World:
    """One database. `url` is the operator's way in, `worker_url` the worker's."""

    def __init__(self, url: str, worker_url: str) -> None:
        self.url = url
        self.worker_url = worker_url
        self._cleanup = ExitStack()

    def __enter__(self) -> Self:
        self.admin = self.connect()
        self.service = Tickwork(self._database(self.url))
        self.queue = VerbQueue(self._database(self.worker_url), "worker-1")
        self.other_queue = VerbQueue(self._database(self.worker_url), "worker-2")
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._cleanup.close()

    def connect(self, role: str | None = None, user_id: UUID | None = None) -> Connection:
        """A connection of its own, as the operator or as PostgREST would make it for a role and a user."""
        return self._cleanup.enter_context(connected(self.url, role, user_id))

    def connect_worker(self) -> Connection:
        return self._cleanup.enter_context(
            psycopg.connect(self.worker_url, autocommit=True, row_factory=dict_row, prepare_threshold=None)
        )

    def member_of(self, *tenants: UUID, role: str = "member") -> Connection:
        """The connection of a new user who is a member of these tenants."""
        user_id = uuid4()
        for tenant in tenants:
            self.run("insert into memberships (tenant_id, user_id, role) values (%s, %s, %s)", tenant, user_id, role)
        return self.connect("authenticated", user_id)

    def tenant(self, name: str = "acme") -> UUID:
        found: UUID = self.value("insert into organizations (name) values (%s) returning id", name)
        return found

    def type(self, key: str = "greet_person", family: str = "test", **columns: Any) -> str:
        values = {"key": key, "family": family, "enqueued_by": "member", **columns}
        names = ", ".join(values)
        marks = ", ".join(f"%({name})s" for name in values)
        for name, value in values.items():
            values[name] = json.dumps(value) if isinstance(value, list | dict) else value
        self.admin.execute(f"insert into job_types ({names}) values ({marks})", values)
        return key

    def job(self, type: str | None = None, tenant: UUID | None = None, **arguments: Any) -> Job:
        """A queued job; its type and tenant are made if there are none."""
        if type is None:
            known = self.value("select max(key) from job_types where family = 'test'")
            type = known or self.type()
        if tenant is None:
            tenant = self.value("select (array_agg(id order by created_at))[1] from organizations") or self.tenant()
        return self.reload(self.service.jobs.enqueue_job(tenant, type, **arguments))

    def claim(self, family: str = "test", lease_seconds: int | None = None) -> ClaimedJob:
        job = self.queue.claim_next_job(family, lease_seconds)
        assert job is not None
        return job

    def worked_job(self, lease_seconds: int | None = None) -> WorkedJob:
        """As the runtime claims it."""
        (job,) = self.queue.settle_and_claim([], [], family="test", max_jobs=1, lease_seconds=lease_seconds)[1]
        return job

    def running_job(self, **arguments: Any) -> ClaimedJob:
        job = self.job(**arguments)
        claimed = self.claim()
        assert claimed.id == job.id
        return claimed

    def reload(self, job: JobFields) -> Job:
        return Job(**self.row("select * from jobs where id = %s", job.id))

    def row_and_lease(self, job: JobFields) -> DictRow:
        """All that a refused call must leave as it was."""
        return self.row(
            "select jobs.*, to_jsonb(leases) as lease from jobs left join tickwork.leases on job_id = id where id = %s",
            job.id,
        )

    def held_jobs(self) -> list[ClaimedJob]:
        """What the workers of the running jobs were given."""
        rows = self.rows(
            "select jobs.*, token as lease_token, coalesce(traceparent, 'link ' || trace_link) as trace, "
            "tickwork.waited_ms(run_at, ready_at, started_at) as wait_ms "
            "from jobs join tickwork.leases on job_id = id order by id"
        )
        return [ClaimedJob(**row) for row in rows]

    def attempts(self, job: JobFields) -> list[DictRow]:
        """The attempts that have ended."""
        return self.rows("select * from job_attempts where job_id = %s and status <> 'running' order by number", job.id)

    def expire(self, job: JobFields) -> None:
        """Let the lease run out without waiting for it."""
        self.run("update jobs set lease_expires_at = clock_timestamp() - interval '1 second' where id = %s", job.id)

    def run(self, query: LiteralString, *parameters: Any) -> None:
        self.admin.execute(query, parameters)

    def rows(self, query: LiteralString, *parameters: Any) -> list[DictRow]:
        return self.admin.execute(query, parameters).fetchall()

    def row(self, query: LiteralString, *parameters: Any) -> DictRow:
        (row,) = self.rows(query, *parameters)
        return row

    def value(self, query: LiteralString, *parameters: Any) -> Any:
        (value,) = self.row(query, *parameters).values()
        return value

    def _database(self, url: str) -> Database:
        database = Database(url)
        self._cleanup.callback(database.close)
        return database
