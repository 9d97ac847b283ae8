"""What people see: lists, counts, and why a job is not running; and how old jobs go."""

import re
from datetime import timedelta
from typing import Any, LiteralString
from uuid import uuid4

import psycopg
import pytest

from tests.database.test_listing import full
from tests.world import World
from tests.world.plans import nodes_of
from tickwork.errors import InvalidRequest, NoSuchJob

__all__ = ["full"]


def test_jobs_are_listed_newest_first_page_by_page(world: World) -> None:
    jobs = [world.job() for _ in range(5)]

    first = world.service.jobs.list_jobs(max_jobs=2)
    second = world.service.jobs.list_jobs(max_jobs=2, after_id=first[-1].id)
    third = world.service.jobs.list_jobs(max_jobs=2, after_id=second[-1].id)

    assert [job.id for job in first + second + third] == [job.id for job in reversed(jobs)]


def test_a_page_after_a_job_that_is_gone_is_refused(world: World) -> None:
    with pytest.raises(NoSuchJob, match="after_id: there is no job"):
        world.service.jobs.list_jobs(after_id=uuid4())


def test_a_member_is_told_only_of_his_own_jobs(world: World) -> None:
    own = world.tenant("own")
    world.type()
    for _ in range(3):
        world.job(tenant=world.tenant("foreign"))
    world.claim()
    job = world.job(tenant=own)

    (why,) = world.member_of(own).execute("select explain_job(%s)", [job.id]).fetchone().values()  # type: ignore[union-attr]

    assert "with 0 of its tenant's jobs ahead of it and 0 of yours running." in why
    assert "with 0 of its tenant's jobs ahead of it and 1 running." in world.service.jobs.explain_job(job.id)


def test_a_platform_admin_sees_the_jobs_of_every_tenant(world: World) -> None:
    jobs = [world.job(tenant=world.tenant(name)) for name in ("acme", "birch")]
    failed = world.queue.fail_job(world.claim(), {"code": "BUSY"})
    user = uuid4()
    stranger = world.connect("authenticated", user)
    counted = [len(stranger.execute(query).fetchall()) for query in SEEN]
    world.run("insert into tickwork.platform_admins (user_id) values (%s)", user)
    admin = world.connect("authenticated", user)

    assert counted == [0] * len(SEEN)
    for query in ("select id from jobs", "select id from list_jobs()"):
        assert {row["id"] for row in admin.execute(query)} == {job.id for job in jobs}
    assert [row["error_code"] for row in admin.execute("select error_code from job_attempts")] == ["BUSY"]
    assert len(admin.execute("select from queue_summary()").fetchall()) > 0
    assert "BUSY" in admin.execute("select explain_job(%s) as why", [failed.id]).fetchall()[0]["why"]


SEEN: tuple[LiteralString, ...] = (
    *("select from jobs", "select from list_jobs()", "select from job_attempts", "select from queue_summary()"),
)


def test_a_list_can_be_narrowed(world: World) -> None:
    here, there = world.tenant("here"), world.tenant("there")
    world.type("greet_person")
    world.type("thank_person", family="other")
    mine = world.job("greet_person", here)
    world.job("thank_person", here)
    world.job("greet_person", there)
    world.service.jobs.cancel_job(mine.id)

    found = [
        world.service.jobs.list_jobs(tenant_id=here),
        world.service.jobs.list_jobs(family="other"),
        world.service.jobs.list_jobs(type="greet_person"),
        world.service.jobs.list_jobs(status="cancelled"),
    ]

    assert [len(jobs) for jobs in found] == [2, 1, 2, 1]


def test_the_summary_counts_what_there_is(world: World) -> None:
    world.queue.complete_job(world.running_job())
    world.running_job()
    oldest = world.job(run_at="2020-01-01")
    world.job(run_at="2999-01-01")

    (row,) = world.service.jobs.queue_summary()

    assert {name: row[name] for name in ("queued", "due", "running", "done", "failed", "dead", "cancelled")} == {
        "queued": 2,
        "due": 1,
        "running": 1,
        "done": 1,
        "failed": 0,
        "dead": 0,
        "cancelled": 0,
    }
    assert row["oldest_due_at"] == oldest.run_at


