"""Where the waiting jobs of a family begin: claims step over nothing that was there before, and miss nothing."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg
import pytest

from tests.world import World
from tickwork.jobs.rows import ClaimedJob, Job

BEGINNING = datetime(1970, 1, 1, tzinfo=UTC)
TYPES = ["greet_person"]


def front(world: World) -> datetime:
    at = world.value(
        "select tickwork.front_at(pg_sequence_last_value(front)) from tickwork.family_types "
        "where family = 'test' limit 1"
    )
    assert isinstance(at, datetime)
    return at


def move_front(world: World) -> None:
    world.run("select tickwork.move_front('test', '-infinity', 1000)")


def hours_ago(hours: float) -> datetime:
    return datetime.now(UTC) - timedelta(hours=hours)


def test_a_front_is_at_the_first_job_of_all(world: World) -> None:
    world.type(), world.type("wave_hand")
    tenants = [world.tenant(), world.tenant()]
    firsts = {
        "of the highest priority": world.job("greet_person", tenants[0], priority=9, run_at=hours_ago(1)),
        "of a lower one": world.job("greet_person", tenants[0], priority=1, run_at=hours_ago(2)),
        "of another tenant": world.job("greet_person", tenants[1], run_at=hours_ago(3)),
        "of another type": world.job("wave_hand", tenants[1], run_at=hours_ago(4)),
    }

    seen = []
    for job in reversed(firsts.values()):
        move_front(world)
        seen.append(front(world))
        world.service.jobs.cancel_job(job.id)

    assert seen == [job.run_at for job in reversed(firsts.values())]


def test_a_front_stays_behind_jobs_that_are_being_enqueued(world: World) -> None:
    tenant, greet_person = world.tenant(), world.type()
    enqueuing = world.connect()
    enqueuing.autocommit = False
    row = enqueuing.execute("select id from enqueue_job(%s, %s)", [tenant, greet_person]).fetchone()

    move_front(world)
    enqueuing.commit()

    assert row is not None
    assert world.claim().id == row["id"]


@pytest.mark.parametrize("max_steps", [10, 1000])
def test_a_front_among_many_tenants_hides_nothing(world: World, max_steps: int) -> None:
    since = world.job(run_at=hours_ago(9000)).run_at
    move_front(world)
    world.run(
        "insert into tickwork.waiting (family, type, tenant_number, priority, run_at, job_id) "
        "select 'test', 'greet_person', number + 1000, 0, now() - number * interval '1 hour', gen_random_uuid() "
        "from generate_series(1, %s) as number",
        max_steps,
    )

    world.run("select tickwork.move_front('test', %s, %s)", since, max_steps)
    kept = front(world)
    world.run("select tickwork.move_front('test', '-infinity', %s)", max_steps)

    assert (kept, front(world)) == (since, BEGINNING)


@pytest.mark.parametrize("max_jobs", [1, 5])
def test_claims_move_the_front_now_and_then(world: World, max_jobs: int) -> None:
    job = world.job(run_at=hours_ago(1))
    world.run("select setval(turn, tickwork.packed(0, 0, 1023)) from tickwork.family_types where family = 'test'")

    claimed = world.queue.claim_jobs("test", max_jobs, types=TYPES)

    assert [each.id for each in claimed] == [job.id]
    assert front(world) == job.run_at


@pytest.mark.parametrize("max_jobs", [1, 5])
def test_a_claim_steps_over_nothing_that_was_there_before(world: World, max_jobs: int) -> None:
    tenant, greet_person = world.tenant(), world.type()
    reader = world.connect()
    reader.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
    reader.autocommit = False
    reader.execute("select count(*) from jobs")
    for minutes in range(10, 0, -1):
        world.run(
            "select count(*) from enqueue_jobs((select jsonb_agg(jsonb_build_object("
            "'tenant_id', %s::uuid, 'type', %s::text, 'run_at', now() - make_interval(mins => %s))) "
            "from generate_series(1, 200)))",
            *(tenant, greet_person, minutes),
        )
    for _ in range(9):
        world.queue.claim_jobs("test", 200)
    move_front(world)

    before = entries_read(world)
    world.rows("select id from claim_jobs('test', 'w', %s, types => %s)", max_jobs, TYPES)

    # There are 1,800 jobs no more.
    assert entries_read(world) - before < 100


def entries_read(world: World) -> int:
    """How many entries of the index of waiting jobs have been followed, also those of rows that are gone."""
    world.run("select pg_stat_force_next_flush()")
    count = world.value("select idx_tup_read from pg_stat_all_indexes where indexrelname = 'waiting_in_order'")
    assert isinstance(count, int)
    return count


def test_a_job_that_comes_in_while_others_move_the_front_is_found_by_maintain(world: World) -> None:
    tenant, greet_person = world.tenant(), world.type()
    enqueuing = world.connect()
    enqueuing.autocommit = False
    row = enqueuing.execute(
        "select id from enqueue_job(%s, %s, run_at => %s)", [tenant, greet_person, hours_ago(1)]
    ).fetchone()
    move_front(world)
    enqueuing.commit()
    assert front(world) > hours_ago(1)
    assert world.queue.claim_jobs("test", 1) == []

    world.service.maintenance.maintain()

    assert row is not None
    assert world.claim().id == row["id"]


HOLD = "select hold_lane('test', tenant_id, 'lane', now() + interval '1 hour') from jobs"
MAKE_DUE = "update tickwork.parked set run_at = now() - interval '1 hour', wake_at = now() - interval '1 hour'"


def parked(world: World) -> Job:
    return world.job(run_at=hours_ago(-1))


def held(world: World) -> Job:
    job = world.job(run_at=hours_ago(1), lane="lane")
    world.run(HOLD)
    return job


def running(world: World) -> ClaimedJob:
    return world.running_job(run_at=hours_ago(1))


def none(world: World) -> None:
    world.tenant(), world.type()


def enqueue(world: World, job: Any) -> None:
    world.job(run_at=hours_ago(1))


def insert(world: World, job: Any) -> None:
    row = world.row("select id from organizations")
    world.connect("service_role").execute(
        "insert into jobs (tenant_id, type, run_at) values (%s, 'greet_person', %s)", [row["id"], hours_ago(1)]
    )


def fail(world: World, job: Any) -> None:
    world.queue.fail_job(job, {"code": "E"}, retry_after_seconds=0)


def expire(world: World, job: Any) -> None:
    world.expire(job)


def wake_late(world: World, job: Any) -> None:
    world.run(MAKE_DUE)
    world.run("update tickwork.alarms set wake_at = now() - interval '1 hour'")


def release(world: World, job: Any) -> None:
    world.run("select release_lane('test', tenant_id, 'lane') from jobs")


def edit(world: World, job: Any) -> None:
    world.run("update jobs set run_at = now() - interval '1 hour'")


@pytest.mark.parametrize(
    ("before", "act"),
    [
        (none, enqueue),
        (none, insert),
        (running, fail),
        (running, expire),
        (parked, wake_late),
        (parked, edit),
        (held, release),
    ],
)
def test_an_old_job_is_found_at_once_whichever_way_it_comes(
    world: World, before: Callable[[World], Any], act: Callable[[World, Any], None]
) -> None:
    job = before(world)
    move_front(world)
    assert front(world) > hours_ago(0.5)

    act(world, job)

    claimed = world.claim()
    assert claimed.id == (job or claimed).id
