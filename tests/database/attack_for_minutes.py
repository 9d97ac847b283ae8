"""
A member with a hundred thousand jobs of every shape against one worker, for minutes: how long do others wait?

    make attack                 # ten minutes
    make attack ARGS=2          # two

First on a quiet queue and then under attack, another tenant enqueues one job a second. Exits with 1 if one of them
waits more than a second longer than 99 of 100 do on the quiet queue.
"""

import multiprocessing
import random
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import timedelta
from itertools import count
from tempfile import TemporaryDirectory
from threading import Event, Thread
from typing import LiteralString
from uuid import UUID, uuid4

import psycopg

from tests.world import World
from tests.world.verb_queue import settled_and_claimed
from tickwork.client import Tickwork
from tickwork.database.connection import Connection, Database
from tickwork.database.migrate import migrate
from tickwork.errors import QueueError
from tickwork.testing.database import open_to_all, roomy_memory
from tickwork_local.launch import die_with_parent
from tickwork_local.postgres import running_postgres

FAMILY = "test"
TYPES = ["greet_person", "wave_hand", "shake_hands"]
JOBS = 100_000
BATCH = 5_000
MAX_CLAIMED = 10
TICK_SECONDS = 10
SETTINGS = {"max_connections": "50", "shared_buffers": "256MB", "max_wal_size": "1GB", "log_min_messages": "fatal"}
TOLERATED_SECONDS = 1.0
# PostgREST lets nobody who is signed in take longer.
STATEMENT_TIMEOUT: LiteralString = "set statement_timeout = '8s'"

INSERT: LiteralString = """
    insert into jobs (tenant_id, type, payload, lane, priority, run_at, dedupe_key)
    select %(tenant)s, %(type)s, jsonb_build_object('text', repeat('x', %(length)s)),
      'lane ' || nullif(n %% (%(lanes)s + 1), 0), %(priority)s,
      clock_timestamp() + make_interval(secs => %(seconds_ahead)s * random()),
      case when %(has_keys)s then gen_random_uuid() end
    from generate_series(1, %(jobs)s) as n
"""
STEER: list[LiteralString] = [
    "select count(cancel_job(id)) "
    "from unnest(array(select id from jobs where status = 'queued' and run_at > clock_timestamp() limit %s)) as id",
    "select count(reschedule_job(id, clock_timestamp() + random() * interval '3 seconds')) "
    "from unnest(array(select id from jobs where status = 'queued' and run_at > clock_timestamp() limit %s)) as id",
    "select count(retry_job(id)) from unnest(array(select id from jobs where status = 'cancelled' limit %s)) as id",
]


def main(minutes: float) -> int:
    die_with_parent()
    with (
        TemporaryDirectory(prefix="tickwork-attack-", dir=roomy_memory()) as folder,
        running_postgres(open_to_all(folder) / "data", settings=SETTINGS) as server,
    ):
        migrate(server.url())
        with World(server.url(), server.url(user="tickwork_worker")) as world:
            return attack(world, minutes)


def attack(world: World, minutes: float) -> int:
    for type in TYPES:
        world.type(type, FAMILY)
    attacker, victim = world.tenant("attacker"), world.tenant("victim")
    with working(world, victim) as claimed_at:
        quiet = waits(world, victim, claimed_at, max(30, minutes * 6))
        with attacking(world, attacker):
            attacked = waits(world, victim, claimed_at, minutes * 60)
    jobs = world.value("select count(*) from jobs where tenant_id = %s", attacker)
    print(f"seconds from insert to claim, one job a second, beside {jobs} jobs of the attacker that are still there")
    for name, seconds in (("quiet", quiet), ("attacked", attacked)):
        p50, p99 = percentile(seconds, 50), percentile(seconds, 99)
        print(f"{name:>8}  p50 {p50:7.3f}  p99 {p99:7.3f}  max {max(seconds):7.3f}  ({len(seconds)} jobs)")
    return int(max(attacked) > percentile(quiet, 99) + TOLERATED_SECONDS)


