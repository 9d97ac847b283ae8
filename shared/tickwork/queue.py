"""The worker's side of the queue: one method per SQL function, with the same name."""

from __future__ import annotations

import os
import secrets
import socket
from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any, Protocol
from uuid import UUID, uuid4

from psycopg.rows import DictRow

from tickwork.database.call import call, call_within
from tickwork.database.connection import Connection, Database
from tickwork.database.json_text import as_stored, storable
from tickwork.jobs.outcomes import Json
from tickwork.jobs.worked_job import WorkedJob
from tickwork.settings import Settings

# The statement of each job: everything in it is text, and its types are those of the parameters. What is behind the
# verb in public, which would be one function more.
SETTLE_AND_CLAIM = """
    select * from tickwork.settle_and_claim(
      job_ids => $1, lease_tokens => $2, results => $3, endings => $4, family => $5, worker_id => $6, max_jobs => $7,
      lease_seconds => $8, types => $9, new_token => $10
    )
"""


class Leased(Protocol):
    """A job that somebody holds."""

    @property
    def id(self) -> str | UUID: ...

    @property
    def lease_token(self) -> str | UUID: ...

    @property
    def lease_seconds(self) -> int | None: ...


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

    def settle_and_claim(
        self,
        job_ids: Sequence[str],
        lease_tokens: Sequence[str],
        results: Sequence[str | None] | None = None,
        endings: str | None = None,
        family: str | None = None,
        max_jobs: int = 0,
        lease_seconds: int | None = None,
        types: Iterable[str] | None = None,
        new_token: str | None = None,
    ) -> tuple[list[str | None], list[WorkedJob]]:
        """Settle some jobs and claim the next ones, of the types that the caller has handlers for, in one statement.

        Returns what became of each job that was to be settled, None where its lease was lost, and the claimed ones.
        """
        seconds = self.lease_seconds if lease_seconds is None else lease_seconds
        # Made here, because it costs the server more; but not for a claim that may be sent again.
        new_token = new_token or (secrets.token_hex(16) if job_ids else None)
        rows = self.database.tuples(
            SETTLE_AND_CLAIM,
            (
                f"{{{','.join(job_ids)}}}".encode(),
                f"{{{','.join(lease_tokens)}}}".encode(),
                array_of(results) if results else None,
                endings.encode() if endings else None,
                family.encode() if family else None,
                self.worker_id.encode(),
                str(max_jobs).encode(),
                str(seconds).encode() if seconds else None,
                None if types is None else array_of_types(tuple(types)),
                new_token.encode() if new_token else None,
            ),
            # A job that is settled and was settled before would look as if its lease were lost.
            repeatable=not job_ids,
        )
        statuses: list[str | None] = ["done"] * len(job_ids)
        # Only if one of them is not done.
        if rows and rows[0][1] is None:
            statuses = statuses_in(rows[0][0])
            del rows[0]
        return statuses, [WorkedJob._make((*row[1:], family)) for row in rows]

    def heartbeat_jobs(self, heartbeats: Sequence[Json]) -> list[DictRow]:
        return call(self.database, "heartbeat_jobs", heartbeats=as_stored(heartbeats))

    def maintain(self, every_seconds: float = 0.0) -> int:
        """The upkeep of all families, unless somebody did it within so many seconds."""
        return int(call(self.database, "maintain", every_seconds=every_seconds)[0]["maintain"])

    def hold_job(self, job: Leased, connection: Connection, traceparent: str | None = None) -> None:
        """Give this transaction access to the tenant's rows, and keep everybody else from settling the job."""
        call_within(connection, "hold_job", **lease_of(job), traceparent=traceparent)

    def hold_lane_of_job(self, job: Leased, delay_seconds: float = 60.0, reason: str | None = None) -> None:
        """Hold the whole lane of a running job, because the job has found out that it has to wait."""
        call(
            self.database,
            "hold_lane_of_job",
            **lease_of(job),
            delay_seconds=delay_seconds,
            reason=storable(reason),
        )

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


def lease_of(job: Leased) -> dict[str, Any]:
    return {"job_id": str(job.id), "lease_token": str(job.lease_token)}


def statuses_in(text: str | None) -> list[str | None]:
    """An array of Postgres as text; no status needs quotes."""
    return [None if each == "NULL" else each for each in text[1:-1].split(",")] if text else []


def array_of(values: Sequence[str | None]) -> bytes:
    return f"{{{','.join(['null' if each is None else quoted(each) for each in values])}}}".encode()


@cache
def array_of_types(types: tuple[str, ...]) -> bytes:
    return array_of(types)


def quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


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
