"""The lease: kept alive by heartbeats, fenced by its token, given back when it runs out."""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import LiteralString
from uuid import uuid4

import psycopg
import pytest

from tests.database.test_enqueue import in_step, in_thread, wait_for_lock
from tests.world import World
from tests.world.agreement import disagreements
from tests.world.crowd import transaction, until_waiting_or_done
from tests.world.verb_queue import VerbQueue
from tickwork.errors import InvalidRequest, LeaseLost
from tickwork.jobs.rows import ClaimedJob
from tickwork.queue import Queue, lease_of

VERBS: dict[str, Callable[[VerbQueue, ClaimedJob], object]] = {
    "heartbeat": lambda queue, job: queue.heartbeat_job(job, 0.9, "stale"),
    "complete": lambda queue, job: queue.complete_job(job, {"stale": True}),
    "fail": lambda queue, job: queue.fail_job(job, {"code": "STALE"}),
    "fail for good": lambda queue, job: queue.fail_job(job, {"code": "STALE"}, retryable=False),
    "release": lambda queue, job: queue.release_job(job, 3600),
}


@pytest.mark.parametrize("verb", VERBS)
def test_a_stale_token_changes_nothing_and_raises(world: World, verb: str) -> None:
    zombie = world.running_job()
    world.expire(zombie)
    current = world.claim()
    before = world.row_and_lease(current)

    with pytest.raises(LeaseLost, match=f"job {zombie.id} is no longer held under this lease"):
        VERBS[verb](world.queue, zombie)

    assert current.id == zombie.id
    assert current.lease_token != zombie.lease_token
    assert world.row_and_lease(current) == before
    assert [row["status"] for row in world.attempts(current)] == ["lease_expired"]


@pytest.mark.parametrize("verb", VERBS)
def test_a_token_is_worth_nothing_once_the_job_has_ended(world: World, verb: str) -> None:
    job = world.running_job()
    world.queue.complete_job(job, {"right": True})
    before = world.row_and_lease(job)

    with pytest.raises(LeaseLost):
        VERBS[verb](world.queue, job)

    assert world.row_and_lease(job) == before
    assert len(world.attempts(job)) == 1


@pytest.mark.parametrize("verb", VERBS)
def test_a_made_up_token_is_refused(world: World, verb: str) -> None:
    job = world.running_job()
    before = world.row_and_lease(job)

    with pytest.raises(LeaseLost):
        VERBS[verb](world.queue, job.model_copy(update={"lease_token": uuid4()}))

    assert world.row_and_lease(job) == before


@pytest.mark.parametrize(
    "call",
    [
        "heartbeat_job(%s, null, 0.9)",
        "complete_job(%s, null)",
        "fail_job(%s, null, '{}')",
        "fail_job(%s, null, '{}', false)",
        "release_job(%s, null)",
        "hold_job(%s, null)",
    ],
)
def test_a_call_without_a_token_is_refused(world: World, call: str) -> None:
    job = world.running_job()
    before = world.row_and_lease(job)

    with pytest.raises(psycopg.Error) as refusal:
        world.connect_worker().execute(f"select {call}", [job.id])

    assert refusal.value.sqlstate == "TWLSE"
    assert world.row_and_lease(job) == before


def test_many_heartbeats_and_outcomes_are_fenced_one_by_one(world: World) -> None:
    zombie = world.running_job()
    world.expire(zombie)
    current, healthy = world.claim(), world.running_job()
    before = world.row_and_lease(current)
    beats = [{"job_id": str(job.id), "lease_token": str(job.lease_token)} for job in (zombie, healthy)]

    alive = world.queue.heartbeat_jobs(beats)
    settled = world.queue.settle_jobs([{**beat, "status": "done"} for beat in beats])

    assert [(row["job_id"], row["is_held"]) for row in alive] == [(zombie.id, False), (healthy.id, True)]
    assert [(row["is_held"], row["status"]) for row in settled] == [(False, None), (True, "done")]
    assert world.row_and_lease(current) == before


def test_a_stale_token_does_not_profit_from_a_good_one_beside_it(world: World) -> None:
    job = world.running_job()
    good = {"job_id": str(job.id), "lease_token": str(job.lease_token)}
    stale = {"job_id": str(job.id), "lease_token": str(uuid4())}

    alive = world.queue.heartbeat_jobs([stale, good])
    with pytest.raises(InvalidRequest, match="outcomes: the same job appears twice"):
        world.queue.settle_jobs([{**good, "status": "done"}, {**stale, "status": "done"}])

    assert [row["is_held"] for row in alive] == [False, True]
    assert world.reload(job).status == "running"


