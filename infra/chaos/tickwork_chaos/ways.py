"""The ways into the queue: one by one, in batches, and by inserts."""

import json
from collections.abc import Sequence
from uuid import UUID

import psycopg

from tickwork.client import Tickwork
from tickwork.database.connection import Connection, Database, connect
from tickwork_chaos.orders import Wanted
from tickwork_chaos.scene import Scene

NAME = "tickwork producer"


class Single:
    def __init__(self, url: str, scene: Scene) -> None:
        self._database = Database(url, NAME)
        self._jobs = Tickwork(self._database).jobs
        self._tenants = scene.tenants

    def __call__(self, orders: Sequence[Wanted]) -> list[UUID | None]:
        (one,) = orders
        job = self._jobs.enqueue_job(self._tenants[one.tenant], one.type, one.payload(), **one.options())
        return [job.id]

    def close(self) -> None:
        self._database.close()


class Batch(Single):
    def __call__(self, orders: Sequence[Wanted]) -> list[UUID | None]:
        jobs = [
            {
                "tenant_id": str(self._tenants[each.tenant]),
                "type": each.type,
                "payload": each.payload(),
                **each.options(),
            }
            for each in orders
        ]
        return [receipt.id for receipt in self._jobs.enqueue_jobs(jobs)]


class Insert:
    """As a Supabase client does it, on behalf of a member."""

    def __init__(self, url: str, scene: Scene) -> None:
        self._url = url
        self._scene = scene
        self._connection: Connection | None = None

    def __call__(self, orders: Sequence[Wanted]) -> list[UUID | None]:
        (one,) = orders
        if self._connection is None or self._connection.closed:
            self._connection = connect(self._url, NAME)
        values = {
            "tenant_id": self._scene.tenants[one.tenant],
            "type": one.type,
            "payload": json.dumps(one.payload()),
            **one.options(),
        }
        marks = ", ".join(f"%({name})s" for name in values)
        claims = json.dumps({"sub": str(self._scene.members[one.tenant]), "role": "authenticated"})
        try:
            with self._connection.transaction():
                self._connection.execute("select set_config('request.jwt.claims', %s, true)", [claims])
                self._connection.execute("set local role authenticated")
                query = f"insert into public.jobs ({', '.join(values)}) values ({marks}) returning id"
                row = self._connection.execute(query, values).fetchone()
        except psycopg.errors.UniqueViolation:
            # It is there from before, or a job that has its dedupe key is.
            return [None]
        assert row
        return [row["id"]]

    def close(self) -> None:
        if self._connection:
            self._connection.close()
