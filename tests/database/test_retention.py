"""How long jobs are kept: as their type says, else their tenant. Null is for ever."""

from datetime import timedelta
from typing import Any

import psycopg
import pytest

from tests.database.test_listing import full, rows_of
from tests.world import World
from tests.world.plans import nodes_of
from tickwork.jobs.rows import Job, JobFields

__all__ = ["full"]

STATUSES = ["done", "failed", "dead", "cancelled"]


def ended_job(world: World, status: str, days_ago: float, **arguments: Any) -> Job:
    """A job that ended so long ago, with an attempt that is worth a row."""
    job = world.running_job(max_attempts=1, **arguments)
    match status:
        case "done":
            world.queue.complete_job(job, logs="said something")
        case "failed":
            world.queue.fail_job(job, {"code": "X"}, retryable=False)
        case "dead":
            world.queue.fail_job(job, {"code": "X"})
        case "cancelled":
            world.service.jobs.cancel_job(job.id)
            world.queue.release_job(job)
    world.run(
        "update jobs set created_at = created_at - %s, finished_at = finished_at - %s where id = %s",
        timedelta(days=days_ago),
        timedelta(days=days_ago),
        job.id,
    )
    ended = world.reload(job)
    assert ended.status == status
    return ended


def tick(world: World) -> None:
    """As cron does it, half a minute after the last time."""
    world.run("update tickwork.family_types set purged_at = '-infinity'")
    world.service.maintenance.maintain()


def is_there(world: World, *jobs: JobFields) -> list[bool]:
    found = {row["id"] for row in world.rows("select id from jobs")}
    return [job.id in found for job in jobs]


@pytest.mark.parametrize("status", STATUSES)
def test_a_tenant_says_how_long_its_jobs_are_kept(world: World, status: str) -> None:
    tenant = world.tenant()
    world.admin.execute(f"update tenant_settings set keep_{status}_days = 7 where tenant_id = '{tenant}'")
    old, young = ended_job(world, status, 8), ended_job(world, status, 6)

    tick(world)

    assert is_there(world, old, young) == [False, True]


@pytest.mark.parametrize(("status", "days"), [("done", 30), ("failed", 90), ("dead", 90), ("cancelled", 30)])
def test_without_a_word_jobs_are_kept_for_a_month_or_three(world: World, status: str, days: int) -> None:
    old, young = ended_job(world, status, days + 1), ended_job(world, status, days - 1)

    tick(world)

    assert is_there(world, old, young) == [False, True]


@pytest.mark.parametrize("status", STATUSES)
def test_null_is_for_ever(world: World, status: str) -> None:
    tenant = world.tenant()
    world.admin.execute(f"update tenant_settings set keep_{status}_days = null where tenant_id = '{tenant}'")
    job = ended_job(world, status, 5000)

    tick(world)

    assert is_there(world, job) == [True]


@pytest.mark.parametrize("status", STATUSES)
def test_what_a_type_says_comes_first(world: World, status: str) -> None:
    short = world.type("greet_person", keep_days={status: 1})
    long = world.type("thank_person", keep_days={status: 1000})
    for_ever = world.type("keep_person", keep_days={status: None})
    jobs = [ended_job(world, status, 2, type=short), ended_job(world, status, 900, type=long)]
    jobs.append(ended_job(world, status, 5000, type=for_ever))

    tick(world)

    assert is_there(world, *jobs) == [False, True, True]


def test_what_a_type_does_not_mention_is_left_to_the_tenant(world: World) -> None:
    world.type(keep_days={"dead": 1})
    done, dead = ended_job(world, "done", 29), ended_job(world, "dead", 2)

    tick(world)

    assert is_there(world, done, dead) == [True, False]


def test_tenants_differ(world: World) -> None:
    short, long = world.tenant("short"), world.tenant("long")
    world.type()
    world.run("update tenant_settings set keep_done_days = 1 where tenant_id = %s", short)
    jobs = [ended_job(world, "done", 2, tenant=tenant) for tenant in (short, long)]

    tick(world)

    assert is_there(world, *jobs) == [False, True]


@pytest.mark.parametrize("status", STATUSES)
def test_attempts_go_with_their_job(world: World, status: str) -> None:
    job = ended_job(world, status, 100)
    assert len(world.attempts(job)) == 1

    tick(world)

    assert world.value("select count(*) from tickwork.attempts") == 0
    assert world.value("select count(*) from tickwork.unsuccessful") == 0


def test_what_has_not_ended_stays_however_old(world: World) -> None:
    running, queued = world.running_job(), world.job(run_at="2999-01-01")
    world.run("update jobs set created_at = created_at - interval '10 years'")

    tick(world)

    assert is_there(world, running, queued) == [True, True]


