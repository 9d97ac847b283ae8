"""The worker's side of the queue: one method per SQL function, with the same name."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import psycopg
from psycopg.rows import DictRow

from tickwork.database.call import call, call_within
from tickwork.database.connection import Connection, Database
from tickwork.database.json_text import as_given, as_stored, storable
from tickwork.errors import WriteFailed
from tickwork.jobs.outcomes import Json, Write
from tickwork.settings import Settings

if TYPE_CHECKING:
    from tickwork.jobs.rows import ClaimedJob, FollowUp, Job


class Queue:
    def __init__(
        self,
        database: Database,
        worker_id: str,
        lease_seconds: int | None = None,
        heartbeat_seconds: float | None = None,
    ) -> None:
        """Without a number of seconds, the type of each job decides."""
        self.database = database
        self.worker_id = worker_id
        self.lease_seconds = lease_seconds
        self.heartbeat_seconds = heartbeat_seconds

    def claim_next_job(
        self, family: str, lease_seconds: int | None = None, types: Iterable[str] | None = None
    ) -> ClaimedJob | None:
        """The next due job of the types that the caller has handlers for; None means all types."""
        rows = call(
            self.database,
            "claim_next_job",
            family=family,
            worker_id=self.worker_id,
            lease_seconds=self.lease_seconds if lease_seconds is None else lease_seconds,
            types=as_list(types),
        )
        return next(iter(claimed_jobs(rows)), None)

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
            types=as_list(types),
        )
        return claimed_jobs(rows)

    def heartbeat_job(self, job: ClaimedJob, progress: float | None = None, message: str | None = None) -> bool:
        """Extend the lease; True if cancel was requested."""
        (row,) = call(self.database, "heartbeat_job", **lease_of(job), progress=progress, message=storable(message))
        return bool(row["heartbeat_job"])

    def heartbeat_jobs(self, heartbeats: Sequence[Json]) -> list[DictRow]:
        return call(self.database, "heartbeat_jobs", heartbeats=as_stored(heartbeats))

    def maintain(self, every_seconds: float = 0.0) -> int:
        """The upkeep of all families, unless somebody did it within so many seconds."""
        return int(call(self.database, "maintain", every_seconds=every_seconds)[0]["maintain"])

    def hold_job(self, job: ClaimedJob, connection: Connection, traceparent: str | None = None) -> None:
        """Give this transaction access to the tenant's rows, and keep everybody else from settling the job."""
        call_within(connection, "hold_job", **lease_of(job), traceparent=traceparent)

    def hold_lane_of_job(self, job: ClaimedJob, delay_seconds: float = 60.0, reason: str | None = None) -> None:
        """Hold the whole lane of a running job, because the job has found out that it has to wait."""
        call(
            self.database,
            "hold_lane_of_job",
            **lease_of(job),
            delay_seconds=delay_seconds,
            reason=storable(reason),
        )

    def complete_job(
        self,
        job: ClaimedJob,
        result: Any = None,
        follow_ups: Sequence[FollowUp] = (),
        logs: str | None = None,
    ) -> Job:
        (row,) = call(
            self.database,
            "complete_job",
            **lease_of(job),
            result=as_stored(result),
            follow_ups=as_given([each.model_dump(mode="json") for each in follow_ups]) if follow_ups else None,
            logs=storable(logs),
        )
        return job_of(row)

    def fail_job(
        self,
        job: ClaimedJob,
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
        return job_of(row)

    def release_job(self, job: ClaimedJob, delay_seconds: float = 0.0) -> Job:
        (row,) = call(self.database, "release_job", **lease_of(job), delay_seconds=delay_seconds)
        return job_of(row)

    def note_worker(
        self,
        hostname: str,
        version: str = "",
        families: Sequence[str] = (),
        running_count: int = 0,
        uptime_seconds: float = 0.0,
        metadata: Json | None = None,
        is_stopped: bool = False,
    ) -> None:
        """Say that this worker is there; for people to read."""
        call(
            self.database,
            "note_worker",
            worker_id=self.worker_id,
            hostname=hostname,
            version=version,
            families=list(families),
            running_count=running_count,
            uptime_seconds=uptime_seconds,
            metadata=as_stored(metadata or {}),
            is_stopped=is_stopped,
        )

    def settle_jobs(self, outcomes: Sequence[Json], connection: Connection | None = None) -> list[DictRow]:
        """What became of each job; in the transaction of this connection, if one is given."""
        encoded = as_stored(outcomes)
        if connection:
            return call_within(connection, "settle_jobs", outcomes=encoded)
        return call(self.database, "settle_jobs", outcomes=encoded)

    def settle_and_claim(
        self,
        outcomes: Sequence[Json],
        family: str,
        max_jobs: int = 1,
        lease_seconds: int | None = None,
        types: Iterable[str] | None = None,
    ) -> tuple[list[DictRow], list[ClaimedJob]]:
        """Settle some jobs and claim the next ones in one round trip and one commit."""
        request = SettleAndClaim(outcomes)
        request.send(self, family, max_jobs, lease_seconds, types)
        return request.settled, request.claimed()


class SettleAndClaim:
    """One `settle_and_claim`, which may be encoded and decoded by a different thread from the one that sends it."""

    def __init__(self, outcomes: Sequence[Json]) -> None:
        self._outcomes = outcomes
        self._encoded = as_stored(outcomes)
        self._claimed = "[]"
        self.settled: list[DictRow] = []

    def send(
        self,
        queue: Queue,
        family: str,
        max_jobs: int,
        lease_seconds: int | None = None,
        types: Iterable[str] | None = None,
    ) -> None:
        (row,) = call(
            queue.database,
            "settle_and_claim",
            # Parsed in one step: making objects of the text, and jobs of these, takes three times as long.
            columns="settled, claimed::text",
            # Repeating it after a broken connection might claim jobs that nobody knows about.
            repeatable=False,
            outcomes=self._encoded,
            family=family,
            worker_id=queue.worker_id,
            max_jobs=max_jobs,
            lease_seconds=queue.lease_seconds if lease_seconds is None else lease_seconds,
            types=as_list(types),
        )
        self.settled, self._claimed = row["settled"], row["claimed"]

    def settle(self, queue: Queue) -> None:
        """Only that: nothing more is to be claimed."""
        if self._outcomes:
            self.settled = queue.settle_jobs(self._outcomes)

    def statuses(self) -> list[str | None]:
        """What became of the jobs, in the order of their outcomes; none of one that is no longer held."""
        found = {str(row["job_id"]): row["status"] for row in self.settled}
        return [found[outcome["job_id"]] for outcome in self._outcomes]

    def claimed(self) -> list[ClaimedJob]:
        from tickwork.jobs.rows import JOBS

        return JOBS.validate_json(self._claimed)


def lease_of(job: ClaimedJob) -> dict[str, Any]:
    return {"job_id": str(job.id), "lease_token": str(job.lease_token)}


def claimed_jobs(rows: list[DictRow]) -> list[ClaimedJob]:
    if not rows:
        return []
    # Imported late: a wake-up that finds nothing due does not need pydantic.
    from tickwork.jobs.rows import ClaimedJob

    return [ClaimedJob(**row) for row in rows]


def job_of(row: Mapping[str, Any]) -> Job:
    from tickwork.jobs.rows import Job

    return Job(**row)


def as_list(types: Iterable[str] | None) -> list[str] | None:
    return None if types is None else list(types)


def perform(write: Write, connection: Connection) -> None:
    try:
        write(connection)
    except psycopg.Error as error:
        # A deadlock or a full disk was nobody's fault: all of it is tried again, as when the connection breaks.
        if connection.broken or (error.sqlstate or "").startswith(("40", "53")):
            raise
        raise WriteFailed(str(error), sqlstate=error.sqlstate) from error


def queue_for(family: str, database: Database, settings: Settings) -> Queue:
    worker_id = settings.worker_id or worker_name(family)
    return Queue(database, worker_id, settings.lease_seconds, settings.heartbeat_seconds)


def worker_name(family: str) -> str:
    """A name for people to read: the revision or host, the process, and a random part."""
    place = os.environ.get("K_REVISION") or f"{family}@{socket.gethostname()}"
    return f"{place}:{os.getpid()}:{_life(os.getpid())}"


@cache
def _life(process: int) -> str:
    # All instances in the cloud have the same process id; every fork of this process has its own.
    return uuid4().hex[:8]
