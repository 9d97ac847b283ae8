"""How many jobs a tenant may have queued: one more is refused, whichever way it comes."""

from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from uuid import UUID

import psycopg
import pytest
from psycopg.types.json import Jsonb

from tests.world import World
from tests.world.crowd import enqueue, transaction, until_waiting_or_done
from tickwork.client import Tickwork
from tickwork.database.connection import Connection, Database
from tickwork.errors import QueueFull


def tenant_with_room(world: World, most: int) -> UUID:
    world.type()
    tenant = world.tenant()
    world.run("update tenant_settings set max_queued = %s where tenant_id = %s", most, tenant)
    return tenant


def queued(world: World, tenant: UUID) -> int:
    return int(world.value("select count(*) from jobs where status = 'queued' and tenant_id = %s", tenant))


def enqueue_until_full(world: World, tenant: UUID) -> int:
    for taken in range(1000):
        try:
            world.service.jobs.enqueue_job(tenant, "greet_person")
        except QueueFull:
            return taken
    raise AssertionError("it is never full")


def test_one_job_too_many_is_refused_by_name_and_number(world: World) -> None:
    tenant = tenant_with_room(world, 10)
    for _ in range(10):
        world.service.jobs.enqueue_job(tenant, "greet_person")

    with pytest.raises(QueueFull, match=f"tenant {tenant} has 10 jobs queued") as refusal:
        world.service.jobs.enqueue_job(tenant, "greet_person")

    assert (refusal.value.sqlstate, queued(world, tenant)) == ("TWFUL", 10)
    assert "max_queued" in str(refusal.value.hint)


def test_a_batch_goes_in_as_a_whole_or_not_at_all(world: World) -> None:
    tenant = tenant_with_room(world, 10)
    enqueue(world, tenant, 8)

    with pytest.raises(QueueFull):
        world.service.jobs.enqueue_jobs([{"tenant_id": str(tenant), "type": "greet_person"}] * 3)
    after_three = queued(world, tenant)
    world.service.jobs.enqueue_jobs([{"tenant_id": str(tenant), "type": "greet_person"}] * 2)

    assert (after_three, queued(world, tenant)) == (8, 10)


def test_jobs_for_later_are_counted_too(world: World) -> None:
    tenant = tenant_with_room(world, 3)
    for _ in range(3):
        world.service.jobs.enqueue_job(tenant, "greet_person", run_at="2999-01-01")

    assert enqueue_until_full(world, tenant) == 0


def test_a_plain_insert_by_a_member_is_counted(world: World) -> None:
    tenant = tenant_with_room(world, 3)
    member = world.member_of(tenant)
    insert = "insert into jobs (tenant_id, type) select %s, 'greet_person' from generate_series(1, %s)"
    member.execute(insert, [tenant, 2])

    with pytest.raises(psycopg.Error) as refusal:
        member.execute(insert, [tenant, 2])
    member.execute(insert, [tenant, 1])

    assert (refusal.value.sqlstate, queued(world, tenant)) == ("TWFUL", 3)


def test_a_follow_up_is_counted_and_the_job_stays_running(world: World) -> None:
    tenant = tenant_with_room(world, 1)
    world.service.jobs.enqueue_job(tenant, "greet_person")
    job = world.claim()
    world.service.jobs.enqueue_job(tenant, "greet_person")

    with pytest.raises(psycopg.Error) as refusal:
        world.admin.execute(
            """select complete_job(%s, %s, null, '[{"type": "greet_person"}]')""", [job.id, job.lease_token]
        )

    assert refusal.value.sqlstate == "TWFUL"
    assert world.reload(job).status == "running"


def test_as_many_get_in_at_once_as_there_is_room_for(world: World) -> None:
    tenant = tenant_with_room(world, 10)

    def enqueue_two(number: int) -> int:
        with closing(Database(world.url)) as database:
            return enqueue_some(Tickwork(database), tenant, 2)

    with ThreadPoolExecutor(16) as pool:
        taken = sum(pool.map(enqueue_two, range(16)))

    assert taken == queued(world, tenant) == 10


def enqueue_some(client: Tickwork, tenant: UUID, jobs: int) -> int:
    taken = 0
    for _ in range(jobs):
        try:
            client.jobs.enqueue_job(tenant, "greet_person")
            taken += 1
        except QueueFull:
            pass
    return taken


@pytest.mark.parametrize(("ending", "taken"), [("commit", 0), ("rollback", 1)])
def test_an_enqueue_in_flight_is_counted(world: World, ending: str, taken: int) -> None:
    tenant = tenant_with_room(world, 10)
    enqueue(world, tenant, 9)
    undecided = transaction(world)
    undecided.execute("select from enqueue_job(%s, 'greet_person')", [tenant])

    with ThreadPoolExecutor(1) as pool:
        other = pool.submit(enqueue_some, world.service, tenant, 1)
        until_waiting_or_done(world, other)
        getattr(undecided, ending)()

    assert other.result() == taken
    assert queued(world, tenant) == 10


