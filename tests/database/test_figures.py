"""Totals, days, hours, minutes: every job is counted once as enqueued and once for each way it ended, come what may."""

from collections import Counter
from datetime import timedelta
from itertools import count
from typing import Any
from uuid import UUID

import psycopg
import pytest

from tests.world import World
from tests.world.waiting import until
from tickwork.jobs.rows import ClaimedJob, JobFields

COUNTED = """
    select outcome, sum(jobs)::integer as jobs from tickwork.totals
    where tenant_id = coalesce(%s, tickwork.all_tenants()) group by outcome order by outcome
"""


def roll_up(world: World) -> None:
    """As ticks do, until nothing is left to be counted."""

    rounds = count()

    def is_done() -> bool:
        left = "select exists (select from jobs, tickwork.rollup where created_at >= safe_to)"
        if roll_up_once(world) == 0:
            return not world.value(left)
        assert next(rounds) < 50, "it never ends"
        return False

    until(is_done)


def roll_up_once(world: World) -> int:
    """A tick, some seconds after the last one and after whatever was enqueued."""
    world.run("update tickwork.rollup set rolled_at = '-infinity', lag = '0'")
    return int(world.value("select tickwork.roll_up(1000)"))


def counted(world: World, tenant: UUID | None = None) -> dict[str, int]:
    return {row["outcome"]: row["jobs"] for row in world.rows(COUNTED, tenant)}


def end_as(world: World, job: ClaimedJob, status: str) -> None:
    match status:
        case "done":
            world.queue.complete_job(job)
        case "failed":
            world.queue.fail_job(job, {"code": "X"}, retryable=False)
        case "dead":
            world.queue.fail_job(job, {"code": "X"})
        case "cancelled":
            world.service.jobs.cancel_job(job.id)
            world.queue.release_job(job)


@pytest.mark.parametrize("status", ["done", "failed", "dead", "cancelled"])
@pytest.mark.parametrize("is_open", [False, True], ids=["at once", "after it was open"])
def test_a_job_is_counted_once_as_enqueued_and_once_when_it_ends(world: World, status: str, is_open: bool) -> None:
    job = world.running_job(max_attempts=1)
    if is_open:
        roll_up(world)
        assert counted(world) == {"enqueued": 1}

    end_as(world, job, status)
    roll_up(world)
    roll_up(world)

    assert counted(world) == counted(world, job.tenant_id) == {"enqueued": 1, status: 1}
    assert world.value("select count(*) from tickwork.open_jobs") == 0


def test_attempts_that_did_not_end_the_job_are_counted_as_retried(world: World) -> None:
    job = world.running_job(max_attempts=3)
    world.expire(job)
    world.service.maintenance.maintain()
    roll_up(world)
    again = world.claim()
    world.queue.fail_job(again, {"code": "TIMEOUT"}, retry_after_seconds=0)
    last = world.claim()
    world.queue.fail_job(last, {"code": "X"})
    roll_up(world)

    assert counted(world) == {"enqueued": 1, "dead": 1, "retried": 2, "lease_expired": 1, "timeout": 1}
    runs = "select sum(jobs) from tickwork.totals where tenant_id = tickwork.all_tenants() and run_bucket is not null"
    assert world.value(runs) == 3


def test_a_released_job_has_had_no_attempt(world: World) -> None:
    job = world.running_job()
    world.queue.release_job(job)
    roll_up(world)
    world.queue.complete_job(world.claim())
    roll_up(world)

    assert counted(world) == {"enqueued": 1, "done": 1}


def test_a_job_that_ends_without_a_run_has_neither_waited_nor_run(world: World) -> None:
    failed_once = world.running_job()
    world.queue.fail_job(failed_once, {"code": "X"}, retry_after_seconds=3600)
    world.service.jobs.bury_job(failed_once.id, "not needed")
    world.service.jobs.cancel_job(world.job().id)
    roll_up(world)

    assert counted(world) == {"enqueued": 2, "retried": 1, "dead": 1, "cancelled": 1}
    ends = "select bool_or(num_nonnulls(wait_bucket, run_bucket) > 0) from tickwork.totals where outcome = any(%s)"
    assert world.value(ends, ["dead", "cancelled"]) is False