def waits(world: World, tenant: UUID, claimed_at: dict[UUID, float], seconds: float) -> list[float]:
    """How long each job of the tenant waited; one that still waits at the end counts until then."""
    enqueued_at: dict[UUID, float] = {}
    start = time.monotonic()
    while (now := time.monotonic()) < start + seconds:
        enqueued_at[world.service.jobs.enqueue_job(tenant, random.choice(TYPES)).id] = now
        time.sleep(max(0, now + 1 - time.monotonic()))
    give_up_at = time.monotonic() + 10
    while enqueued_at.keys() - claimed_at.keys() and time.monotonic() < give_up_at:
        time.sleep(0.1)
    return [claimed_at.get(job, time.monotonic()) - at for job, at in enqueued_at.items()]


def percentile(seconds: list[float], percent: int) -> float:
    return sorted(seconds)[(len(seconds) - 1) * percent // 100]


@contextmanager
def working(world: World, watched: UUID) -> Iterator[dict[UUID, float]]:
    """One worker and the tick; when each job of the watched tenant was claimed."""
    claimed_at: dict[UUID, float] = {}
    is_over = Event()
    threads = [
        Thread(target=work, args=(world, watched, claimed_at, is_over)),
        Thread(target=tick, args=(world, is_over)),
    ]
    for thread in threads:
        thread.start()
    try:
        yield claimed_at
    finally:
        is_over.set()
        for thread in threads:
            thread.join()


def work(world: World, watched: UUID, claimed_at: dict[UUID, float], is_over: Event) -> None:
    done: list[dict[str, str]] = []
    while not is_over.is_set():
        try:
            _, jobs = settled_and_claimed(world.queue, done, FAMILY, MAX_CLAIMED)
        except QueueError as error:
            print(f"the worker got an error: {error}", flush=True)
            is_over.wait(0.1)
            continue
        now = time.monotonic()
        claimed_at |= {job.id: now for job in jobs if job.tenant_id == watched}
        done = [{"job_id": str(job.id), "lease_token": str(job.lease_token), "status": "done"} for job in jobs]
        if not jobs:
            is_over.wait(0.02)


def tick(world: World, is_over: Event) -> None:
    with closing(Database(world.url)) as database:
        client = Tickwork(database)
        while not is_over.wait(TICK_SECONDS):
            try:
                client.maintenance.maintain()
                client.maintenance.purge_jobs(timedelta(seconds=30), 10_000)
            except QueueError as error:
                print(f"the tick got an error: {error}", flush=True)


@contextmanager
def attacking(world: World, tenant: UUID) -> Iterator[None]:
    user_id = uuid4()
    world.run("insert into memberships (tenant_id, user_id, role) values (%s, %s, 'admin')", tenant, user_id)
    process = multiprocessing.get_context("spawn").Process(target=misbehave, args=(world.url, user_id, tenant))
    process.start()
    try:
        yield
        assert process.is_alive(), "the attacker has given up"
    finally:
        process.terminate()
        process.join()


def misbehave(url: str, user_id: UUID, tenant: UUID) -> None:
    """All that a member may do, as fast as it goes, until somebody ends this process."""
    die_with_parent()
    with World(url, url) as world:
        member = world.connect("authenticated", user_id)
        member.execute(STATEMENT_TIMEOUT)
        for number in count():
            act = insert if number < JOBS // BATCH else random.choice([insert, steer, steer])
            try:
                act(member, tenant)
            except psycopg.Error:
                # Refused: the tenant has all it may have queued, a job is done by now, or it took too long.
                if member.broken:
                    raise


def insert(member: Connection, tenant: UUID) -> None:
    is_long = random.random() < 0.1
    member.execute(
        INSERT,
        {
            "tenant": tenant,
            "type": random.choice(TYPES),
            "jobs": 100 if is_long else BATCH,
            "length": 65_000 if is_long else 10,
            "lanes": random.choice([0, 1, 100, BATCH]),
            "priority": random.choice([0, 50, 100]),
            "seconds_ahead": random.choice([0, 1, 10, 3600]),
            "has_keys": random.random() < 0.2,
        },
    )


def steer(member: Connection, tenant: UUID) -> None:
    member.execute(random.choice(STEER), [random.choice([1, 100, BATCH])])


if __name__ == "__main__":
    sys.exit(main(float(sys.argv[1]) if len(sys.argv) > 1 else 10))