def test_a_heartbeat_extends_the_lease_by_the_length_it_was_claimed_with(world: World) -> None:
    world.job()
    job = world.claim(lease_seconds=100)
    world.expire(job)

    world.queue.heartbeat_job(job, 0.25, "a quarter")

    left = world.value("select lease_expires_at - clock_timestamp() from jobs where id = %s", job.id)
    assert 95 < left.total_seconds() <= 100
    assert (world.reload(job).progress, world.reload(job).progress_message) == (0.25, "a quarter")


def test_a_heartbeat_without_news_keeps_the_progress(world: World) -> None:
    job = world.running_job()
    world.queue.heartbeat_job(job, 0.5, "half")

    world.queue.heartbeat_job(job)

    assert (world.reload(job).progress, world.reload(job).progress_message) == (0.5, "half")


@pytest.mark.parametrize("progress", [-0.1, 1.1, float("nan"), float("inf")])
def test_an_impossible_progress_is_refused(world: World, progress: float) -> None:
    job = world.running_job()

    with pytest.raises(InvalidRequest, match="progress: must be between 0 and 1"):
        world.queue.heartbeat_job(job, progress)


def test_a_beating_job_is_never_reaped_and_one_missed_beat_is_forgiven(world: World) -> None:
    job = world.running_job()

    for _ in range(9):
        # A third of the lease passes per step: nine steps are three times its length.
        world.run("update jobs set lease_expires_at = lease_expires_at - interval '20 seconds' where id = %s", job.id)
        reaped = world.service.maintenance.maintain()
        if _ % 2:
            world.queue.heartbeat_job(job)
        assert reaped == 0

    assert world.queue.complete_job(job).status == "done"


def test_heartbeats_are_heap_only_updates(world: World) -> None:
    job = world.running_job()
    world.run("vacuum jobs")
    with world.admin.transaction():
        before = world.row("select n_tup_upd, n_tup_hot_upd from pg_stat_xact_user_tables where relname = 'jobs'")
        for step in range(50):
            world.run("select heartbeat_job(%s, %s, %s)", job.id, job.lease_token, step / 50)
        after = world.row("select n_tup_upd, n_tup_hot_upd from pg_stat_xact_user_tables where relname = 'jobs'")

    updates = after["n_tup_upd"] - before["n_tup_upd"]
    in_place = after["n_tup_hot_upd"] - before["n_tup_hot_upd"]
    assert updates == 50
    # In one transaction the old versions pile up on the page; once in a while the row has to move.
    assert in_place >= 40


CHANGING = (
    "status",
    "run_at",
    "attempts",
    "lease_",
    "progress",
    "error_",
    "worker_id",
    "updated_at",
    "started_at",
    "finished_at",
)


def test_no_index_holds_a_column_that_changes_in_the_life_of_a_job(world: World) -> None:
    definitions = [row["indexdef"] for row in world.rows("select indexdef from pg_indexes where tablename = 'jobs'")]

    assert len(definitions) >= 4
    for column in CHANGING:
        assert not [definition for definition in definitions if column in definition]


def test_a_lease_taken_late_in_a_long_transaction_is_not_born_expired(world: World) -> None:
    world.job()

    with world.admin.transaction():
        world.run("select pg_sleep(3)")
        world.run("select claim_next_job('test', 'w', 10)")
        left = world.value("select lease_expires_at - clock_timestamp() from jobs").total_seconds()

    # From the start of the transaction it would be 7.
    assert left > 8


def test_an_expired_lease_goes_back_to_the_head_of_the_queue(world: World) -> None:
    crashed = world.running_job()
    for _ in range(3):
        world.job()
    world.expire(crashed)

    again = world.claim()

    assert (again.id, again.attempts) == (crashed.id, 2)
    (attempt,) = world.attempts(crashed)
    assert (attempt["number"], attempt["status"], attempt["error_code"]) == (1, "lease_expired", "LEASE_EXPIRED")
    assert attempt["worker_id"] == "worker-1"


def test_an_expired_lease_goes_before_those_that_were_enqueued_with_it(world: World) -> None:
    request = {"tenant_id": str(world.tenant()), "type": world.type()}
    world.service.jobs.enqueue_jobs([request] * 3)
    crashed = world.claim()
    world.expire(crashed)

    assert world.claim().id == crashed.id


def test_an_urgent_job_still_goes_before_an_expired_one(world: World) -> None:
    crashed = world.running_job()
    urgent = world.job(priority=10)
    world.expire(crashed)

    assert [world.claim().id, world.claim().id] == [urgent.id, crashed.id]


