"""Runs what is due, with the handlers and the runtime of a worker, and keeps the exceptions."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from itertools import count
from pathlib import Path
from typing import Any
from uuid import UUID

from tickwork.cli.load_handlers import load_handlers
from tickwork.client import Tickwork
from tickwork.database.connection import Connection, Database
from tickwork.database.sql import Sql
from tickwork.jobs.handler import Handlers, Tools
from tickwork.jobs.outcomes import Done, Write
from tickwork.queue import Queue
from tickwork.runtime.deadline import Deadline
from tickwork.runtime.work import work
from tickwork.settings import load_settings
from tickwork.testing.ran import Failure, Ran

MAX_JOBS = 1000
NUMBERS = count(1)
DUE = "select distinct family from public.jobs where status = 'queued' and run_at <= clock_timestamp() order by family"
LEFT = "select id from public.jobs where status = 'queued' and run_at <= clock_timestamp() order by created_at, id"
FAILURES = """
    select
      attempts.job_id, jobs.type, attempts.number as attempt, attempts.error_code as code,
      attempts.error_message as message, exceptions.exception
    from public.job_attempts as attempts
    join public.jobs on jobs.id = attempts.job_id
    left join tickwork.exceptions on exceptions.job_id = attempts.job_id and exceptions.number = attempts.number
    where attempts.worker_id = %(worker_id)s
      and attempts.error_code is not null
    order by attempts.finished_at
"""

# By the job and the number of its attempt.
Errors = dict[tuple[UUID, int], BaseException]


def run_due(families: Mapping[str, Path], client: Tickwork, worker: Database) -> Ran:
    """Run everything that is due, and what becomes due by that."""
    settings = load_settings()
    queue = Queue(worker, f"test run {next(NUMBERS)}", settings.lease_seconds, settings.heartbeat_seconds)
    ran, errors = Ran(), Errors()
    while due := due_families(client, families):
        before = ran.total()
        for family in due:
            handlers = recorded(handlers_of(family, families[family]), errors)
            ran.update(work(queue, family, handlers, Deadline(float("inf"), MAX_JOBS)).ended)
        if ran.total() == before:
            break
        assert ran.total() < MAX_JOBS, f"{ran.total()} attempts, and more is due: does a job enqueue itself?"
    ran.failures = failures(client.database, queue.worker_id, errors)
    ran.left = {row["id"]: client.jobs.explain_job(row["id"]) for row in client.database.rows(LEFT, {})}
    return ran


def due_families(client: Tickwork, families: Mapping[str, Path]) -> list[str]:
    """Those with due jobs, after what a tick does: expired leases end, and events wake the jobs that wait for them."""
    client.maintenance.maintain()
    return [row["family"] for row in client.database.rows(DUE, {}) if row["family"] in families]


@cache
def handlers_of(family: str, folder: Path) -> Handlers:
    """Loaded once in a run of tests."""
    return load_handlers(family, folder)


def failures(database: Sql, worker_id: str, errors: Errors) -> list[Failure]:
    return [
        Failure(**row, error=errors.get((row["job_id"], row["attempt"])))
        for row in database.rows(FAILURES, {"worker_id": worker_id})
    ]


def recorded(handlers: Handlers, errors: Errors) -> Handlers:
    """The same handlers; what they raise is kept, too."""

    def recorded_one(handler: Callable[[Mapping[str, Any], Tools], Done]) -> Callable[[Mapping[str, Any], Tools], Done]:
        def run(payload: Mapping[str, Any], tools: Tools) -> Done:
            __tracebackhide__ = True
            try:
                done = handler(payload, tools)
            except BaseException as error:
                errors[tools.job_id, tools.attempt] = error
                raise
            return replace(done, writes=[recorded_write(each, tools, errors) for each in done.writes])

        return run

    return {type: recorded_one(handler) for type, handler in handlers.items()}


def recorded_write(write: Write, tools: Tools, errors: Errors) -> Write:
    def run(connection: Connection) -> None:
        __tracebackhide__ = True
        try:
            write(connection)
        except BaseException as error:
            errors[tools.job_id, tools.attempt] = error
            raise

    return run
