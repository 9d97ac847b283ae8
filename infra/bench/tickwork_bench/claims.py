"""Slices of claims in one session, in CPU time of the server. What they claim is settled in between."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any
from uuid import uuid4

import psycopg
from psycopg.rows import namedtuple_row

from tickwork.queue import SETTLE_AND_CLAIM
from tickwork_bench.contenders.tickwork import FAMILY, LEASE_SECONDS, TYPE, as_worker
from tickwork_bench.server_time import Metered

Connection = psycopg.Connection[Any]
WORKER = "bench"
# One start in 1,024 also moves the front: nearly every slice of this size has one of these.
JOBS_IN_A_SLICE = 1_000


class Claims:
    def __init__(self, connection: Connection, claim: Callable[[], Sequence[Any]]) -> None:
        self._connection = connection
        self._claim = claim
        self._held: list[Any] = []
        self._metered = Metered(connection, self._claim_more, JOBS_IN_A_SLICE)

    def microseconds(self) -> float:
        """CPU time per job of one slice. Its claims meet no more running jobs than those of the slice before."""
        took = self._metered.microseconds()
        assert not settle_and_claim(self._connection, self._held, 0), "a lease was lost"
        self._held = []
        return took

    def _claim_more(self) -> int:
        jobs = self._claim()
        self._held += jobs
        return len(jobs)


def connected(url: str) -> Connection:
    return psycopg.connect(url, autocommit=True, cursor_factory=psycopg.RawCursor, row_factory=namedtuple_row)


def as_a_worker(url: str, max_jobs: int) -> Claims:
    """What a worker sends when it has nothing to settle, with a token as when it has something."""
    connection = connected(as_worker(url))
    return Claims(connection, partial(settle_and_claim, connection, [], max_jobs))


def settle_and_claim(connection: Connection, held: Sequence[Any], max_jobs: int) -> Sequence[Any]:
    ids, tokens = [job.id for job in held], [job.lease_token for job in held]
    values = [ids, tokens, None, None, FAMILY, WORKER, max_jobs, LEASE_SECONDS, [TYPE], uuid4()]
    return connection.execute(SETTLE_AND_CLAIM, values, prepare=True).fetchall()
