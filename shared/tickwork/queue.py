"""The queue: one method per SQL function, of the same name."""

from __future__ import annotations

import json
import os
import socket
import time
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from functools import cache
from typing import TYPE_CHECKING, Any
from uuid import UUID, uuid4

import psycopg

from tickwork.database.connection import Connection, Database
from tickwork.errors import InvalidRequest, NoSuchJob, NotFinished, WriteFailed
from tickwork.jobs.outcomes import Json, Write

if TYPE_CHECKING:
    from tickwork.jobs.rows import Changed, ClaimedJob, EnqueuedJob, FollowUp, Job, Receipt

Time = datetime | str | None

# How often whoever waits for a job looks at it, should nothing be announced to him.
LOOK_SECONDS = 3.0

ENCODER = json.JSONEncoder(allow_nan=False, ensure_ascii=False)


class Queue:
    def __init__(self, database: Database, worker_id: str = "client") -> None:
        self.database = database
        self.worker_id = worker_id

    def enqueue_job(
        self,
        tenant_id: UUID | str,
        type: str,
        payload: Json | None = None,
        *,
        priority: int | None = None,
        run_at: datetime | str | None = None,
        idempotency_key: str | None = None,
        dedupe_key: str | None = None,
        lane: str | None = None,
        max_attempts: int | None = None,
        correlation_id: str | None = None,
        notify: bool = False,
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
        }
        arguments = {
            "tenant_id": tenant_id,
            "type": type,
            "payload": as_given({} if payload is None else payload),
            **{name: value for name, value in options.items() if value is not None},
        }
        check_integers(arguments)
        # One column to read instead of 33.
        query = f"select to_json({call('enqueue_job', arguments)})::text as job"
        # Without a key a repeat after a broken connection might enqueue the job twice.
        (row,) = self.database.rows(query, arguments, repeatable=idempotency_key is not None)
        from tickwork.jobs.rows import EnqueuedJob

        return EnqueuedJob.model_validate_json(row["job"])

    def enqueue_jobs(self, jobs: Sequence[Json]) -> list[Receipt]:
        """Enqueue all of them or none; a receipt for each, in their order."""
        arguments = {"jobs": as_given(jobs)}
        # Whole rows of a thousand jobs take longer to read than to write.
        query = statement("enqueue_jobs", arguments).replace("*", "id, deduplicated")
        from tickwork.jobs.rows import Receipt

        return [Receipt(**row) for row in self.database.rows(query, arguments, repeatable=False)]

    def claim_next_job(
        self, family: str, lease_seconds: int | None = None, types: Iterable[str] | None = None
    ) -> Job | None:
        """The next due job of the types that the caller has handlers for; None is all of them."""
        rows = self._call(
            "claim_next_job",
            family=family,
            worker_id=self.worker_id,
            lease_seconds=lease_seconds,
            types=as_list(types),
        )
        return job_of(rows[0]) if rows else None

    def claim_jobs(
        self, family: str, max_jobs: int, lease_seconds: int | None = None, types: Iterable[str] | None = None
    ) -> list[Job]:
        rows = self._call(
            "claim_jobs",
            family=family,
            worker_id=self.worker_id,
            max_jobs=max_jobs,
            lease_seconds=lease_seconds,
            types=as_list(types),
        )
        return [job_of(row) for row in rows]

    def heartbeat_job(self, job: ClaimedJob, progress: float | None = None, message: str | None = None) -> bool:
        """Extend the lease; True if cancel was asked for."""
        (row,) = self._call("heartbeat_job", **lease_of(job), progress=progress, message=storable(message))
        return bool(row["heartbeat_job"])

    def heartbeat_jobs(self, heartbeats: Sequence[Json]) -> list[dict[str, Any]]:
        return self._call("heartbeat_jobs", heartbeats=as_stored(heartbeats))

    def hold_job(self, job: ClaimedJob, connection: Connection) -> None:
        """Open the tenant's rows to this transaction, and keep everybody else from settling the job."""
        connection.execute(statement("hold_job", lease_of(job)), lease_of(job))

    def complete_job(
        self,
        job: ClaimedJob,
        result: Any = None,
        follow_ups: Sequence[FollowUp] = (),
        writes: Sequence[Write] = (),
        logs: str | None = None,
    ) -> Job:
        """Commit the result, the follow-ups and the writes together, or none of them."""
        arguments = {
            **lease_of(job),
            "result": as_stored(result),
            "follow_ups": as_given([each.model_dump(mode="json") for each in follow_ups]) if follow_ups else None,
            "logs": storable(logs),
        }
        if not writes:
            return job_of(self._call("complete_job", **arguments)[0])

        def write_and_complete(connection: Connection) -> Job:
            self.hold_job(job, connection)
            for write in writes:
                perform(write, connection)
            row = connection.execute(statement("complete_job", arguments), arguments).fetchone()
            assert row is not None
            return job_of(row)

        return self.database.transaction(write_and_complete)

    def fail_job(
        self,
        job: ClaimedJob,
        error: Json,
        retryable: bool = True,
        retry_after_seconds: float | None = None,
        logs: str | None = None,
        exit_code: int | None = None,
        stdout_tail: str | None = None,
        stderr_tail: str | None = None,
    ) -> Job:
        (row,) = self._call(
            "fail_job",
            **lease_of(job),
            error=as_stored(error),
            retryable=retryable,
            retry_after_seconds=retry_after_seconds,
            logs=storable(logs),
            exit_code=exit_code,
            stdout_tail=storable(stdout_tail),
            stderr_tail=storable(stderr_tail),
        )
        return job_of(row)

    def release_job(self, job: ClaimedJob, delay_seconds: float = 0.0) -> Job:
        (row,) = self._call("release_job", **lease_of(job), delay_seconds=delay_seconds)
        return job_of(row)

    def settle_jobs(self, outcomes: Sequence[Json]) -> list[dict[str, Any]]:
        return self._call("settle_jobs", outcomes=as_stored(outcomes))

    def settle_and_claim(
        self,
        outcomes: Sequence[Json],
        family: str,
        max_jobs: int = 1,
        lease_seconds: int | None = None,
        types: Iterable[str] | None = None,
    ) -> tuple[list[dict[str, Any]], list[ClaimedJob]]:
        """Settle some jobs and claim the next ones in one round trip and one commit."""
        exchange = Exchange(outcomes)
        exchange.send(self, family, max_jobs, lease_seconds, types)
        return exchange.settled(), exchange.claimed()

    def cancel_job(self, job_id: UUID | str) -> Job:
        return job_of(self._call("cancel_job", job_id=job_id)[0])

    def retry_job(
        self, job_id: UUID | str, run_at: datetime | str | None = None, max_attempts: int | None = None
    ) -> Job:
        arguments = {"job_id": job_id, "run_at": run_at, "max_attempts": max_attempts}
        return job_of(self._call("retry_job", repeatable=False, **arguments)[0])

    def bury_job(self, job_id: UUID | str, reason: str | None = None) -> Job:
        return job_of(self._call("bury_job", job_id=job_id, reason=reason)[0])

    def reschedule_job(self, job_id: UUID | str, run_at: datetime | str) -> Job:
        return job_of(self._call("reschedule_job", job_id=job_id, run_at=run_at)[0])

    def cancel_jobs(
        self,
        tenant_id: UUID | str | None = None,
        family: str | None = None,
        type: str | None = None,
        status: str | None = None,
        lane: str | None = None,
        error_code: str | None = None,
        created_after: Time = None,
        created_before: Time = None,
        max_jobs: int = 1000,
    ) -> Changed:
        return self._change(
            "cancel_jobs",
            tenant_id=tenant_id,
            family=family,
            type=type,
            status=status,
            lane=lane,
            error_code=error_code,
            created_after=created_after,
            created_before=created_before,
            max_jobs=max_jobs,
        )

    def retry_jobs(
        self,
        tenant_id: UUID | str | None = None,
        family: str | None = None,
        type: str | None = None,
        status: str | None = None,
        lane: str | None = None,
        error_code: str | None = None,
        created_after: Time = None,
        created_before: Time = None,
        run_at: Time = None,
        max_attempts: int | None = None,
        max_jobs: int = 1000,
    ) -> Changed:
        """Retry what is failed or dead; what is cancelled only if that is the status asked for."""
        return self._change(
            "retry_jobs",
            tenant_id=tenant_id,
            family=family,
            type=type,
            status=status,
            lane=lane,
            error_code=error_code,
            created_after=created_after,
            created_before=created_before,
            run_at=run_at,
            max_attempts=max_attempts,
            max_jobs=max_jobs,
        )

    def reschedule_jobs(
        self,
        run_at: datetime | str,
        tenant_id: UUID | str | None = None,
        family: str | None = None,
        type: str | None = None,
        status: str | None = None,
        lane: str | None = None,
        error_code: str | None = None,
        created_after: Time = None,
        created_before: Time = None,
        max_jobs: int = 1000,
    ) -> Changed:
        """Move what is queued, or has the status asked for, to another time."""
        return self._change(
            "reschedule_jobs",
            run_at=run_at,
            tenant_id=tenant_id,
            family=family,
            type=type,
            status=status,
            lane=lane,
            error_code=error_code,
            created_after=created_after,
            created_before=created_before,
            max_jobs=max_jobs,
        )

    def wait_for_job(self, job_id: UUID | str, timeout_seconds: float = 60.0) -> Job:
        """The job once it has ended: at once if it was enqueued with notify, or else within a few seconds."""
        give_up_at = time.monotonic() + timeout_seconds
        # Listens before it looks: what ends in between is announced.
        with self.database.listener("tickwork_done") as listener:
            while (job := self._job(job_id)).finished_at is None:
                seconds_left = give_up_at - time.monotonic()
                if seconds_left <= 0:
                    hint = f"`tickwork job {job_id}` says why. Wait longer with timeout_seconds."
                    raise NotFinished(f"job {job_id} is still {job.status} after {timeout_seconds:g} s", hint=hint)
                listener.wait_for(str(job.id), min(seconds_left, LOOK_SECONDS))
        return job

    def pause_jobs(
        self,
        family: str | None = None,
        type: str | None = None,
        tenant_id: UUID | str | None = None,
        reason: str | None = None,
    ) -> None:
        """Let no job of one family, type or tenant start until `resume_jobs`."""
        self._call("pause_jobs", family=family, type=type, tenant_id=tenant_id, reason=reason)

    def resume_jobs(
        self, family: str | None = None, type: str | None = None, tenant_id: UUID | str | None = None
    ) -> None:
        self._call("resume_jobs", family=family, type=type, tenant_id=tenant_id)

    def hold_lane(
        self, family: str, tenant_id: UUID | str, lane: str, held_until: datetime | str, reason: str | None = None
    ) -> None:
        """Let no job of the lane start before that time."""
        self._call("hold_lane", family=family, tenant_id=tenant_id, lane=lane, held_until=held_until, reason=reason)

    def hold_lane_of_job(self, job: ClaimedJob, delay_seconds: float = 60.0, reason: str | None = None) -> None:
        """Let the whole lane of a running job wait, because the job has learnt that it has to."""
        self._call("hold_lane_of_job", **lease_of(job), delay_seconds=delay_seconds, reason=storable(reason))

    def release_lane(self, family: str, tenant_id: UUID | str, lane: str) -> None:
        self._call("release_lane", family=family, tenant_id=tenant_id, lane=lane)

    def limit_lane(
        self,
        family: str,
        tenant_id: UUID | str,
        lane: str,
        max_running: int | None = None,
        starts_per_minute: int | None = None,
    ) -> None:
        """Give a lane limits of its own; without any it has none."""
        self._call(
            "limit_lane",
            family=family,
            tenant_id=tenant_id,
            lane=lane,
            max_running=max_running,
            starts_per_minute=starts_per_minute,
        )

    def list_holds(self) -> list[dict[str, Any]]:
        return self._call("list_holds")

    def reap_expired_leases(self) -> int:
        return int(self._call("reap_expired_leases")[0]["reap_expired_leases"])

    def rebuild_queue(self) -> int:
        """Make what the queue goes by anew from the jobs, after a restore; how many are queued."""
        return int(self._call("rebuild_queue", repeatable=False)[0]["rebuild_queue"])

    def purge_jobs(self, older_than: timedelta, batch_size: int = 1000) -> int:
        return int(self._call("purge_jobs", older_than=older_than, batch_size=batch_size)[0]["purge_jobs"])

    def list_jobs(
        self,
        tenant_id: UUID | str | None = None,
        family: str | None = None,
        type: str | None = None,
        status: str | None = None,
        after_id: UUID | str | None = None,
        max_jobs: int = 50,
        *,
        lane: str | None = None,
        source: str | None = None,
        error_code: str | None = None,
        key_starts_with: str | None = None,
        created_after: Time = None,
        created_before: Time = None,
        finished_after: Time = None,
        finished_before: Time = None,
        oldest_first: bool = False,
    ) -> list[Job]:
        rows = self._call(
            "list_jobs",
            tenant_id=tenant_id,
            family=family,
            type=type,
            status=status,
            after_id=after_id,
            max_jobs=max_jobs,
            lane=lane,
            source=source,
            error_code=error_code,
            key_starts_with=key_starts_with,
            created_after=created_after,
            created_before=created_before,
            finished_after=finished_after,
            finished_before=finished_before,
            oldest_first=oldest_first,
        )
        return [job_of(row) for row in rows]

    def queue_summary(self, tenant_id: UUID | str | None = None) -> list[dict[str, Any]]:
        return self._call("queue_summary", tenant_id=tenant_id)

    def explain_job(self, job_id: UUID | str) -> str:
        return str(self._call("explain_job", job_id=job_id)[0]["explain_job"])

    def _job(self, job_id: UUID | str) -> Job:
        rows = self.database.rows("select * from public.jobs where id = %(job_id)s", {"job_id": job_id})
        if not rows:
            raise NoSuchJob(f"job_id: there is no job {job_id}", sqlstate="TWJOB")
        return job_of(rows[0])

    def _change(self, function: str, **arguments: Any) -> Changed:
        # A repeat after a broken connection might change others than those it was limited to.
        (row,) = self._call(function, repeatable=False, **arguments)
        from tickwork.jobs.rows import Changed

        return Changed(**row)

    def _call(self, function: str, *, repeatable: bool = True, **arguments: Any) -> list[dict[str, Any]]:
        check_integers(arguments)
        return self.database.rows(statement(function, arguments), arguments, repeatable=repeatable)