def test_the_wait_is_from_when_it_was_due_and_the_run_from_its_start(world: World) -> None:
    job = world.running_job()
    world.queue.complete_job(job)
    world.run(
        "update jobs set created_at = finished_at - interval '1 hour', run_at = finished_at - interval '50 s', "
        "started_at = finished_at - interval '2 s' where id = %s",
        job.id,
    )
    roll_up(world)

    row = world.row("select * from tickwork.totals where tenant_id = tickwork.all_tenants() and outcome = 'done'")
    assert (row["wait_ms"], row["run_ms"], row["jobs"]) == (48_000, 2_000, 1)
    assert world.value("select tickwork.bucket_end(%s)", row["run_bucket"]) == 2048
    assert world.value("select tickwork.bucket_end(%s)", row["wait_bucket"]) == 65536
    at = "select at = date_trunc('minute', (select finished_at from jobs)) from tickwork.minutes where outcome = 'done'"
    assert {row["?column?"] for row in world.rows(at)} == {True}


def test_a_job_that_is_committed_late_is_neither_lost_nor_counted_twice(world: World) -> None:
    world.type()
    tenant = world.tenant()
    late = world.connect()
    with late.transaction():
        late.execute("select enqueue_job(%s, 'greet_person')", [tenant])
        world.job(tenant=tenant)
        for _ in range(5):
            roll_up_once(world)
        # The transaction began to write before the other job was there: neither can be counted yet.
        assert counted(world).get("enqueued", 0) <= 1

    roll_up(world)

    assert counted(world) == {"enqueued": 2}


@pytest.mark.parametrize("is_counted", [False, True])
def test_what_is_purged_stays_counted(world: World, is_counted: bool) -> None:
    for status in ("done", "failed", "dead", "cancelled"):
        end_as(world, world.running_job(max_attempts=1), status)
    open_job = world.running_job(max_attempts=2)
    roll_up(world)
    if not is_counted:
        # Deleted while it is open, and before it was seen.
        end_as(world, world.running_job(max_attempts=1), "dead")
    world.queue.fail_job(open_job, {"code": "X"}, retryable=False)
    if is_counted:
        roll_up(world)
    expected = Counter({"enqueued": 5 + (not is_counted), "done": 1, "failed": 2, "dead": 1 + (not is_counted)})
    expected["cancelled"] = 1

    world.service.maintenance.purge_jobs(timedelta())
    assert world.value("select count(*) from jobs") == 0
    assert world.value("select count(*) from tickwork.early_figures") == (0 if is_counted else 3)
    roll_up(world)

    assert counted(world) == expected
    assert world.value("select count(*) from tickwork.open_jobs") == 0


@pytest.mark.parametrize("is_counted", [False, True])
@pytest.mark.parametrize("is_seen", [False, True])
def test_a_job_that_is_retried_by_hand_is_counted_at_each_end(world: World, is_counted: bool, is_seen: bool) -> None:
    job = world.running_job(max_attempts=1)
    if is_seen:
        roll_up(world)
    end_as(world, job, "dead")
    if is_counted:
        roll_up(world)
    world.service.jobs.retry_job(job.id)
    end_as(world, world.claim(), "failed")
    world.service.jobs.retry_job(job.id)
    roll_up(world)
    end_as(world, world.claim(), "done")
    roll_up(world)

    assert counted(world) == {"enqueued": 1, "dead": 1, "failed": 1, "done": 1}


def test_a_record_that_is_edited_by_hand_is_counted_again_when_it_ends_again(world: World) -> None:
    job = world.running_job(max_attempts=1)
    end_as(world, job, "dead")
    roll_up(world)
    world.run("update jobs set status = 'queued', finished_at = null, max_attempts = 9 where id = %s", job.id)
    end_as(world, world.claim(), "done")
    roll_up(world)

    assert counted(world) == {"enqueued": 1, "dead": 1, "done": 1}