def test_a_job_that_is_claimed_or_cancelled_makes_room_at_once(world: World) -> None:
    tenant = tenant_with_room(world, 10)
    enqueue_until_full(world, tenant)

    world.claim()
    after_claim = enqueue_until_full(world, tenant)
    world.service.jobs.cancel_job(world.value("select min(id::text) from jobs where status = 'queued'"))
    after_cancel = enqueue_until_full(world, tenant)

    assert (after_claim, after_cancel) == (1, 1)


def test_a_changed_maximum_holds_at_once(world: World) -> None:
    tenant = tenant_with_room(world, 5000)
    enqueue(world, tenant, 5)

    world.run("update tenant_settings set max_queued = 8 where tenant_id = %s", tenant)
    lowered = enqueue_until_full(world, tenant)
    world.run("update tenant_settings set max_queued = 20 where tenant_id = %s", tenant)
    raised = enqueue_until_full(world, tenant)
    world.run("update tenant_settings set max_queued = 0 where tenant_id = %s", tenant)
    world.queue.claim_jobs("test", 20)
    forbidden = enqueue_until_full(world, tenant)

    assert (lowered, raised, forbidden) == (3, 12, 0)


def test_a_maximum_may_be_as_large_as_it_gets(world: World) -> None:
    tenant = tenant_with_room(world, 2**31 - 1)

    enqueue(world, tenant, 3)

    assert queued(world, tenant) == 3


def test_a_maximum_that_is_lowered_during_the_first_enqueue_holds(world: World) -> None:
    tenant = tenant_with_room(world, 5000)
    enqueuing = transaction(world)
    enqueuing.execute("select from enqueue_job(%s, 'greet_person')", [tenant])

    with ThreadPoolExecutor(1) as pool:
        lower = "update tenant_settings set max_queued = 3 where tenant_id = %s"
        lowering = pool.submit(world.connect().execute, lower, [tenant])
        until_waiting_or_done(world, lowering)
        enqueuing.commit()
        lowering.result()

    assert enqueue_until_full(world, tenant) == 2


def test_what_runs_may_come_back_into_a_full_queue(world: World) -> None:
    tenant = tenant_with_room(world, 3)
    enqueue(world, tenant, 3)
    failed, released, expired = world.queue.claim_jobs("test", 3)
    enqueue(world, tenant, 3)

    world.queue.fail_job(failed, {"code": "X"})
    world.queue.release_job(released)
    world.expire(expired)
    world.service.maintenance.maintain()

    assert queued(world, tenant) == 6
    assert enqueue_until_full(world, tenant) == 0


def test_other_tenants_have_their_own_room(world: World) -> None:
    full, other = tenant_with_room(world, 1), world.tenant("other")
    enqueue_until_full(world, full)

    world.service.jobs.enqueue_job(other, "greet_person")
    both = [{"tenant_id": str(tenant), "type": "greet_person"} for tenant in (other, full)]
    with pytest.raises(QueueFull, match=str(full)):
        world.service.jobs.enqueue_jobs(both)

    assert (queued(world, full), queued(world, other)) == (1, 1)


def test_a_rolled_back_enqueue_gives_its_room_back(world: World) -> None:
    tenant = tenant_with_room(world, 10)
    enqueue(world, tenant, 1)
    undecided = transaction(world)
    for _ in range(9):
        undecided.execute("select from enqueue_job(%s, 'greet_person')", [tenant])

    undecided.rollback()

    assert enqueue_until_full(world, tenant) == 9


def test_two_transactions_that_enqueue_bit_by_bit_do_not_deadlock(world: World) -> None:
    tenant = tenant_with_room(world, 80)
    enqueue(world, tenant, 1)
    first, second = transaction(world), transaction(world)

    def insert(connection: Connection, jobs: int) -> None:
        query = "insert into jobs (tenant_id, type) select %s, 'greet_person' from generate_series(1, %s)"
        connection.execute(query, [tenant, jobs])

    def insert_one_and_then_many() -> None:
        insert(second, 1)
        insert(second, 20)
        second.commit()

    insert(first, 1)
    with ThreadPoolExecutor(1) as pool:
        both = pool.submit(insert_one_and_then_many)
        until_waiting_or_done(world, both)
        insert(first, 20)
        first.commit()
        both.result()

    assert queued(world, tenant) == 43


def test_a_batch_for_several_lines_of_a_tenant_does_not_deadlock(world: World) -> None:
    tenant = tenant_with_room(world, 80)
    enqueue(world, tenant, 1)
    undecided = transaction(world)
    undecided.execute("select from enqueue_job(%s, 'greet_person')", [tenant])
    lanes = ["few", *["many"] * 20, "also few"]
    batch = [{"tenant_id": str(tenant), "type": "greet_person", "lane": lane} for lane in lanes]

    with ThreadPoolExecutor(2) as pool:
        counting = pool.submit(world.connect().execute, "select from enqueue_jobs(%s)", [Jsonb(batch[1:21])])
        until_waiting_or_done(world, counting)
        enqueuing = pool.submit(world.connect().execute, "select from enqueue_jobs(%s)", [Jsonb(batch)])
        until_waiting_or_done(world, counting, enqueuing)
        undecided.commit()
        counting.result()
        enqueuing.result()

    assert queued(world, tenant) == 1 + 1 + 20 + 22