class Exchange:
    """One `settle_and_claim`, which may be written and read by another thread than the one that sends it."""

    def __init__(self, outcomes: Sequence[Json]) -> None:
        self._outcomes = outcomes
        self._written = as_stored(outcomes)
        self._settled: list[dict[str, Any]] = []
        self._claimed = "[]"

    def send(
        self,
        queue: Queue,
        family: str,
        max_jobs: int,
        lease_seconds: int | None = None,
        types: Iterable[str] | None = None,
    ) -> None:
        arguments = {
            "outcomes": self._written,
            "family": family,
            "worker_id": queue.worker_id,
            "max_jobs": max_jobs,
            "lease_seconds": lease_seconds,
            "types": as_list(types),
        }
        check_integers(arguments)
        # Read from the text at once: to make objects of it, and jobs of these, takes three times as long.
        query = statement("settle_and_claim", arguments).replace("*", "settled, claimed::text")
        # A repeat after a broken connection might claim twice, and hold what nobody knows of.
        (row,) = queue.database.rows(query, arguments, repeatable=False)
        self._settled, self._claimed = row["settled"], row["claimed"]

    def settle(self, queue: Queue) -> None:
        """Only that: there is no room for more."""
        self._settled = queue.settle_jobs(self._outcomes)

    def settled(self) -> list[dict[str, Any]]:
        return self._settled

    def statuses(self) -> list[str | None]:
        """What became of the jobs, in the order of their outcomes."""
        found = {str(row["job_id"]): row["status"] for row in self._settled}
        return [found[outcome["job_id"]] for outcome in self._outcomes]

    def claimed(self) -> list[ClaimedJob]:
        from tickwork.jobs.rows import JOBS

        return JOBS.validate_json(self._claimed)


