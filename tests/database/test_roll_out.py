"""What docs/guide/rolling-out.md promises: workers go on while the schema moves, and a restored database goes on."""

import os
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import psycopg
import pytest

from tests.database.test_privileges import broken_rules, unlisted_grants
from tests.world import World
from tests.world.agreement import disagreements
from tests.world.crowd import claim_all, with_workers
from tests.world.verb_queue import VerbQueue
from tests.world.waiting import until
from tickwork.database.migrate import migrate
from tickwork.errors import LeaseLost
from tickwork.testing.database import cloned
from tickwork_local.postgres import Server, embedded_binaries

BINARIES = Path(os.environ.get("TICKWORK_TEST_BINARIES") or embedded_binaries())

# What a later release may do without another version of the schema: functions anew, more columns. One table at a time:
# verbs use them in different orders, so that a transaction which changes two could deadlock with a verb.
FUNCTIONS_ANEW = """
    do $do$
    declare
      definition text;
    begin
      for definition in
        select pg_get_functiondef(oid) from pg_proc
        where pronamespace in ('public'::regnamespace, 'tickwork'::regnamespace) and prokind = 'f'
      loop
        execute definition;
      end loop;
    end
    $do$
"""
TABLES = ("public.job_types", "public.organizations", "tickwork.waiting", "tickwork.leases")
NEXT = (FUNCTIONS_ANEW, *(f"alter table {table} add column region text" for table in TABLES))
AND_BACK = tuple(f"alter table {table} drop column region" for table in TABLES)


def test_workers_go_on_while_the_next_schema_is_applied_and_taken_back(world: World) -> None:
    type = world.type()
    ended: list[bool] = []

    def work(queue: VerbQueue) -> int:
        done = 0
        while not ended:
            if job := queue.claim_next_job("test"):
                queue.heartbeat_job(job)
                queue.complete_job(job)
                done += 1
        return done

    def are_done(jobs: int) -> bool:
        return workers.done() or world.value("select count(*) from jobs where status = 'done'") == jobs

    with ThreadPoolExecutor(1) as pool:
        workers = pool.submit(with_workers, world, 2, work)
        try:
            for round, changes in enumerate([(), NEXT, AND_BACK, NEXT], start=1):
                # In the midst of work, with jobs that wait and run.
                for _ in range(10):
                    world.job(type)
                for change in changes:
                    world.admin.execute(change.encode())
                assert migrate(world.url) == []
                for _ in range(10):
                    world.job(type)
                until(partial(are_done, 20 * round))
        finally:
            ended.append(True)

    assert sum(workers.result()) == 80
    assert world.rows("select id from jobs where status <> 'done' or attempts <> 1") == []


# As the first release calls them. What came later, such as types, has to be optional.
FIRST_CALLS = {
    "heartbeat_job": "select heartbeat_job(%(id)s, %(lease_token)s)",
    "hold_job": "select hold_job(%(id)s, %(lease_token)s)",
    "complete_job": "select complete_job(%(id)s, %(lease_token)s, '{}')",
    "fail_job": "select fail_job(%(id)s, %(lease_token)s, '{}', true, 0)",
    "release_job": "select release_job(%(id)s, %(lease_token)s)",
    "settle_jobs": "select settle_jobs(jsonb_build_array(jsonb_build_object('job_id', %(id)s::uuid, 'lease_token', "
    "%(lease_token)s::uuid, 'status', 'done')))",
    "settle_and_claim": "select settle_and_claim(array[%(id)s::uuid], array[%(lease_token)s::uuid], null, null, "
    "'test', 'old', 1, 60)",
}
FIRST_CLAIMS = (
    "claim_next_job('test', 'old')",
    "claim_next_job('test', 'old', 60)",
    "claim_jobs('test', 'old', 1, 60)",
)


@pytest.mark.parametrize("claim", FIRST_CLAIMS)
@pytest.mark.parametrize("verb", FIRST_CALLS)
def test_a_worker_of_the_first_release_claims_and_settles(world: World, claim: str, verb: str) -> None:
    job = world.job()
    worker = world.connect_worker()

    (claimed,) = worker.execute(f"select * from {claim}").fetchall()
    worker.execute(FIRST_CALLS[verb], claimed)

    assert claimed["id"] == job.id
    expected = {"heartbeat_job": "running", "hold_job": "running", "fail_job": "queued", "release_job": "queued"}
    assert world.reload(job).status == expected.get(verb, "done")


