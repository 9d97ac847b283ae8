"""How many jobs start in a minute: as many at once after a quiet one, then evenly."""

from uuid import UUID

import pytest

from tests.world import World
from tests.world.crowd import claim_all, enqueue, let_time_pass, shares

LANE = "connector:1"
KINDS = pytest.mark.parametrize("kind", ["tenant and type", "lane"])


def limit(world: World, kind: str, tenant: UUID, starts: int | None) -> None:
    if kind == "lane":
        world.service.pauses.limit_lane("test", tenant, LANE, starts_per_minute=starts)
    else:
        world.run("update job_types set starts_per_minute = %s", starts)


def limited(world: World, kind: str, starts: int) -> UUID:
    """A tenant with ten jobs in one lane, of which so many may start in a minute."""
    tenant, _ = world.tenant(), world.type()
    limit(world, kind, tenant, starts)
    enqueue(world, tenant, 10, lane=LANE)
    return tenant


@KINDS
def test_the_starts_of_a_minute_come_at_once_and_then_evenly(world: World, kind: str) -> None:
    limited(world, kind, 2)

    burst = claim_all(world)
    let_time_pass(world, 20)
    too_early = claim_all(world)
    let_time_pass(world, 15)
    half_a_minute_later = claim_all(world)
    let_time_pass(world, 3600)
    an_hour_later = claim_all(world)

    assert [len(jobs) for jobs in (burst, too_early, half_a_minute_later, an_hour_later)] == [2, 0, 1, 2]


@KINDS
def test_a_job_that_ends_gives_no_start_back(world: World, kind: str) -> None:
    limited(world, kind, 2)
    first, second = claim_all(world)

    world.queue.complete_job(first)
    world.queue.release_job(second)

    assert claim_all(world) == []


@KINDS
def test_a_batch_starts_no_more_and_others_go_on(world: World, kind: str) -> None:
    tenant = limited(world, kind, 2)
    other = world.tenant()
    enqueue(world, other, 2, lane=LANE)

    first = world.queue.claim_jobs("test", 100)
    let_time_pass(world, 31)
    second = world.queue.claim_jobs("test", 100)

    assert shares(first) == {tenant: 2, other: 2}
    assert shares(second) == {tenant: 1}


@KINDS
def test_a_changed_rate_holds_from_the_next_claim_on(world: World, kind: str) -> None:
    tenant = limited(world, kind, 2)
    claim_all(world)

    limit(world, kind, tenant, 60)
    let_time_pass(world, 3)
    raised = claim_all(world)
    limit(world, kind, tenant, None)
    removed = claim_all(world)

    # One second is one start, and nobody knows how long a claim takes on a busy machine.
    assert 3 <= len(raised) < 8
    assert len(raised) + len(removed) == 8