def job_of(row: Mapping[str, Any]) -> Job:
    # Not before there is one: a wake-up that finds nothing due does without pydantic.
    from tickwork.jobs.rows import Job

    return Job(**row)


def perform(write: Write, connection: Connection) -> None:
    try:
        write(connection)
    except psycopg.Error as error:
        if connection.broken:
            raise
        raise WriteFailed(str(error), sqlstate=error.sqlstate) from error


def statement(function: str, arguments: Iterable[str]) -> str:
    return f"select * from {call(function, arguments)}"


def call(function: str, arguments: Iterable[str]) -> str:
    return _call(function, tuple(arguments))


@cache
def _call(function: str, arguments: Sequence[str]) -> str:
    return f"public.{function}({', '.join([f'{name} => %({name})s' for name in arguments])})"


def check_integers(arguments: Mapping[str, Any]) -> None:
    for name, value in arguments.items():
        # The database would look for a function that takes larger numbers, and say that there is none.
        if isinstance(value, int) and abs(value) >= 2**31:
            raise InvalidRequest(f"{name}: {value} is out of range, it must fit into 32 bits", sqlstate="TWARG")


def as_list(types: Iterable[str] | None) -> list[str] | None:
    return None if types is None else list(types)


def lease_of(job: ClaimedJob) -> dict[str, Any]:
    return {"job_id": str(job.id), "lease_token": job.lease_token and str(job.lease_token)}


