"""Jobs that wait for other jobs."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from uuid import UUID, uuid4

import psycopg
import pytest

from tests.world import World
from tests.world.agreement import disagreements
from tests.world.crowd import claim_all, let_time_pass, transaction, until_waiting_or_done
from tickwork.database.connection import Connection
from tickwork.errors import InvalidRequest, NoSuchJob, QueueFull
from tickwork.jobs.rows import AfterWhen, ClaimedJob, FollowUp, JobFields
from tickwork.queue import lease_of

ENDINGS = ("done", "failed", "dead", "cancelled")


def end(world: World, job: ClaimedJob, ending: str) -> None:
    match ending:
        case "done":
            world.queue.complete_job(job)
        case "failed":
            world.queue.fail_job(job, {"code": "X"}, retryable=False)
        case "dead":
            world.run("update jobs set max_attempts = attempts where id = %s", job.id)
            world.queue.fail_job(job, {"code": "X"})
        case _:
            world.service.jobs.cancel_job(job.id)
            world.queue.fail_job(job, {"code": "X"})
    assert world.reload(job).status == ending


def running(world: World, jobs: int) -> list[ClaimedJob]:
    queued = [world.job() for _ in range(jobs)]
    claimed = {job.id: job for job in world.queue.claim_jobs("test", jobs)}
    return [claimed[job.id] for job in queued]


def test_a_job_starts_when_all_that_it_waits_for_are_done(world: World) -> None:
    first, second = running(world, 2)
    third = world.job(priority=1)

    last = world.job(after=[first.id, second.id, third.id])

    assert (last.status, last.after, last.after_when) == ("queued", [first.id, second.id, third.id], "all_done")
    assert last.ready_at is None
    world.queue.complete_job(first)
    world.queue.settle_jobs([{**lease_of(second), "status": "done", "logs": "said something"}])
    (claimed,) = claim_all(world)
    assert claimed.id == third.id
    assert disagreements(world) == []
    world.queue.complete_job(claimed)
    (started,) = claim_all(world)
    assert started.id == last.id
    ready = world.reload(last)
    assert ready.ready_at == ready.run_at > last.run_at
    assert disagreements(world) == []


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("after_when", ["all_done", "all_ended", "any_ended"])
def test_what_happens_when_one_is_not_done_is_said(world: World, after_when: AfterWhen, ending: str) -> None:
    first, second = running(world, 2)
    last = world.job(after=[first.id, second.id], after_when=after_when)

    end(world, first, ending)

    found = world.reload(last)
    if after_when == "all_done" and ending != "done":
        words = {"failed": "failed", "dead": "is dead", "cancelled": "was cancelled"}[ending]
        assert (found.status, found.error_code) == ("cancelled", "AWAITED_JOB_FAILED")
        assert found.error_message == f"Job {first.id}, which it was waiting for, {words}"
        assert found.error_message in world.service.jobs.explain_job(last.id)
    else:
        assert found.status == "queued"
    started = claim_all(world)
    assert [job.id for job in started] == ([last.id] if after_when == "any_ended" else [])
    end(world, second, "done")
    assert [job.id for job in claim_all(world)] == (
        [last.id] if (after_when, ending) == ("all_done", "done") or after_when == "all_ended" else []
    )
    assert disagreements(world) == []


@pytest.mark.parametrize("ending", ENDINGS)
def test_what_has_ended_already_counts_at_once(world: World, ending: str) -> None:
    (first,) = running(world, 1)
    end(world, first, ending)

    job = world.service.jobs.enqueue_job(first.tenant_id, first.type, after=[first.id])
    (receipt,) = world.service.jobs.enqueue_jobs(
        [{"tenant_id": str(first.tenant_id), "type": first.type, "after": [str(first.id)], "after_when": "all_ended"}]
    )

    assert job.status == ("queued" if ending == "done" else "cancelled")
    started = {each.id for each in claim_all(world)}
    assert started == {receipt.id} | ({job.id} if ending == "done" else set())
    assert disagreements(world) == []


def test_a_failed_attempt_that_is_retried_is_not_an_end(world: World) -> None:
    world.type(backoff=[0])
    (first,) = running(world, 1)
    last = world.job(after=[first.id])

    world.queue.fail_job(first, {"code": "X"}, retry_after_seconds=0)

    (again,) = claim_all(world)
    assert again.id == first.id
    world.queue.complete_job(again)
    assert [job.id for job in claim_all(world)] == [last.id]


def test_an_expired_lease_of_the_last_attempt_is_an_end(world: World) -> None:
    first = world.running_job(max_attempts=1)
    last = world.job(after=[first.id], after_when="all_ended")

    world.expire(first)

    assert [job.id for job in claim_all(world)] == [last.id]


def test_its_time_and_its_lane_still_count(world: World) -> None:
    (first,) = running(world, 1)
    later = world.job(after=[first.id], run_at="tomorrow")
    in_lane = world.job(after=[first.id], lane="lane")
    world.service.pauses.hold_lane("test", first.tenant_id, "lane", "infinity")

    world.queue.complete_job(first)

    assert claim_all(world) == []
    assert world.reload(later).ready_at is not None
    world.service.pauses.release_lane("test", first.tenant_id, "lane")
    assert [job.id for job in claim_all(world)] == [in_lane.id]
    assert disagreements(world) == []


def test_follow_ups_and_inserts_can_wait_too(world: World) -> None:
    first, second = running(world, 2)
    member = world.member_of(first.tenant_id)
    insert = "insert into jobs (tenant_id, type, after) values (%s, %s, %s) returning id, after_when"

    row = member.execute(insert, [first.tenant_id, first.type, [second.id]]).fetchone()
    world.queue.complete_job(first, follow_ups=[FollowUp(type=first.type, after=[second.id], after_when="any_ended")])

    assert row is not None
    assert row["after_when"] == "all_done"
    assert claim_all(world) == []
    world.queue.complete_job(second)
    assert len(claim_all(world)) == 2


def test_an_empty_list_means_no_waiting(world: World) -> None:
    job = world.job(after=[])

    assert (job.after, job.after_when) == (None, None)
    assert [each.id for each in claim_all(world)] == [job.id]


def test_it_belongs_to_the_chain_of_the_first_that_it_waits_for(world: World) -> None:
    first, second = world.job(correlation_id="chain"), world.job(correlation_id="other")

    inherited = world.job(after=[first.id, second.id])
    keyed = world.job(after=[first.id], idempotency_key="k")
    given = world.job(after=[first.id], correlation_id="mine")

    assert [job.correlation_id for job in (inherited, keyed, given)] == ["chain", "chain", "mine"]


@pytest.mark.parametrize("has_key", [False, True])
def test_nobody_waits_for_what_is_not_there_or_not_theirs(world: World, has_key: bool) -> None:
    mine, foreign = world.job(), world.job(tenant=world.tenant("other"))
    key = "k" if has_key else None
    messages = []

    for id in (uuid4(), foreign.id):
        with pytest.raises(NoSuchJob) as refused:
            world.service.jobs.enqueue_job(mine.tenant_id, mine.type, after=[mine.id, id], idempotency_key=key)
        messages.append(str(refused.value).replace(str(id), "…"))
        member = world.member_of(mine.tenant_id)
        with pytest.raises(psycopg.Error, match=f"there is no job {id}"):
            member.execute(
                "insert into jobs (tenant_id, type, after) values (%s, %s, %s)", [mine.tenant_id, mine.type, [id]]
            )

    assert messages[0] == messages[1]
    assert world.value("select count(*) from jobs") == 2


def test_wrong_lists_are_refused(world: World) -> None:
    job = world.job()

    with pytest.raises(InvalidRequest, match="after_when: must be all_done, all_ended or any_ended, not 'soon'"):
        world.service.jobs.enqueue_job(job.tenant_id, job.type, after=[job.id], after_when="soon")  # type: ignore[arg-type]
    with pytest.raises(InvalidRequest, match="after: 1001 jobs are too many"):
        world.service.jobs.enqueue_job(job.tenant_id, job.type, after=[job.id] * 1001)


def test_the_explanation_names_what_it_waits_for(world: World) -> None:
    jobs = [world.job() for _ in range(5)]
    five = world.job(after=[job.id for job in jobs])
    ended = world.job(after=[jobs[0].id], after_when="all_ended")
    either = world.job(after=[job.id for job in jobs[:2]], after_when="any_ended")
    first, second, third = sorted(job.id for job in jobs)[:3]

    explain = world.service.jobs.explain_job
    assert explain(five.id) == (
        f"It waits for 5 more jobs to be done: {first}, {second}, {third} and 2 more. "
        "If one of them ends otherwise, it is cancelled."
    )
    assert explain(ended.id) == f"It waits for 1 more job to end: {jobs[0].id}."
    assert explain(either.id).startswith("It waits for one of 2 jobs to end: ")


def test_what_waits_counts_as_queued_but_not_as_due(world: World) -> None:
    first = world.job(run_at="tomorrow")
    last = world.job(after=[first.id])
    world.run("update tenant_settings set max_queued = 2")

    (summary,) = world.service.jobs.queue_summary()
    listed = world.service.jobs.list_jobs(status="queued")

    assert (summary["queued"], summary["due"], summary["oldest_due_at"]) == (2, 0, None)
    assert {job.id for job in listed} == {first.id, last.id}
    with pytest.raises(QueueFull, match="which is its limit"):
        world.job(after=[first.id])


# What people do


def test_a_cancelled_chain_ends_to_its_last_job(world: World) -> None:
    chain = [world.job()]
    for _ in range(30):
        chain.append(world.job(after=[chain[-1].id]))

    world.service.jobs.cancel_job(chain[0].id)

    # More than a verb does at once: the rest is done by those who claim.
    assert claim_all(world) == []
    assert {world.reload(job).status for job in chain} == {"cancelled"}
    assert disagreements(world) == []


def test_a_whole_chain_is_cancelled_by_its_correlation_id(world: World) -> None:
    others = [world.job(), world.job(correlation_id="chain-2")]
    first = world.job(correlation_id="chain", priority=1)
    jobs = [first, world.job(after=[first.id]), world.job(after=[first.id], after_when="all_ended")]
    claimed = world.claim()

    changed = world.service.jobs.cancel_jobs(correlation_id="chain")

    assert claimed.id == first.id
    assert changed == (3, False)
    assert [world.reload(job).status for job in jobs] == ["running", "cancelled", "cancelled"]
    assert world.reload(first).cancel_requested_at is not None
    assert {world.reload(job).status for job in others} == {"queued"}
    assert {job.id for job in world.service.jobs.list_jobs(correlation_id="chain")} == {job.id for job in jobs}
    assert disagreements(world) == []


def test_a_retried_job_waits_again_for_what_has_not_ended(world: World) -> None:
    first, second, third = running(world, 3)
    last = world.job(after=[first.id, second.id, third.id])
    end(world, second, "done")
    end(world, first, "failed")
    assert world.reload(last).status == "cancelled"

    world.service.jobs.retry_job(first.id)
    retried = world.service.jobs.retry_job(last.id)

    assert (retried.status, retried.after, retried.ready_at) == ("queued", [first.id, third.id], None)
    end(world, third, "done")
    (again,) = claim_all(world)
    assert again.id == first.id
    end(world, again, "done")
    assert [job.id for job in claim_all(world)] == [last.id]
    assert disagreements(world) == []


@pytest.mark.parametrize("after_when", ["all_done", "all_ended", "any_ended"])
def test_what_has_ended_no_longer_matters_to_a_retried_job(world: World, after_when: AfterWhen) -> None:
    first, second = running(world, 2)
    last = world.job(after=[first.id, second.id], after_when=after_when)
    world.service.jobs.cancel_job(last.id)
    end(world, first, "failed")
    if after_when != "any_ended":
        end(world, second, "failed")

    retried = world.service.jobs.retry_job(last.id)

    assert retried.ready_at is not None
    assert [job.id for job in claim_all(world)] == [last.id]
    assert disagreements(world) == []


def test_a_job_that_waits_can_be_rescheduled_cancelled_and_buried(world: World) -> None:
    (first,) = running(world, 1)
    rescheduled, cancelled, buried = [world.job(after=[first.id]) for _ in range(3)]

    world.service.jobs.reschedule_job(rescheduled.id, "2000-01-01T00:00Z")
    world.service.jobs.cancel_job(cancelled.id)
    world.service.jobs.bury_job(buried.id)

    assert claim_all(world) == []
    assert disagreements(world) == []
    world.queue.complete_job(first)
    assert [job.id for job in claim_all(world)] == [rescheduled.id]
    assert [world.reload(job).status for job in (cancelled, buried)] == ["cancelled", "dead"]


def test_what_is_edited_by_hand_is_followed(world: World) -> None:
    first, second, third = running(world, 3)
    by_status, by_deletion, by_list, by_time = [
        world.job(after=[job.id], priority=place) for place, job in enumerate((first, second, third, third))
    ]

    world.run("update jobs set status = 'done', lease_expires_at = null, finished_at = now() where id = %s", first.id)
    world.run("delete from jobs where id = %s", second.id)
    world.run("update jobs set after = null where id = %s", by_list.id)
    world.run("update jobs set ready_at = now() where id = %s", by_time.id)

    assert disagreements(world) == []
    assert {job.id for job in claim_all(world)} == {job.id for job in (by_status, by_deletion, by_list, by_time)}


def test_a_rebuilt_queue_still_waits(world: World) -> None:
    first, second, failed = running(world, 3)
    last = world.job(after=[first.id, second.id])
    end(world, failed, "failed")
    ready = world.job(after=[failed.id], after_when="all_ended")
    world.queue.complete_job(first)
    # As after a restore of the record alone.
    world.run("truncate tickwork.awaiting, tickwork.awaited, tickwork.to_check, tickwork.alarms, tickwork.waiting")
    world.run("update jobs set is_awaited = false")

    assert world.service.maintenance.rebuild_queue() == 2

    assert disagreements(world) == []
    assert [job.id for job in claim_all(world)] == [ready.id]
    world.queue.complete_job(second)
    assert [job.id for job in claim_all(world)] == [last.id]


def test_what_was_purged_has_ended(world: World) -> None:
    first, second = running(world, 2)
    last = world.job(after=[first.id, second.id])
    world.queue.complete_job(first)

    assert world.service.maintenance.purge_jobs(timedelta(0)) == 1
    assert world.service.maintenance.rebuild_queue() == 1

    assert disagreements(world) == []
    world.queue.complete_job(second)
    assert [job.id for job in claim_all(world)] == [last.id]


def test_nothing_is_left_of_a_tenant_that_is_deleted(world: World) -> None:
    first = world.job()
    world.job(after=[first.id])
    world.run("insert into tickwork.to_check select number, %s from tickwork.tenants", first.id)

    world.run("delete from organizations")

    for table in ("awaiting", "awaited", "to_check"):
        assert world.admin.execute(f"select count(*) as rows from tickwork.{table}").fetchone() == {"rows": 0}


# Two at once


def complete(connection: Connection, job: ClaimedJob) -> None:
    connection.execute("select complete_job(%s, %s)", [job.id, job.lease_token])


def enqueue_after(connection: Connection, *jobs: JobFields) -> UUID:
    query = "select id from enqueue_job(%s, %s, after => %s)"
    row = connection.execute(query, [jobs[0].tenant_id, jobs[0].type, [job.id for job in jobs]]).fetchone()
    assert row is not None
    id: UUID = row["id"]
    return id


def test_the_end_of_the_last_one_waits_for_whoever_starts_to_wait(world: World) -> None:
    (job,) = running(world, 1)
    waiter, worker = transaction(world), world.connect()
    last = enqueue_after(waiter, job)

    with ThreadPoolExecutor() as pool:
        completed = pool.submit(complete, worker, job)
        until_waiting_or_done(world, completed)
        assert not completed.done()
        waiter.commit()
        completed.result()

    assert [each.id for each in claim_all(world)] == [last]
    assert disagreements(world) == []


def test_whoever_starts_to_wait_does_not_miss_an_end_in_flight(world: World) -> None:
    (job,) = running(world, 1)
    worker, waiter = transaction(world), world.connect()
    complete(worker, job)

    last = enqueue_after(waiter, job)

    assert claim_all(world) == []
    worker.commit()
    let_time_pass(world, 2)
    assert [each.id for each in claim_all(world)] == [last]
    assert disagreements(world) == []


def test_whoever_starts_to_wait_does_not_miss_a_start_in_flight(world: World) -> None:
    queued = world.job()
    worker = transaction(world)
    claimed = worker.execute("select id, lease_token from claim_next_job('test', 'w')").fetchone()

    last = enqueue_after(world.admin, queued)

    worker.commit()
    assert claimed is not None
    world.run("select complete_job(%s, %s)", claimed["id"], claimed["lease_token"])
    let_time_pass(world, 2)
    assert [each.id for each in claim_all(world)] == [last]


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_of_two_that_end_at_the_same_moment_one_starts_it(world: World, order: tuple[int, int]) -> None:
    jobs = running(world, 2)
    last = enqueue_after(world.admin, *jobs)
    workers = [transaction(world) for _ in jobs]
    for worker, job in zip(workers, jobs, strict=True):
        complete(worker, job)

    for place in order:
        workers[place].commit()

    let_time_pass(world, 2)
    assert [each.id for each in claim_all(world)] == [last]
    assert disagreements(world) == []


def test_an_older_snapshot_does_not_lose_the_last_end(world: World) -> None:
    jobs = running(world, 2)
    last = enqueue_after(world.admin, *jobs)
    worker = transaction(world)
    worker.execute("set transaction isolation level repeatable read")
    worker.execute("select 1")
    complete(world.admin, jobs[0])

    complete(worker, jobs[1])
    worker.commit()

    assert [each.id for each in claim_all(world)] == [last]
    assert disagreements(world) == []


def test_whoever_cancels_what_waits_does_not_stop_those_who_end(world: World) -> None:
    jobs = running(world, 2)
    last, other = enqueue_after(world.admin, *jobs), enqueue_after(world.admin, jobs[0])
    person = transaction(world)
    person.execute("select cancel_job(%s)", [last])

    for job in jobs:
        complete(world.admin, job)
    person.commit()

    assert [each.id for each in claim_all(world)] == [other]
    assert disagreements(world) == []