def test_the_sums_of_all_tenants_outlive_a_tenant(world: World) -> None:
    gone, other = world.tenant("gone"), world.tenant("other")
    end_as(world, world.running_job(tenant=gone), "done")
    roll_up(world)
    world.job(tenant=gone)
    world.job(tenant=other)

    world.run("delete from organizations where id = %s", gone)
    roll_up(world)

    assert counted(world) == {"enqueued": 3, "done": 1}
    assert counted(world, gone) == {}
    assert counted(world, other) == {"enqueued": 1}


def test_a_rollup_that_is_killed_loses_and_doubles_nothing(world: World) -> None:
    audit: Counter[str] = Counter()
    world.type(max_attempts=1)
    for kill in range(20):
        audit += Counter({"enqueued": 3, "done": 1, "dead": 1, "cancelled": 1})
        jobs = [world.job() for _ in range(3)]
        world.service.jobs.cancel_job(jobs[2].id)
        end_as(world, world.claim(), "done")
        end_as(world, world.claim(), "dead")
        world.run("update tickwork.rollup set rolled_at = '-infinity', lag = '0'")
        killed_in_a_rollup(world)
        if kill % 5 == 0:
            world.service.maintenance.purge_jobs(timedelta())
    roll_up(world)

    assert counted(world) == audit
    for span in ("days", "hours", "minutes"):
        assert {row["outcome"]: row["jobs"] for row in world.rows(COUNTED.replace("totals", span), None)} == audit


def killed_in_a_rollup(world: World) -> None:
    ticker = world.connect()
    ticker.execute("begin")
    ticker.execute("select tickwork.roll_up(1000)")
    world.run("select pg_terminate_backend(%s)", ticker.info.backend_pid)
    with pytest.raises(psycopg.OperationalError):
        ticker.execute("commit")


def test_two_rollups_at_once_do_not_wait_for_each_other(world: World) -> None:
    world.job()
    first = world.connect()
    with first.transaction():
        first.execute("select tickwork.roll_up(1000)")
        again_at_once: Any = world.value("select tickwork.roll_up(1000)")

    assert again_at_once == 0


def test_a_tick_counts(world: World) -> None:
    end_as(world, world.running_job(), "done")
    tick = world.connect_worker()

    def is_counted() -> bool:
        world.run("update tickwork.rollup set rolled_at = '-infinity', lag = '0'")
        tick.execute("select maintain()")
        return counted(world) == {"enqueued": 1, "done": 1}

    until(is_counted)


def test_members_see_the_figures_of_their_tenants_only(world: World) -> None:
    own, foreign = world.tenant("own"), world.tenant("foreign")
    world.job(tenant=own)
    world.job(tenant=foreign)
    roll_up(world)

    rows = world.member_of(own).execute("select distinct tenant_id from tickwork.totals").fetchall()

    assert [row["tenant_id"] for row in rows] == [own]


def test_minutes_are_kept_for_8_days_hours_and_days_for_400(world: World) -> None:
    job: JobFields = world.job()
    for days in (7, 9, 399, 403):
        happening = "array[row(now() - make_interval(days => %s), %s, 'test', %s, 'enqueued', null, null)]"
        world.run(f"select tickwork.add_figures({happening}::tickwork.happening[])", days, job.tenant_id, job.type)
    world.run("select tickwork.forget_figures(100)")

    ages = "select array_agg(distinct round(extract(epoch from now() - at) / 86400)::integer) from tickwork.{}"
    assert world.value(ages.format("minutes")) == [7]
    assert world.value(ages.format("hours")) == [7, 9, 399]
    assert world.value("select count(*) from tickwork.days") == 2 * 3
    assert counted(world)["enqueued"] == 4