def test_zero_days_keep_a_job_until_the_next_tick(world: World) -> None:
    world.type(keep_days={"done": 0})
    job = ended_job(world, "done", 0)

    tick(world)

    assert is_there(world, job) == [False]


def test_more_than_a_portion_goes_tick_by_tick_and_then_from_the_start(world: World) -> None:
    tenant, type = world.tenant(), world.type()
    world.service.jobs.enqueue_jobs([{"tenant_id": str(tenant), "type": type} for _ in range(450)])
    for job in world.queue.claim_jobs("test", 450):
        world.queue.settle_jobs([{"job_id": str(job.id), "lease_token": str(job.lease_token), "status": "done"}])
    world.run("update jobs set created_at = created_at - interval '1 year', finished_at = now() - interval '1 year'")
    # What was looked at before has become older since.
    world.run("update tickwork.family_types set purged_to = '-infinity'")
    left = []

    for _ in range(3):
        tick(world)
        left.append(world.value("select count(*) from jobs"))
    late = ended_job(world, "done", 100)
    tick(world)

    assert left == [250, 50, 0]
    assert is_there(world, late) == [False]


def test_as_long_as_something_is_deleted_the_next_tick_goes_on(world: World) -> None:
    tenant, type = world.tenant(), world.type()
    world.service.jobs.enqueue_jobs([{"tenant_id": str(tenant), "type": type}] * 450)
    world.service.jobs.cancel_jobs()
    world.run("update jobs set created_at = created_at - interval '1 year', finished_at = now() - interval '1 year'")
    tick(world)
    left = [world.value("select count(*) from jobs")]

    for _ in range(2):
        world.service.maintenance.maintain()
        left.append(world.value("select count(*) from jobs"))

    assert left == [250, 50, 0]


def test_a_claim_leaves_it_to_others(world: World) -> None:
    job = ended_job(world, "done", 31)
    world.run("update tickwork.family_types set purged_at = '-infinity', reaped_at = '-infinity'")

    world.queue.claim_next_job("test")

    assert is_there(world, job) == [True]


def test_a_type_is_looked_at_once_in_half_a_minute(world: World) -> None:
    world.type()
    tick(world)
    job = ended_job(world, "done", 31)

    world.service.maintenance.maintain()

    assert is_there(world, job) == [True]


@pytest.mark.parametrize("days", [{"done": -1}, {"done": 0.5}, {"done": 36501}, {"queued": 1}, {"done": "1"}, []])
def test_keep_days_that_make_no_sense_are_refused(world: World, days: Any) -> None:
    with pytest.raises(psycopg.errors.CheckViolation, match="keep_days_are_days"):
        world.type(keep_days=days)


@pytest.mark.parametrize("days", [-1, 36_501])
def test_days_of_a_tenant_that_make_no_sense_are_refused(world: World, days: int) -> None:
    tenant = world.tenant()

    with pytest.raises(psycopg.errors.CheckViolation, match="days_are_0_to_36500"):
        world.run("update tenant_settings set keep_dead_days = %s where tenant_id = %s", days, tenant)


def test_the_longest_times_are_kept(world: World) -> None:
    tenant = world.tenant()
    world.run("update tenant_settings set keep_done_days = 36500 where tenant_id = %s", tenant)
    jobs = [
        ended_job(world, "done", 36_400, type=world.type()),
        ended_job(world, "dead", 36_400, type=world.type("thank_person", keep_days={"dead": 36500.0})),
    ]

    tick(world)

    assert is_there(world, *jobs) == [True, True]


def test_a_job_that_somebody_is_retrying_stays_and_keeps_nobody_waiting(world: World) -> None:
    job = ended_job(world, "dead", 100)
    retrying = world.connect()
    retrying.autocommit = False
    retrying.execute("select retry_job(%s)", [job.id])

    tick(world)
    retrying.commit()
    tick(world)

    assert world.reload(job).status == "queued"
    assert world.claim().id == job.id


def test_a_portion_is_found_by_index(full: World) -> None:
    """Of each type 200 jobs are read, and not all the others."""
    full.run("update tickwork.family_types set purged_at = '-infinity'")

    nodes = nodes_of(full, "select maintain()", {})
    by_hand = nodes_of(full, "select purge_jobs('3650 days')", {})

    for plans in (nodes, by_hand):
        of_types = [node for node in plans if node.get("Index Name") == "jobs_of_a_type"]
        assert len(of_types) > 0
        assert all("type =" in node["Index Cond"] for node in of_types)
    assert max(rows_of(node) for node in nodes if node.get("Relation Name") == "jobs") <= 200
    # Those of both types are counted as enqueued and as ended.
    assert max(rows_of(node) for node in nodes) <= 800