def test_an_expired_lease_is_dead_when_the_attempts_are_spent(world: World) -> None:
    world.job(max_attempts=2)
    for _ in range(2):
        world.expire(world.claim())

    nothing = world.queue.claim_next_job("test")

    (job,) = world.service.jobs.list_jobs()
    assert nothing is None
    assert (job.status, job.attempts, job.error_code) == ("dead", 2, "LEASE_EXPIRED")
    assert len(world.attempts(job)) == 2


def test_the_tick_gives_back_expired_leases_of_all_families(world: World) -> None:
    for family in ("one", "two"):
        world.job(world.type(f"do_{family}", family))
        world.expire(world.claim(family))
    world.job(world.type("do_three", "three"))
    alive = world.claim("three")

    assert world.service.maintenance.maintain() == 2
    assert world.service.maintenance.maintain() == 0
    assert world.reload(alive).status == "running"


def test_the_tick_finds_a_job_whose_type_moved_to_another_family(world: World) -> None:
    job = world.running_job()
    world.run("update job_types set family = 'moved' where key = %s", job.type)
    world.expire(job)

    assert world.service.maintenance.maintain() == 1
    assert world.reload(job).status == "queued"


def test_attempts_set_back_by_hand_wedge_nobody(world: World) -> None:
    job = world.running_job()
    world.queue.fail_job(job, {"code": "X"}, retryable=False)
    world.run("update jobs set status = 'queued', attempts = 0, finished_at = null")
    world.expire(world.claim())

    again = world.claim()

    assert (again.id, again.attempts) == (job.id, 2)
    assert world.queue.complete_job(again).status == "done"


def test_a_job_set_to_running_by_hand_wedges_nobody(world: World) -> None:
    job, other = world.job(), world.job()
    world.run("update jobs set status = 'running', lease_expires_at = now() where id = %s", job.id)

    claimed = {world.claim().id, world.claim().id}

    assert claimed == {job.id, other.id}


@pytest.mark.parametrize(
    "edit",
    [
        "update jobs set priority = 9, lane = 'a', max_attempts = 7",
        "update jobs set lease_expires_at = lease_expires_at + interval '1 hour', lease_seconds = 600",
        "update jobs set type = 'wave_hand'",
        "select rebuild_queue()",
    ],
)
def test_what_is_done_by_hand_leaves_the_job_to_its_worker(world: World, edit: LiteralString) -> None:
    job, _ = world.running_job(), world.type("wave_hand")

    world.run(edit)

    assert [held.lease_token for held in world.held_jobs()] == [job.lease_token]
    assert world.queue.heartbeat_job(job) is False
    assert world.queue.complete_job(job).status == "done"
    assert disagreements(world) == []


def test_a_rebuild_gives_a_running_job_without_a_lease_one_that_expires(world: World) -> None:
    lost, held = world.running_job(), world.running_job()
    world.run("delete from tickwork.leases where job_id = %s", lost.id)

    world.service.maintenance.rebuild_queue()

    assert [lease.lease_token == held.lease_token for lease in world.held_jobs()].count(True) == 1
    with pytest.raises(LeaseLost):
        world.queue.complete_job(lost)
    world.expire(lost)
    assert world.claim().id == lost.id
    assert disagreements(world) == []


def test_batches_of_the_same_jobs_in_opposite_order_do_not_deadlock(world: World) -> None:
    for _ in range(60):
        world.job()
    jobs = world.queue.claim_jobs("test", 60)
    beats = [{"job_id": str(job.id), "lease_token": str(job.lease_token)} for job in jobs]
    queues = (world.queue, world.other_queue)
    together = threading.Barrier(2, timeout=30)

    def beat(queue: Queue, beats: list[dict[str, str]]) -> None:
        in_step(together, 30, lambda round: queue.heartbeat_jobs(beats))

    both = [in_thread(lambda: beat(queues[0], beats)), in_thread(lambda: beat(queues[1], beats[::-1]))]
    for finish in both:
        finish()

    assert {row["is_held"] for row in world.queue.heartbeat_jobs(beats)} == {True}


def test_a_heartbeat_and_a_mixed_batch_of_the_same_jobs_do_not_deadlock(world: World) -> None:
    low, high = sorted([world.running_job(), world.running_job()], key=lambda job: job.id)
    somebody = transaction(world)
    somebody.execute("select from jobs where id = %s for update", [low.id])
    outcomes = [{**lease_of(low), "status": "released"}, {**lease_of(high), "status": "done"}]

    with ThreadPoolExecutor(2) as pool:
        beat = pool.submit(world.queue.heartbeat_jobs, [lease_of(low), lease_of(high)])
        until_waiting_or_done(world, beat)
        settled = pool.submit(world.other_queue.settle_jobs, outcomes)
        until_waiting_or_done(world, beat, settled)
        somebody.commit()

    assert [row["is_held"] for row in beat.result()] == [True, True]
    assert [row["status"] for row in settled.result()] == ["queued", "done"]


