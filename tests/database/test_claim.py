"""queued -> running: who gets which job, and what a claim leaves alone."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any
from uuid import UUID

import psycopg
import pytest

from tests.world import World
from tests.world.verb_queue import VerbQueue, settled_and_claimed
from tickwork.database.connection import Database


def test_a_claim_leases_the_job_to_the_worker(world: World) -> None:
    world.job(world.type(lease_seconds=30, timeout_seconds=77))

    claimed = world.claim()

    job = world.reload(claimed)
    assert world.held_jobs() == [claimed]
    assert (job.status, job.attempts, job.worker_id) == ("running", 1, "worker-1")
    assert (job.lease_seconds, job.timeout_seconds) == (30, 77)
    assert job.lease_expires_at is not None
    assert job.started_at is not None
    assert 29 < (job.lease_expires_at - job.started_at).total_seconds() < 31


@pytest.mark.parametrize("options", [{}, {"dedupe_key": True}, {"lane": "a"}, {"notify": True}], ids=str)
def test_one_job_and_many_are_started_alike(world: World, options: dict[str, Any]) -> None:
    type = world.type(lease_seconds=30, timeout_seconds=77)
    for number in range(3):
        given: dict[str, Any] = {**options, **({"dedupe_key": str(number)} if "dedupe_key" in options else {})}
        world.job(type, **given)
    world.run("update jobs set progress = 0.5, progress_message = 'half', error_code = 'E', error_message = 'e'")
    # The first claim has more to do.
    world.claim()

    one, many = started_by(world, 1, types=[type]), started_by(world, 2)

    assert one == many
    assert (one["status"], one["progress_message"], one["is_watched"]) == ("running", None, options != {})


def started_by(world: World, max_jobs: int, types: list[str] | None = None) -> dict[str, Any]:
    """The row and the lease of a job, without what differs from one to the next."""
    with world.admin.transaction():
        before = world.value("select clock_timestamp()")
        claimed = world.row("select id, lease_token from claim_jobs('test', 'w', %s, types => %s)", max_jobs, types)
    row = world.row(
        "select jobs.*, leases.is_watched, leases.lane as lane_of_lease, leases.family as family_of_lease, "
        "leases.type as type_of_lease, leases.tenant_id as tenant_of_lease, leases.lease_seconds as leased_for, "
        "leases.token = %s and leases.expires_at = jobs.lease_expires_at as is_leased "
        "from jobs join tickwork.leases on leases.job_id = jobs.id where jobs.id = %s",
        *(claimed["lease_token"], claimed["id"]),
    )
    assert row["updated_at"] == row["started_at"] > before
    assert (row["lease_expires_at"] - row["started_at"]).total_seconds() == 30
    differing = {"id", "dedupe_key", "lease_expires_at", "run_at"}
    differing |= {"created_at", "updated_at", "started_at"}
    return {name: value for name, value in row.items() if name not in differing}


def test_a_token_settles_only_the_jobs_it_was_given_for(world: World) -> None:
    world.job()
    world.job()
    first, second = world.claim(), world.claim()

    exchanged = [
        {"job_id": str(job.id), "lease_token": str(other.lease_token), "status": "done"}
        for job, other in ((first, second), (second, first))
    ]
    settled = world.queue.settle_jobs(exchanged)

    assert [row["is_held"] for row in settled] == [False, False]
    assert world.held_jobs() == sorted([first, second], key=lambda job: job.id)


def test_every_claim_has_a_token_of_its_own(world: World) -> None:
    for _ in range(6):
        world.job()

    batches = [world.queue.claim_jobs("test", 2) for _ in range(3)]

    assert [len({job.lease_token for job in jobs}) for jobs in batches] == [1, 1, 1]
    assert len({jobs[0].lease_token for jobs in batches}) == 3


def test_the_worker_may_ask_for_another_lease(world: World) -> None:
    world.job()

    assert world.claim(lease_seconds=600).lease_seconds == 600


@pytest.mark.parametrize("seconds", [0, -1, 9, 3601])
def test_a_lease_out_of_range_is_refused_and_claims_nothing(world: World, seconds: int) -> None:
    job = world.job()

    with pytest.raises(Exception, match=f"lease_seconds: {seconds} is out of range, it must be 10 to 3600") as refusal:
        world.queue.claim_next_job("test", seconds)

    assert getattr(refusal.value, "sqlstate", None) == "TWLEA"
    assert world.reload(job).status == "queued"


@pytest.mark.parametrize("worker_id", ["", None])
def test_a_worker_without_a_name_is_refused(world: World, worker_id: str | None) -> None:
    with pytest.raises(psycopg.Error, match="worker_id: must not be empty"):
        world.connect_worker().execute("select claim_next_job('test', %s)", [worker_id])


def test_a_claim_for_no_family_is_refused(world: World) -> None:
    with pytest.raises(psycopg.Error, match="family: must not be empty"):
        world.connect_worker().execute("select claim_next_job(null, 'w')")


def test_a_job_out_of_attempts_that_somebody_holds_blocks_nobody(world: World) -> None:
    poison, healthy = world.job(), world.job()
    world.run("update jobs set attempts = max_attempts where id = %s", poison.id)
    holder = world.connect()
    holder.autocommit = False
    holder.execute("select from jobs where id = %s for update", [poison.id])

    assert world.claim().id == healthy.id


def test_a_job_that_somebody_holds_blocks_nobody(world: World) -> None:
    held, free = world.job(), world.job()
    holder = world.connect()
    holder.autocommit = False
    holder.execute("select from jobs where id = %s for update", [held.id])

    assert world.claim().id == free.id


def test_a_claim_takes_only_the_types_it_asks_for(world: World) -> None:
    world.job(world.type(), priority=9)
    wanted = world.job(world.type("wave_hand"))

    claimed = [world.queue.claim_next_job("test", types=["wave_hand"]) for _ in range(2)]

    assert [job and job.id for job in claimed] == [wanted.id, None]


def test_nothing_due_is_no_row(world: World) -> None:
    world.job(run_at="2999-01-01")

    assert world.queue.claim_next_job("test") is None
    assert world.queue.claim_next_job("no_such_family") is None


def test_a_job_is_due_from_its_very_run_at(world: World) -> None:
    world.run("select 1")
    tenant, type = world.tenant(), world.type()

    # now() stands still within a transaction: the job's run_at is the moment at which the claim asks.
    with world.admin.transaction():
        world.run("insert into jobs (tenant_id, type, run_at) values (%s, %s, now())", tenant, type)
        claimed = world.rows("select id from claim_next_job('test', 'w')")

    assert len(claimed) == 1


def test_higher_priority_first_then_the_oldest_due_job(world: World) -> None:
    world.job(priority=0, run_at="2020-01-01", correlation_id="fourth")
    world.job(priority=5, run_at="2020-01-03", correlation_id="third")
    world.job(priority=5, run_at="2020-01-02", correlation_id="second")
    world.job(priority=9, run_at="2020-01-09", correlation_id="first")
    world.job(priority=50, run_at="2999-01-01", correlation_id="never")

    order = [world.claim().correlation_id for _ in range(4)]

    assert order == ["first", "second", "third", "fourth"]


def test_a_future_job_of_the_same_lane_and_key_blocks_nobody(world: World) -> None:
    world.job(run_at="2999-01-01", lane="connector:1", dedupe_key="a")
    ready = world.job(lane="connector:1", dedupe_key="b")

    assert world.claim().id == ready.id


def test_a_claim_never_takes_more_than_it_was_asked_for_whatever_the_plan(world: World) -> None:
    for _ in range(30):
        world.job()
    worker = world.connect()
    for setting in ("hashjoin", "mergejoin", "hashagg", "indexscan", "indexonlyscan", "material", "memoize"):
        worker.execute(f"set enable_{setting} = off")

    one = worker.execute("select * from claim_next_job('test', 'w')").fetchall()
    seven = worker.execute("select * from claim_jobs('test', 'w', 7)").fetchall()

    assert (len(one), len(seven)) == (1, 7)
    assert world.value("select count(*) from jobs where status = 'running'") == 8


def test_a_batch_takes_all_that_there_are_also_when_some_are_taken_for_their_low_priority(world: World) -> None:
    type = world.type()

    # Low priorities come first now and then: once in ten starts.
    for _ in range(12):
        enqueued = {world.job(type, priority=priority).id for priority in (100, 50, 0, 0)}

        assert {job.id for job in world.queue.claim_jobs("test", 4)} == enqueued


def test_a_claim_locks_only_what_it_takes(world: World) -> None:
    for priority in range(5):
        for _ in range(4):
            world.job(priority=priority)
    claiming = world.connect()
    claiming.autocommit = False

    taken = claiming.execute("select id from claim_jobs('test', 'w', 3)").fetchall()

    free = world.value("select count(*) from (select from jobs for update skip locked) as free")
    assert len(taken) == 3
    assert free == 20 - 3


def test_concurrent_claims_never_share_a_job(world: World) -> None:
    for _ in range(200):
        world.job()

    def drain(number: int) -> list[UUID]:
        database = Database(world.worker_url)
        queue, mine = VerbQueue(database, f"worker-{number}"), []
        while job := queue.claim_next_job("test"):
            mine.append(job.id)
        database.close()
        return mine

    with ThreadPoolExecutor(8) as pool:
        claimed = [id for mine in pool.map(drain, range(8)) for id in mine]

    assert len(claimed) == len(set(claimed)) == 200


@pytest.mark.parametrize("types", [None, ["greet_person"]])
def test_a_claim_in_flight_hides_its_job_but_no_other(world: World, types: list[str] | None) -> None:  # without limits
    first, second = world.job(), world.job()
    claiming = world.connect()
    claiming.autocommit = False
    taken = claiming.execute("select id from claim_next_job('test', 'w', types => %s)", [types]).fetchall()

    other = world.queue.claim_next_job("test", types=types)

    assert [row["id"] for row in taken] == [first.id]
    assert other is not None
    assert other.id == second.id


def test_a_job_out_of_attempts_in_the_queue_is_dead_and_stops_nobody(world: World) -> None:
    poison, healthy = world.job(), world.job()
    world.run("update jobs set attempts = max_attempts where id = %s", poison.id)

    claimed = world.claim()

    assert claimed.id == healthy.id
    assert (world.reload(poison).status, world.reload(poison).error_code) == ("dead", "NO_ATTEMPTS_LEFT")


@pytest.mark.parametrize("types", [None, ["greet_person"]])
def test_a_child_row_can_be_written_while_the_job_is_claimed(world: World, types: list[str] | None) -> None:
    world.run("create table notes (job_id uuid references jobs (id))")
    job = world.job()
    claiming = world.connect()
    claiming.autocommit = False
    claiming.execute("select claim_next_job('test', 'w', types => %s)", [types])

    with world.admin.transaction():
        world.run("set local lock_timeout = '2s'")
        world.run("insert into notes values (%s)", job.id)

    assert world.value("select count(*) from notes") == 1


@pytest.mark.parametrize("role", ["tickwork_worker", "service_role"])
def test_every_role_that_may_claim_gets_a_job(world: World, role: str) -> None:
    job = world.job()

    rows = world.connect(role).execute("select id from claim_next_job('test', 'w')").fetchall()

    assert [row["id"] for row in rows] == [job.id]


@pytest.mark.parametrize("role", ["anon", "authenticated"])
def test_nobody_else_may_claim(world: World, role: str) -> None:
    job = world.job()

    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        world.connect(role).execute("select claim_next_job('test', 'w')")

    assert world.reload(job).status == "queued"


def test_many_jobs_are_claimed_at_once(world: World) -> None:
    for _ in range(5):
        world.job()

    jobs = world.queue.claim_jobs("test", 3)

    assert len(jobs) == 3
    assert all(world.reload(job).status == "running" for job in jobs)
    assert world.held_jobs() == sorted(jobs, key=lambda job: job.id)


@pytest.mark.parametrize("how_many", [0, 1001])
def test_an_absurd_batch_is_refused(world: World, how_many: int) -> None:
    with pytest.raises(Exception, match=f"max_jobs: {how_many} is out of range, it must be 1 to 1000"):
        world.queue.claim_jobs("test", how_many)


def test_a_type_that_says_nothing_has_a_lease_of_60_and_a_timeout_of_300_seconds(world: World) -> None:
    world.job(world.type())

    claimed = world.claim()

    assert (claimed.lease_seconds, claimed.timeout_seconds) == (60, 300)
    seconds = world.value("select extract(epoch from lease_expires_at - started_at) from jobs")
    assert 59 < seconds < 61


def test_a_job_whose_type_was_deleted_still_runs(world: World) -> None:
    job = world.job()
    world.run("delete from job_types where key = %s", job.type)

    claimed = world.claim()
    world.queue.fail_job(claimed, {"code": "X"})

    assert (claimed.lease_seconds, claimed.timeout_seconds) == (60, None)
    assert world.reload(job).status == "queued"


def test_a_claim_gets_only_the_types_it_names(world: World) -> None:
    known, unknown = world.type(), world.type("wave_hand")
    for type in (unknown, known, unknown, known):
        world.job(type)

    one = world.queue.claim_next_job("test", types=[known])
    many = world.queue.claim_jobs("test", 10, types=[known, "no_such_type"])
    _, none = settled_and_claimed(world.queue, [], "test", types=[known])
    rest = world.queue.claim_jobs("test", 10)

    assert [job.type for job in [one, *many] if job] == [known, known]
    assert none == []
    assert [job.type for job in rest] == [unknown, unknown]


def test_a_type_that_nobody_has_asked_for_is_named(world: World) -> None:
    known, unknown = world.type(), world.type("wave_hand")
    job = world.job(unknown)

    world.queue.claim_next_job("test", types=[known])

    assert "No worker that knows the type 'wave_hand' has asked for jobs." in world.service.jobs.explain_job(job.id)