@pytest.fixture
def restored(world: World, server: Server, tmp_path: Path) -> Iterator[World]:
    """A fresh database with what the other one has when this is asked for; its jobs are made by `populate`."""
    if not (BINARIES / "pg_dump").exists() or not (BINARIES / "pg_restore").exists():
        pytest.skip(f"{BINARIES} has no pg_dump and pg_restore")
    populate(world)
    dump = tmp_path / "dump"
    run("pg_dump", "--format=custom", f"--file={dump}", world.url)
    with cloned(server, "template0") as name:
        run("pg_restore", "--exit-on-error", f"--dbname={server.url(name)}", str(dump))
        with World(server.url(name), server.url(name, "tickwork_worker")) as fresh:
            yield fresh


def run(program: str, *arguments: str) -> None:
    subprocess.run([BINARIES / program, *arguments], check=True, capture_output=True, timeout=600)


def populate(world: World) -> None:
    """Jobs in every place where one can be, and a tenant whose turn is not over."""
    type = world.type(max_attempts=2)
    limited = world.type("wave_hand", max_running=1)
    acme, other = world.tenant(), world.tenant("other")
    world.run("update tenant_settings set weight = 3 where tenant_id = %s", acme)
    for tenant in (acme, other):
        for _ in range(4):
            world.job(type, tenant)
        world.job(limited, tenant)
    world.job(type, acme, run_at="2099-01-01", dedupe_key="later")
    world.service.pauses.hold_lane("test", other, "held", "infinity")
    world.job(type, other, lane="held")
    world.queue.complete_job(world.claim())
    world.queue.fail_job(world.claim(), {"code": "NO"}, retryable=False)
    world.claim(lease_seconds=3600)
    world.claim(lease_seconds=3600)


def state(world: World) -> dict[str, Any]:
    """What a claim goes by."""
    return {
        "jobs": world.rows("select * from jobs order by id"),
        "leases": world.rows("select * from tickwork.leases order by job_id"),
        "attempts": world.rows("select * from tickwork.attempts order by job_id, number"),
        "turn": world.value("select tickwork.read_turn('test')"),
        "tenants": world.rows("select * from tickwork.tenants order by number"),
        "holds": world.rows("select scope, held_until, reason from list_holds()"),
        "history": world.rows("select version from supabase_migrations.schema_migrations order by version"),
    }


def test_a_restored_database_is_the_same_and_needs_no_rebuild(world: World, restored: World) -> None:
    assert state(restored) == state(world)
    assert disagreements(restored) == []
    assert unlisted_grants(restored) == []
    assert list(broken_rules(restored)) == []
    assert migrate(restored.url) == []


def test_a_restored_database_goes_on_where_it_was(world: World, restored: World) -> None:
    settled, lost = world.held_jobs()

    # A worker that was cut off from the old server finds its lease in the new one.
    restored.queue.complete_job(settled)
    # The other one is gone for good.
    restored.expire(lost)
    again = restored.queue.claim_next_job("test")
    with pytest.raises(LeaseLost):
        restored.queue.complete_job(lost)
    assert again is not None
    while jobs := [*([again] if again else []), *claim_all(restored)]:
        for job in jobs:
            restored.queue.complete_job(job)
        again = None

    assert restored.reload(settled).attempts == 1
    assert (restored.reload(lost).status, restored.reload(lost).attempts) == ("done", 2)
    left = restored.rows("select lane, dedupe_key from jobs where status = 'queued' order by lane")
    assert left == [{"lane": "held", "dedupe_key": None}, {"lane": None, "dedupe_key": "later"}]


def test_tenants_take_their_turns_in_a_restored_database_as_in_the_old_one(world: World, restored: World) -> None:
    assert [job.id for job in claim_all(restored)] == [job.id for job in claim_all(world)]


def test_a_key_that_was_taken_is_taken_in_a_restored_database(restored: World) -> None:
    tenant = restored.value("select tenant_id from jobs where dedupe_key = 'later'")

    repeated = restored.service.jobs.enqueue_job(tenant, "greet_person", dedupe_key="later")
    with pytest.raises(psycopg.errors.UniqueViolation):
        restored.member_of(tenant).execute(
            "insert into jobs (tenant_id, type, dedupe_key) values (%s, 'greet_person', 'later')", [tenant]
        )

    assert repeated.deduplicated
