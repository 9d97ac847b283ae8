"""What the fixture `tickwork` is: the queue of one test, its tenants, and time that passes when the test says so."""

import json
from collections.abc import Mapping
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from functools import cached_property
from types import TracebackType
from typing import Any, Self
from uuid import UUID, uuid4

import psycopg
from psycopg import sql
from psycopg.rows import dict_row

from tickwork import client
from tickwork.cli.project import Project
from tickwork.database.adoption import Adopted, members_in, tenants_in
from tickwork.database.connection import Connection, Database
from tickwork.errors import InvalidRequest
from tickwork.jobs.rows import Job, Receipt
from tickwork.testing.moving_time import MovingTime
from tickwork.testing.ran import Ran
from tickwork.testing.run import run_due

TIMES = ("run_at", "lease_expires_at", "cancel_requested_at", "created_at", "started_at", "finished_at")


class Tickwork:
    """The queue of one test, in a database of its own.

    `client` is an application's way in, with a resource each for jobs, schedules, triggers, webhooks and so on.
    `database` is a connection of the operator, who sees and may do everything; its rows are dicts.
    """

    def __init__(self, project: Project, url: str, worker_url: str) -> None:
        self.url = url
        self.worker_url = worker_url
        self.project = project
        self._tenants: list[UUID] = []
        self._cleanup = ExitStack()

    def __enter__(self) -> Self:
        self.database: Connection = self._cleanup.enter_context(connected(self.url))
        self.client = client.Tickwork(self._closed_at_the_end(Database(self.url, "tickwork tests")))
        self._worker = self._closed_at_the_end(Database(self.worker_url, "tickwork tests"))
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._cleanup.close()

    @property
    def tenant_id(self) -> UUID:
        """The first tenant of the test, whose jobs they are if none is named; created if there is none."""
        return self._tenants[0] if self._tenants else self.tenant()

    def tenant(self, name: str | None = None, **columns: Any) -> UUID:
        """Create a tenant. `columns` are others of your own table of tenants."""
        table = self.project.tenants or tenants_in("organizations")
        key, *named = table.columns
        row = {column: name or f"tenant {len(self._tenants) + 1}" for column in named}
        tenant_id: UUID = self._insert(table, {**row, **columns}, key, "tickwork.tenant")
        self._tenants.append(tenant_id)
        return tenant_id

    def member_of(self, *tenants: UUID, role: str = "member", **columns: Any) -> Connection:
        """A connection of a new member of these tenants, who may see and do what row-level security allows.

        `columns` are others of your own table of members.
        """
        table = self.project.members or members_in("memberships")
        user_id = uuid4()
        for tenant_id in tenants:
            row = dict(zip(table.columns, (tenant_id, user_id, role), strict=False))
            self._insert(table, {**row, **columns}, table.columns[1], "tickwork.member_of")
        return self._cleanup.enter_context(connected(self.url, "authenticated", user_id))

    def enqueue(
        self, type: str, payload: Mapping[str, Any] | None = None, *, tenant: UUID | None = None, **options: Any
    ) -> Job:
        """Enqueue a job. `options` are those of `client.jobs.enqueue_job`, such as `run_at` or `dedupe_key`."""
        if isinstance(options.get("run_at"), datetime):
            options["run_at"] -= self._time.ahead
        return self.job(self.client.jobs.enqueue_job(tenant or self.tenant_id, type, payload, **options).id)

    def emit(
        self,
        type: str,
        payload: Mapping[str, Any] | None = None,
        *,
        aggregate: str | None = None,
        tenant: UUID | None = None,
    ) -> UUID:
        """Emit an event, for triggers and webhooks. Returns its id."""
        return self.client.events.emit_event(tenant or self.tenant_id, type, aggregate, payload)

    def job(self, job: Job | Receipt | UUID | str) -> Job:
        """The job as it is now."""
        return self._as_seen(self.client.get(job if isinstance(job, UUID | str) else job.id))

    def enqueued(self, type: str) -> list[Job]:
        """All jobs of a type, whatever their status, in the order in which they were enqueued."""
        if not self.database.execute("select from public.job_types where key = %s", [type]).fetchall():
            raise InvalidRequest(f"there is no type {type!r}", hint="Is its migration in the folder migrations?")
        rows = self.database.execute("select * from public.jobs where type = %s order by created_at, id", [type])
        return [self._as_seen(Job(**row)) for row in rows]

    def run_due(self, *, raises: bool = True) -> Ran:
        """Run all jobs that are due, and those that become due by that, of all families, as a worker does.

        An exception that a handler does not raise on purpose is raised here, after all jobs have run; without
        `raises` it is only in the report, and the job is tried again as it would be in production.
        """
        __tracebackhide__ = True
        ran = run_due(self.project.families(), self.client, self._worker)
        if raises and (unexpected := ran.unexpected()):
            first = unexpected[0]
            error = first.error or AssertionError(first.exception or first.message)
            error.add_note(f"This ended attempt {first.attempt} of job {first.job_id} of the type {first.type}.")
            raise error
        return ran

    def now(self) -> datetime:
        """The time, as far as the queue is concerned."""
        return datetime.now(UTC) + self._time.ahead

    def at(self, time: datetime | timedelta) -> None:
        """Let time pass until then, or for so long: jobs become due, leases and pauses end, schedules start their jobs.

        The records of the queue are moved into the past for that; the clock that your code reads stays as it is.
        """
        until = self.now() + time if isinstance(time, timedelta) else time
        if until.tzinfo is None:
            raise ValueError(f"{until} has no time zone: pass one, such as datetime(2030, 1, 31, 7, tzinfo=UTC)")
        if until < self.now():
            raise ValueError(f"{until} is in the past: time only goes forward")
        self._time.go_to(until)

    @cached_property
    def _time(self) -> MovingTime:
        return MovingTime(self.database)

    def _as_seen(self, job: Job) -> Job:
        """With the times that it would have if time had really passed."""
        times = {name: getattr(job, name) for name in TIMES}
        return job.model_copy(update={name: time and time + self._time.ahead for name, time in times.items()})

    def _insert(self, table: Adopted, row: Mapping[str, Any], key: str, method: str) -> Any:
        names, marks = map(sql.Identifier, row), map(sql.Placeholder, row)
        given = sql.SQL("({}) values ({})").format(sql.SQL(", ").join(names), sql.SQL(", ").join(marks))
        statement = sql.SQL("insert into {} {} returning {} as key").format(
            sql.Identifier(*table.table.split(".")), given if row else sql.SQL("default values"), sql.Identifier(key)
        )
        try:
            (inserted,) = self.database.execute(statement, dict(row)).fetchall()
        except psycopg.errors.NotNullViolation as error:
            column = error.diag.column_name
            hint = f"Pass its other columns: {method}(…, {column}=…)."
            raise InvalidRequest(f"{table.table} needs more than tickwork knows: {error}", hint=hint) from None
        return inserted["key"]

    def _closed_at_the_end(self, database: Database) -> Database:
        self._cleanup.callback(database.close)
        return database


def connected(url: str, role: str | None = None, user_id: UUID | None = None) -> Connection:
    """A connection of the operator, or as PostgREST would make it for a role and a user."""
    connection = psycopg.connect(url, autocommit=True, row_factory=dict_row)
    if user_id:
        claims = json.dumps({"sub": str(user_id), "role": role})
        connection.execute("select set_config('request.jwt.claims', %s, false)", [claims])
    if role:
        connection.execute(sql.SQL("set role {}").format(sql.Identifier(role)))
    return connection