def test_the_summary_is_of_the_tenants_that_the_caller_may_see(world: World) -> None:
    own, foreign = world.tenant("own"), world.tenant("foreign")
    world.type()
    for tenant in (own, foreign):
        world.job(tenant=tenant, run_at="2999-01-01")
        world.queue.complete_job(world.running_job(tenant=tenant))
        world.service.jobs.cancel_job(world.job(tenant=tenant).id)
    member = world.member_of(own)

    def counts(**arguments: Any) -> list[tuple[int, ...]]:
        marks = ", ".join(f"{each} => %({each})s" for each in arguments)
        rows = member.execute(f"select queued, done, cancelled from queue_summary({marks})", arguments).fetchall()
        return [tuple(row.values()) for row in rows]

    assert counts() == counts(tenant_id=own) == [(1, 1, 1)]
    assert counts(tenant_id=foreign) == []
    assert [row["done"] for row in world.service.jobs.queue_summary()] == [2]
    assert [row["done"] for row in world.service.jobs.queue_summary(foreign)] == [1]


def test_the_jobs_of_a_type_that_has_moved_are_counted_where_they_ran(world: World) -> None:
    type = world.type()
    world.queue.complete_job(world.running_job())
    world.run("update job_types set family = 'other' where key = %s", type)
    world.job(type)

    found = world.service.jobs.queue_summary()

    assert [(row["family"], row["done"], row["queued"]) for row in found] == [("other", 0, 1), ("test", 1, 0)]


def test_the_summary_reads_no_row_of_a_done_job(full: World) -> None:
    nodes = nodes_of(full, "select * from queue_summary()", {})
    by_hand = full.rows(
        "select family, type, count(*) filter (where status = 'queued') as queued, "
        "count(*) filter (where status = 'done') as done, count(*) filter (where status = 'dead') as dead "
        "from jobs group by 1, 2 order by 1, 2"
    )

    of_jobs = [node for node in nodes if node.get("Relation Name") == "jobs" and node["Actual Loops"] > 0]
    assert {node["Node Type"] for node in of_jobs} == {"Index Only Scan"}
    assert sum(node["Heap Fetches"] for node in of_jobs) <= 100
    counted = [{name: row[name] for name in by_hand[0]} for row in full.service.jobs.queue_summary()]
    assert counted == by_hand


def test_why_a_job_is_not_running_is_said_in_words(world: World) -> None:
    future = world.job(run_at="2999-01-01")
    retrying = world.running_job()
    world.queue.fail_job(retrying, {"code": "BUSY", "message": "no answer"})
    running = world.running_job()
    world.job(priority=7)
    waiting = world.job()
    alone = world.job(world.type("do_other", "other"))

    assert world.service.jobs.explain_job(future.id).startswith("It is not due before 2999-01-01")
    assert world.service.jobs.explain_job(retrying.id).startswith(
        "Attempt 1 of 4 ended with BUSY: no answer. The next one"
    )
    assert "attempt 1 of 4, on worker-1." in world.service.jobs.explain_job(running.id)
    assert "with 1 of its tenant's jobs ahead of it and 1 running." in world.service.jobs.explain_job(waiting.id)
    assert world.service.jobs.explain_job(alone.id).endswith("is the function deployed, and does cron wake it?")


