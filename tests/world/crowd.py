"""Many jobs, many workers, and what they do at the same time."""

from collections import Counter
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from typing import Any, TypeVar
from uuid import UUID

from tests.world import World
from tests.world.verb_queue import VerbQueue
from tests.world.waiting import until
from tickwork.database.connection import Connection, Database
from tickwork.jobs.rows import ClaimedJob

T = TypeVar("T")
# When the queue looks at something again.
NOTED = [
    ("alarms", "wake_at"),
    ("parked", "wake_at"),
    ("lane_rules", "wake_at"),
    ("lane_rules", "held_until"),
    ("lane_rules", "held_since"),
    ("buckets", "filled_at"),
    ("blocked", "until"),
    ("family_types", "full_until"),
]


def enqueue(
    world: World, tenant: UUID, jobs: int, type: str = "greet_person", *, priority: int = 0, lane: str | None = None
) -> None:
    """So many jobs that are all alike, by one `enqueue_jobs`."""
    world.run(
        "select count(*) from enqueue_jobs((select jsonb_agg(jsonb_build_object("
        "'tenant_id', %s::uuid, 'type', %s::text, 'priority', %s::integer, 'lane', %s::text)) "
        "from generate_series(1, %s)))",
        *(tenant, type, priority, lane, jobs),
    )


def fill_by_hand(world: World, tenant: UUID, type: str, jobs: int) -> None:
    """As superuser and without the triggers: nobody hears of these jobs."""
    world.run("alter table jobs disable trigger user")
    world.run(
        "insert into jobs (tenant_id, type, family, priority, max_attempts) "
        "select %s, %s, 'test', 0, 4 from generate_series(1, %s)",
        *(tenant, type, jobs),
    )
    world.run("alter table jobs enable trigger user")


def claim_one_by_one(world: World, claims: int) -> list[ClaimedJob]:
    return [world.claim() for _ in range(claims)]


def claim_one_type(world: World, claims: int, type: str = "greet_person") -> list[ClaimedJob]:
    """One by one, of one type: by the scan that looks for nothing else."""
    jobs = [world.queue.claim_next_job("test", types=[type]) for _ in range(claims)]
    assert None not in jobs
    return [job for job in jobs if job]


def claim_in_batches(world: World, claims: int) -> list[ClaimedJob]:
    return [job for _ in range(claims // 100) for job in world.queue.claim_jobs("test", 100)]


def claim_all(world: World) -> list[ClaimedJob]:
    """Claim one by one until nothing more is to be had."""
    jobs = []
    while job := world.queue.claim_next_job("test"):
        jobs.append(job)
    return jobs


def shares(jobs: Iterable[ClaimedJob]) -> Counter[UUID]:
    return Counter(job.tenant_id for job in jobs)


def with_workers(world: World, workers: int, work: Callable[[VerbQueue], T]) -> list[T]:
    """What each of so many workers answers, all at work at the same time and each on a connection of its own."""

    def run(number: int) -> T:
        with closing(Database(world.worker_url)) as database:
            return work(VerbQueue(database, f"worker-{number}"))

    with ThreadPoolExecutor(workers) as pool:
        return list(pool.map(run, range(workers)))


def transaction(world: World) -> Connection:
    """A connection whose transaction stays open until it is told otherwise."""
    connection = world.connect()
    connection.autocommit = False
    return connection


def until_waiting_or_done(world: World, *futures: Future[Any]) -> None:
    """Until each of them has its answer or waits for somebody's lock."""

    def is_settled() -> bool:
        done = sum(future.done() for future in futures)
        waiting: int = world.value(
            "select count(*) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'"
        )
        return done + waiting >= len(futures)

    until(is_settled, "somebody neither waits nor gets an answer")


def let_time_pass(world: World, seconds: float) -> None:
    """Move what the queue has noted into the past instead of waiting."""
    for table, column in NOTED:
        world.admin.execute(f"update tickwork.{table} set {column} = {column} - make_interval(secs => %s)", [seconds])
