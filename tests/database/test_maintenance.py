"""Upkeep by one function: all of it, by whoever calls it, one at a time, and never by a claim."""

from collections.abc import Callable

import pytest

from tests.world import World
from tests.world.crowd import transaction
from tests.world.upkeep import leave_to_upkeep, left_to_upkeep
from tests.world.waiting import until

ALL = ["schedule", "lease", "retention", "delivery", "figures"]
CALLERS: dict[str, Callable[[World], object]] = {
    "a worker": lambda world: world.queue.maintain(),
    "a ticker": lambda world: world.service.maintenance.maintain(),
    "cron": lambda world: world.run("select tickwork.tick('test')"),
}


@pytest.mark.parametrize("caller", CALLERS)
def test_one_function_does_all_of_it(world: World, caller: str) -> None:
    leave_to_upkeep(world)
    world.run("insert into tickwork.functions (family, url, max_calls) values ('test', 'https://test.example', 1)")
    world.run("insert into tickwork.call_secrets (key, secret) values ('tickwork_hmac_secret', repeat('x', 32))")
    world.run("create or replace function tickwork.count_due(family text, most integer) returns integer return 0")
    assert left_to_upkeep(world) == ALL

    CALLERS[caller](world)
    assert set(left_to_upkeep(world)) <= {"figures"}

    def is_done() -> bool:
        world.run("update tickwork.rollup set rolled_at = '-infinity'")
        CALLERS[caller](world)
        return left_to_upkeep(world) == []

    until(is_done)


def test_a_claim_does_none_of_it(world: World) -> None:
    leave_to_upkeep(world)

    assert world.queue.claim_next_job("test") is None
    assert world.queue.claim_next_job("webhook") is None

    assert left_to_upkeep(world) == ALL


def test_whoever_comes_second_returns_at_once_and_does_nothing(world: World) -> None:
    world.job()
    first = transaction(world)
    first.execute("select maintain()")
    world.expire(world.claim())

    while_another_does = world.queue.maintain()
    first.commit()

    assert while_another_does == 0
    assert world.queue.maintain() == 1


def test_many_callers_do_it_only_so_often(world: World) -> None:
    job = world.running_job()
    world.expire(job)
    world.run("update tickwork.maintenance set maintained_at = clock_timestamp() + interval '1 hour'")

    assert world.queue.maintain(every_seconds=3600) == 0
    world.run("update tickwork.maintenance set maintained_at = clock_timestamp() - interval '61 seconds'")
    assert world.queue.maintain(every_seconds=60) == 1


def test_it_waits_for_nobody(world: World) -> None:
    leave_to_upkeep(world)
    somebody = transaction(world)
    for table in ("tickwork.family_types", "schedules", "tickwork.leases", "jobs", "webhook_deliveries"):
        somebody.execute(f"select from {table} for update")
    impatient = world.connect_worker()
    # Who waits fails.
    impatient.execute("set lock_timeout = '1s'")

    impatient.execute("select maintain()")
    passed_over = left_to_upkeep(world)
    somebody.rollback()
    impatient.execute("select maintain()")

    assert passed_over == ALL
    assert set(left_to_upkeep(world)) <= {"figures"}


def test_what_fails_leaves_no_trace_that_it_was_done(world: World) -> None:
    world.run("create function tickwork.stumble() returns void language plpgsql as $$ begin raise 'ouch'; end $$")
    world.run("grant execute on function tickwork.stumble to tickwork_owner")
    world.run("insert into tickwork.hooks (moment, function_name) values ('tick', 'stumble')")

    with pytest.raises(Exception, match="ouch"):
        world.run("select maintain()")

    assert world.value("select maintained_at = '-infinity' from tickwork.maintenance")