def as_given(value: Any) -> str:
    """What somebody wants enqueued goes in as it is, or not at all."""
    try:
        return as_text(value)
    except (ValueError, TypeError, RecursionError) as error:
        raise InvalidRequest(f"payload: is not JSON ({error})", sqlstate="TWPAY") from error


def as_stored(value: Any) -> str | None:
    """What a handler produced is stored without the characters that Postgres cannot hold."""
    if value is None:
        return None
    try:
        text = as_text(value)
        if "\\u0000" not in text:
            return text
    except (ValueError, TypeError, RecursionError):
        pass
    # Hardly ever: cleaning everything takes longer than all the rest.
    try:
        return as_text(storable(value))
    except (ValueError, TypeError, RecursionError) as error:
        raise InvalidRequest(f"result: is not JSON ({error})", sqlstate="TWPAY") from error


def as_text(value: Any) -> str:
    """JSON, which the database takes for what its parameter is."""
    text = ENCODER.encode(value)
    # Half a surrogate pair is no character.
    text.encode()
    return text


def storable(value: Any) -> Any:
    match value:
        case str():
            return value.replace("\x00", "").encode("utf-8", "replace").decode("utf-8")
        case Mapping():
            return {storable(key): storable(each) for key, each in value.items()}
        case list() | tuple():
            return [storable(each) for each in value]
        case _:
            return value


def worker_name(family: str) -> str:
    """Who works, for people to read: the revision or host, the process, and which one of its lives."""
    place = os.environ.get("K_REVISION") or f"{family}@{socket.gethostname()}"
    return f"{place}:{os.getpid()}:{_life(os.getpid())}"


@cache
def _life(process: int) -> str:
    # Every instance in the cloud has the same process number; every fork of this one has another.
    return uuid4().hex[:8]
