"""tickwork's SQL functions called without its Python, for what is measured on the server alone."""

import json
from typing import Any
from uuid import uuid4

import psycopg

from tickwork_bench.contenders.tickwork import FAMILY, LEASE_SECONDS, TYPE, as_worker, tenants_in

SETTLE_AND_CLAIM = """
    select id, lease_token
    from tickwork.settle_and_claim(%s::uuid[], %s::uuid[], null, null, %s, %s, %s, %s, %s::text[], %s)
    where id is not null
"""
ENQUEUE_JOB = "select id from public.enqueue_job(%s::uuid, %s, %s::jsonb)"
ENQUEUE_JOBS = "select id from public.enqueue_jobs(%s::jsonb)"


class Calls:
    """One session that settles what it holds while it claims the next jobs, and one that enqueues."""

    def __init__(self, url: str) -> None:
        self.worker = psycopg.connect(as_worker(url), autocommit=True)
        self.sender = psycopg.connect(url, autocommit=True)
        self._tenant = str(tenants_in(url)[0])
        self._held: list[tuple[Any, ...]] = []

    def settle_and_claim(self, max_jobs: int) -> int:
        ids, tokens = [job[0] for job in self._held], [job[1] for job in self._held]
        values = [ids, tokens, FAMILY, "bench", max_jobs, LEASE_SECONDS, [TYPE], uuid4()]
        self._held = self.worker.execute(SETTLE_AND_CLAIM, values, prepare=True).fetchall()
        return len(self._held)

    def enqueue_one(self) -> int:
        values = [self._tenant, TYPE, json.dumps({"number": 1})]
        return len(self.sender.execute(ENQUEUE_JOB, values, prepare=True).fetchall())

    def enqueue_many(self, jobs: int) -> int:
        wanted = [{"tenant_id": self._tenant, "type": TYPE, "payload": {"number": number}} for number in range(jobs)]
        return len(self.sender.execute(ENQUEUE_JOBS, [json.dumps(wanted)], prepare=True).fetchall())