LOCKS: dict[str, LiteralString] = {
    "settle": "select complete_job(%(id)s, %(token)s)",
    "edit": "select from jobs where id = %(id)s for update",
}


@pytest.mark.parametrize("lock", LOCKS)
def test_a_heartbeat_waits_for_nobody(world: World, lock: str) -> None:
    locked, other = world.running_job(), world.running_job()
    before = world.reload(other).lease_expires_at
    somebody = transaction(world)
    somebody.execute(LOCKS[lock], {"id": locked.id, "token": locked.lease_token})

    with ThreadPoolExecutor(1) as pool:
        beat = pool.submit(world.queue.heartbeat_jobs, [lease_of(locked), lease_of(other)])
        until_waiting_or_done(world, beat)
        has_waited = not beat.done()
        somebody.rollback()

    assert not has_waited
    assert [(row["job_id"], row["is_held"]) for row in beat.result()] == [(locked.id, True), (other.id, True)]
    assert world.reload(other).lease_expires_at > before  # type: ignore[operator]
    assert world.queue.complete_job(locked).status == "done"


def test_a_job_that_completes_before_the_reaper_has_its_lock_stays_done(world: World) -> None:
    job = world.running_job()
    world.expire(job)
    worker = world.connect()
    worker.autocommit = False
    worker.execute("select complete_job(%s, %s)", [job.id, job.lease_token])

    passed_over = world.service.maintenance.maintain()
    worker.commit()
    afterwards = world.service.maintenance.maintain()

    assert (passed_over, afterwards) == (0, 0)
    assert world.reload(job).status == "done"


def test_a_completion_that_waits_for_the_reaper_is_refused(world: World) -> None:
    job = world.running_job()
    world.expire(job)
    reaper = world.connect()
    reaper.autocommit = False
    reaper.execute("select maintain()")
    completing = in_thread(lambda: world.queue.complete_job(job))
    wait_for_lock(world)

    reaper.commit()

    with pytest.raises(LeaseLost):
        completing()
    assert world.reload(job).status == "queued"


def test_two_reapers_at_once_end_an_attempt_once(world: World) -> None:
    jobs = [world.running_job() for _ in range(5)]
    for job in jobs:
        world.expire(job)
    first = world.connect()
    first.autocommit = False
    row = first.execute("select tickwork.reap('test', 100) as reaped").fetchone()

    second = world.service.maintenance.maintain()
    first.commit()

    assert (row, second) == ({"reaped": 5}, 0)
    assert [len(world.attempts(job)) for job in jobs] == [1] * 5


def test_rows_that_must_be_passed_over_do_not_starve_the_reaper(world: World) -> None:
    for _ in range(300):
        world.job()
    alive = world.queue.claim_jobs("test", 250)
    crashed = world.queue.claim_jobs("test", 50)
    for job in crashed:
        world.expire(job)

    assert world.service.maintenance.maintain() == 50
    assert world.value("select count(*) from jobs where status = 'running'") == len(alive)


def test_an_expired_job_keeps_its_dedupe_key_and_wedges_nobody(world: World) -> None:
    keyed, other = world.running_job(dedupe_key="d"), world.running_job()
    duplicate = world.job(dedupe_key="d")
    world.expire(keyed)
    world.expire(other)

    assert world.service.maintenance.maintain() == 2
    assert duplicate.id == keyed.id
    assert world.reload(keyed).status == world.reload(other).status == "queued"


def test_a_silent_worker_that_comes_back_in_time_keeps_its_lease(world: World) -> None:
    job = world.running_job()
    world.expire(job)

    world.queue.heartbeat_job(job)

    assert world.service.maintenance.maintain() == 0
    assert world.queue.complete_job(job).status == "done"


def test_a_claim_does_not_wait_for_somebody_who_cancels_a_job_whose_lease_has_expired(world: World) -> None:
    expired, other = world.running_job(), world.job()
    world.expire(expired)
    somebody = transaction(world)
    somebody.execute("select cancel_job(%s)", [expired.id])
    # Who waits fails.
    world.run("alter role tickwork_worker set lock_timeout = '1s'")
    try:
        worker = world.connect_worker()
        claimed = worker.execute("select id from claim_jobs('test', 'w', 2)").fetchall()
    finally:
        world.run("alter role tickwork_worker reset lock_timeout")
    somebody.commit()
    world.service.maintenance.maintain()

    assert [row["id"] for row in claimed] == [other.id]
    assert world.reload(expired).status == "cancelled"
