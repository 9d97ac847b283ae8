# Written by `make client` from aio/workers.py: change that one.
"""The verbs of a worker that comes with an API key: one method per SQL function, with the same name."""

from collections.abc import Iterable, Sequence
from typing import Any
from uuid import UUID

from tickwork.client.json_values import as_stored_json
from tickwork.client.target import is_over_http
from tickwork.client.way import Row, Way
from tickwork.database.json_text import storable


class Workers:
    """Each call proves with the token of the lease that the job is still held; LeaseLost says that it is not."""

    def __init__(self, way: Way) -> None:
        self._way = way

    def worker_claim_jobs(
        self,
        family: str,
        worker_id: str,
        max_jobs: int = 1,
        lease_seconds: int | None = None,
        types: Iterable[str] | None = None,
        wait_seconds: int | None = None,
    ) -> list[Row]:
        """With wait_seconds, the HTTP API waits so long for a job to come, if it has a thread to spare."""
        given = {name: value for name, value in locals().items() if name not in ("self", "wait_seconds")}
        given["types"] = None if types is None else list(types)
        if wait_seconds is not None and is_over_http(self._way):
            given["wait_seconds"] = wait_seconds
        # Repeating it after a broken connection might claim jobs that nobody knows about.
        return self._way.rows("worker_claim_jobs", given, repeatable=False)

    def worker_heartbeat_job(
        self,
        job_id: UUID | str,
        lease_token: UUID | str,
        progress: float | None = None,
        message: str | None = None,
    ) -> bool:
        """Extend the lease; True if cancel was requested."""
        given = {
            "job_id": job_id,
            "lease_token": lease_token,
            "progress": progress,
            "message": storable(message),
        }
        (row,) = self._way.rows("worker_heartbeat_job", given)
        return bool(row["worker_heartbeat_job"])

    def worker_complete_job(
        self,
        job_id: UUID | str,
        lease_token: UUID | str,
        result: Any = None,
        follow_ups: Sequence[Any] | None = None,
        logs: str | None = None,
    ) -> Row:
        given = {
            "job_id": job_id,
            "lease_token": lease_token,
            "result": as_stored_json(result),
            "follow_ups": as_stored_json(follow_ups),
            "logs": storable(logs),
        }
        (row,) = self._way.rows("worker_complete_job", given)
        return row

    def worker_fail_job(
        self,
        job_id: UUID | str,
        lease_token: UUID | str,
        error: Any,
        retryable: bool = True,
        retry_after_seconds: float | None = None,
        logs: str | None = None,
        pid: int | None = None,
        exit_code: int | None = None,
        stdout_tail: str | None = None,
        stderr_tail: str | None = None,
        exception: str | None = None,
    ) -> Row:
        given = {name: storable(value) for name, value in locals().items() if name != "self"}
        given["error"] = as_stored_json(error)
        (row,) = self._way.rows("worker_fail_job", given)
        return row

    def worker_release_job(self, job_id: UUID | str, lease_token: UUID | str, delay_seconds: float = 0.0) -> Row:
        given = {"job_id": job_id, "lease_token": lease_token, "delay_seconds": delay_seconds}
        (row,) = self._way.rows("worker_release_job", given)
        return row

    def worker_settle_and_claim(
        self,
        outcomes: Sequence[Any],
        family: str,
        worker_id: str,
        max_jobs: int = 1,
        lease_seconds: int | None = None,
        types: Iterable[str] | None = None,
    ) -> Row:
        """What became of the jobs in `settled`, and the next ones in `claimed`."""
        given = {name: value for name, value in locals().items() if name != "self"}
        given |= {"outcomes": as_stored_json(outcomes), "types": None if types is None else list(types)}
        (row,) = self._way.rows("worker_settle_and_claim", given, repeatable=False)
        return row