def test_what_keeps_a_due_job_waiting_is_said_in_words(world: World) -> None:
    tenant, type = world.tenant(), world.type(max_running_per_tenant=1, starts_per_minute=2)
    world.running_job(lane="endpoint:1")
    job = world.job(lane="endpoint:1")

    def why() -> str:
        return world.service.jobs.explain_job(job.id).partition(". ")[2]

    assert why() == "It is waiting for room: at most 1 of the jobs of its type and tenant may run at once."
    world.run("update job_types set max_running_per_tenant = null, starts_per_minute = 1 where key = %s", type)
    world.queue.claim_next_job("test")
    world.service.pauses.limit_lane("test", tenant, "endpoint:1", max_running=1)
    other = world.job(lane="endpoint:1")
    assert (
        world.service.jobs.explain_job(other.id)
        .partition(". ")[2]
        .startswith(
            "It is waiting to start: at most 1 of the jobs of its type and tenant may start per minute, the next"
        )
    )
    world.run("update job_types set starts_per_minute = null")
    assert "at most 1 of the jobs of its lane 'endpoint:1' may run at once." in world.service.jobs.explain_job(other.id)
    world.service.pauses.hold_lane("test", tenant, "endpoint:1", "2999-01-01", "answered 503")
    assert world.service.jobs.explain_job(other.id).endswith(
        "Its lane 'endpoint:1' is held until 2999-01-01 00:00:00+00: answered 503."
    )
    assert not re.search(r":\d\d\.\d", world.service.jobs.explain_job(other.id))
    world.service.pauses.release_lane("test", tenant, "endpoint:1")
    for scope, said in (
        ({"family": "test"}, "The family 'test' is paused: repairs."),
        ({"type": type}, f"The type '{type}' is paused: repairs."),
        ({"tenant_id": tenant}, "Its tenant is paused: repairs."),
    ):
        world.service.pauses.pause_jobs(**scope, reason="repairs.")
        assert world.service.jobs.explain_job(other.id).endswith(said)
        world.service.pauses.resume_jobs(**scope)


def test_a_stranger_is_told_nothing_of_a_job(world: World) -> None:
    job = world.job()
    stranger = world.member_of(world.tenant("other"))

    with pytest.raises(psycopg.Error, match="there is no job") as refusal:
        stranger.execute("select explain_job(%s)", [job.id])

    assert refusal.value.sqlstate == "TWJOB"


def test_what_became_of_a_job_is_said_in_words(world: World) -> None:
    expired = world.running_job()
    world.expire(expired)
    explained = world.service.jobs.explain_job(expired.id)
    world.service.jobs.cancel_job(expired.id)
    world.service.maintenance.maintain()
    failed, dead, done = (world.running_job(max_attempts=1) for _ in range(3))
    world.queue.fail_job(failed, {"code": "BROKEN", "message": "no such file."}, retryable=False)
    world.queue.fail_job(dead, {"code": "BUSY", "message": "no answer"})
    world.queue.complete_job(done)

    assert "Its lease expired at" in explained
    assert world.service.jobs.explain_job(expired.id).startswith("It was cancelled at")
    assert "with BROKEN: no such file. Fix the cause" in world.service.jobs.explain_job(failed.id)
    assert "after 1 attempt, which ended with BUSY" in world.service.jobs.explain_job(dead.id)
    assert world.service.jobs.explain_job(done.id).endswith("in attempt 1 of 1.")


def test_old_jobs_are_purged_in_batches_with_their_attempts(world: World) -> None:
    for _ in range(5):
        world.queue.complete_job(world.running_job())
    world.run(
        "update jobs set created_at = created_at - interval '32 days', finished_at = finished_at - interval '31 days'"
    )
    fresh, queued = world.running_job(), world.job(run_at="2020-01-01")
    world.queue.complete_job(fresh)

    purged = [world.service.maintenance.purge_jobs(timedelta(days=30), batch_size=3) for _ in range(3)]

    assert purged == [3, 2, 0]
    assert {job.id for job in world.service.jobs.list_jobs()} == {fresh.id, queued.id}
    assert world.value("select count(*) from job_attempts") == 1


@pytest.mark.parametrize("size", [0, 10_001])
def test_an_absurd_batch_is_refused(world: World, size: int) -> None:
    with pytest.raises(InvalidRequest, match=f"batch_size: {size} is out of range, it must be 1 to 10000"):
        world.service.maintenance.purge_jobs(timedelta(days=30), size)


def test_a_negative_age_is_refused(world: World) -> None:
    with pytest.raises(InvalidRequest, match="older_than: must be an interval of 0 or more"):
        world.service.maintenance.purge_jobs(timedelta(days=-1))
