"""tickwork itself, through the client and the runtime that its worker and its functions use."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from uuid import UUID

import psycopg
from pydantic import BaseModel

from tickwork.client import Tickwork
from tickwork.database.connection import Database
from tickwork.database.migrate import migrate
from tickwork.jobs.handler import Handler, Handlers, Tools
from tickwork.jobs.worked_job import WorkedJob
from tickwork.queue import Queue
from tickwork.runtime.deadline import Deadline
from tickwork.runtime.work import work
from tickwork.waking.rabbitmq import Broker
from tickwork.worker import Worker
from tickwork_bench.contenders import Sender
from tickwork_bench.measure import batches
from tickwork_bench.processes import Watch

FAMILY = "bench"
TYPE = "do_nothing"
# Long enough for no claimed job to come back while others are measured.
LEASE_SECONDS = 3600
NOWHERE = "postgresql://nobody@127.0.0.1:1/nowhere"

# In turn for one tenant after the other.
ENQUEUE = """
    select count(*)
    from public.enqueue_jobs((
      select jsonb_agg(jsonb_build_object(
        'tenant_id', (%(tenants)s::uuid[])[1 + n %% cardinality(%(tenants)s::uuid[])],
        'type', %(type)s::text,
        'payload', jsonb_build_object('number', n)
      ) order by n)
      from generate_series(%(first)s::integer, %(last)s::integer) as n
    ))
"""


class Nothing(BaseModel):
    number: int


def prepare(url: str, tenants: int = 1) -> None:
    migrate(url)
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("insert into public.job_types (key, family) values (%s, %s)", [TYPE, FAMILY])
        connection.execute(
            "insert into public.organizations (name) select 'tenant ' || n from generate_series(1, %s) as n", [tenants]
        )


def tenants_in(url: str) -> list[UUID]:
    with psycopg.connect(url) as connection:
        return [row[0] for row in connection.execute("select id from public.organizations order by id").fetchall()]


def fill(url: str, jobs: int, tenants: int) -> None:
    prepare(url, tenants)
    add(url, jobs)
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("vacuum analyze")


def add(url: str, jobs: int) -> None:
    ids = tenants_in(url)
    with psycopg.connect(url, autocommit=True) as connection:
        for batch in batches(jobs, 1000):
            values = {"tenants": ids, "type": TYPE, "first": batch[0], "last": batch[-1]}
            connection.execute(ENQUEUE, values)


def drain_one_at_a_time(url: str, watch: Watch) -> None:
    work(queue_at(as_worker(url)), FAMILY, handlers(watch), Deadline(float("inf"), 2**62))


def drain_many_at_a_time(url: str, watch: Watch, concurrency: int) -> None:
    deadline = Deadline(float("inf"), 2**62)
    work(queue_at(as_worker(url)), FAMILY, handlers(watch), deadline, concurrency=concurrency)


def listen(url: str, watch: Watch) -> None:
    Worker(queue_at(as_worker(url)), {FAMILY: handlers(watch)}, as_worker(url), 0).run()


def poll(url: str, watch: Watch, broker: Broker | None = None) -> None:
    """As behind a pooler: without notices of the database, but with those of a broker, if there is one."""
    Worker(queue_at(as_worker(url)), {FAMILY: handlers(watch)}, NOWHERE, 0, broker=broker).run()


def run_concurrently(url: str, watch: Watch, concurrency: int) -> None:
    queue = Queue(Database(as_worker(url), connections=concurrency + 1), "bench")
    Worker(queue, {FAMILY: handlers(watch)}, as_worker(url), 0, concurrency).run()


def handlers(watch: Watch) -> Handlers:
    def do_nothing(nothing: Nothing, tools: Tools) -> None:
        watch.tick()

    return {TYPE: Handler(Nothing, do_nothing)}


def claimer(url: str, max_jobs: int) -> Callable[[], int]:
    """What completes the jobs it claimed before, claims the next, and returns how many these are."""
    queue = queue_at(as_worker(url))
    held: list[WorkedJob] = []

    def settle_and_claim() -> int:
        nonlocal held
        held = settled_and_claimed(queue, held, max_jobs)
        return len(held)

    return settle_and_claim


def settled_and_claimed(queue: Queue, held: list[WorkedJob], max_jobs: int) -> list[WorkedJob]:
    ids, tokens = [job.id for job in held], [job.lease_token for job in held]
    return queue.settle_and_claim(ids, tokens, family=FAMILY, max_jobs=max_jobs, lease_seconds=LEASE_SECONDS)[1]


def done(job: WorkedJob) -> dict[str, str]:
    return {"job_id": job.id, "lease_token": job.lease_token, "status": "done"}


@contextmanager
def sender(url: str) -> Iterator[Sender]:
    (tenant,) = tenants_in(url)
    client = client_at(url)

    def one_by_one(jobs: int) -> None:
        for number in range(jobs):
            client.jobs.enqueue_job(tenant, TYPE, {"number": number})

    def in_bulk(jobs: int) -> None:
        client.jobs.enqueue_jobs(
            [{"tenant_id": str(tenant), "type": TYPE, "payload": {"number": number}} for number in range(jobs)]
        )

    yield Sender(one_by_one, in_bulk)
    client.database.close()


def queue_at(url: str) -> Queue:
    return Queue(connected(url), "bench")


def client_at(url: str) -> Tickwork:
    return Tickwork(connected(url))


def connected(url: str) -> Database:
    """So that nobody measures how long it takes to connect."""
    database = Database(url)
    database.rows("select 1", {})
    return database


def as_worker(url: str) -> str:
    """On the embedded server, which asks for no password, in the role that workers have."""
    return url.replace("//postgres@127.0.0.1", "//tickwork_worker@127.0.0.1")
