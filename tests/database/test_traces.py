"""Traces: a job continues that of whoever enqueued it, hands it on, and is linked where it has one of its own."""

import json
from functools import partial
from typing import Any

import psycopg
import pytest

from tests.database.test_event_triggers import started, trigger
from tests.world import World
from tests.world.calendar import NOON, schedule, tick
from tests.world.receivers import emit, endpoint
from tickwork.errors import InvalidRequest
from tickwork.jobs.rows import FollowUp
from tickwork.tools import events
from tickwork.traces import parsed

GIVEN = f"00-{'ab' * 16}-{'cd' * 8}-01"
OTHER = f"00-{'12' * 16}-{'34' * 8}-00"
NOT_VALID = [
    "",
    "00",
    GIVEN.upper(),
    GIVEN.replace("00-", "01-", 1),
    GIVEN + "-",
    GIVEN[:-1],
    f"00-{'0' * 32}-{'cd' * 8}-01",
    f"00-{'ab' * 16}-{'0' * 16}-01",
    "x" * 10_000,
]


def set_headers(world: World, headers: str) -> None:
    """As PostgREST does, for whatever the operator's connections do from now on."""
    query = "select set_config('request.headers', %(headers)s, false)"
    world.admin.execute(query, {"headers": headers})
    world.service.database.rows(query, {"headers": headers})


def traceparents(world: World) -> list[str | None]:
    return [row["traceparent"] for row in world.rows("select traceparent from jobs order by created_at, id")]


def enqueue_in_every_way(world: World, **trace: Any) -> None:
    tenant, type = world.tenant(), world.type()
    world.service.jobs.enqueue_job(tenant, type, **trace)
    world.service.jobs.enqueue_job(tenant, type, dedupe_key="key", **trace)
    world.service.jobs.enqueue_jobs([{"tenant_id": str(tenant), "type": type, **trace}] * 2)
    names = ", ".join(["tenant_id", "type", *trace])
    values = [tenant, type, *trace.values()]
    world.admin.execute(f"insert into jobs ({names}) values ({', '.join(['%s'] * len(values))})", values)


def test_a_job_continues_the_trace_that_it_is_given(world: World) -> None:
    enqueue_in_every_way(world, traceparent=GIVEN)

    assert traceparents(world) == [GIVEN] * 5
    assert world.claim().trace == GIVEN
    assert {job.trace for job in world.queue.claim_jobs("test", 10)} == {GIVEN}


def test_a_job_continues_the_trace_of_the_request_that_enqueues_it(world: World) -> None:
    set_headers(world, json.dumps({"host": "example.com", "traceparent": GIVEN, "tracestate": "a=b"}))

    enqueue_in_every_way(world)
    world.job(traceparent=OTHER)

    assert traceparents(world) == [*[GIVEN] * 5, OTHER]


def test_a_header_that_is_not_valid_is_ignored(world: World) -> None:
    hidden = json.dumps({"user-agent": f'"traceparent": "{GIVEN}"'})

    for headers in ["{", "null", '["traceparent"]', hidden, *(json.dumps({"traceparent": each}) for each in NOT_VALID)]:
        set_headers(world, headers)
        world.job()

    assert set(traceparents(world)) == {None}


@pytest.mark.parametrize("given", NOT_VALID[1:], ids=range(1, len(NOT_VALID)))
def test_a_parameter_that_is_not_valid_is_refused(world: World, given: str) -> None:
    tenant, type = world.tenant(), world.type()

    with pytest.raises(InvalidRequest, match="traceparent: must be 00-") as refused:
        world.service.jobs.enqueue_job(tenant, type, traceparent=given)
    with pytest.raises(InvalidRequest, match="traceparent: must be 00-"):
        world.service.jobs.enqueue_jobs([{"tenant_id": str(tenant), "type": type, "traceparent": given}])
    with pytest.raises(psycopg.Error, match="traceparent: must be 00-"):
        world.run("insert into jobs (tenant_id, type, traceparent) values (%s, %s, %s)", tenant, type, given)

    assert refused.value.sqlstate == "TWARG"
    assert traceparents(world) == []


@pytest.mark.parametrize("traceparent", [GIVEN, None])
def test_follow_ups_are_in_the_trace_of_their_job(world: World, traceparent: str | None) -> None:
    job = world.running_job(traceparent=traceparent)
    set_headers(world, json.dumps({"traceparent": OTHER}))

    world.queue.complete_job(job, follow_ups=[FollowUp(type=job.type)])

    followed = parsed(world.value("select traceparent from jobs where source = 'system'"))
    assert followed
    assert followed.trace_id == ("ab" * 16 if traceparent else job.id.hex)


@pytest.mark.parametrize("traceparent", [GIVEN, None])
def test_what_an_event_starts_is_in_the_trace_of_its_job_or_linked_to_it(world: World, traceparent: str | None) -> None:
    tenant = world.tenant()
    endpoint(world, tenant, "person.greeted")
    trigger(world, tenant, "person.greeted")
    job = world.running_job(tenant=tenant, traceparent=traceparent)

    def greeted(attempt: str, connection: Any) -> None:
        world.queue.hold_job(job, connection, traceparent=attempt)
        events.emit_held_event(connection, "person.greeted")

    for attempt in (OTHER, "not valid"):
        world.queue.database.transaction(partial(greeted, attempt))

    delivered = world.rows("select traceparent from jobs where type = 'deliver_webhook' order by created_at, id")
    first, second = (row["traceparent"] for row in delivered)
    assert first == OTHER
    context = parsed(second)
    assert context
    assert context.trace_id == ("ab" * 16 if traceparent else job.id.hex)
    assert [(row["traceparent"], row["trace_link"]) for row in started(world)] == [(None, first), (None, second)]
    world.queue.complete_job(job)
    assert world.claim().trace == f"link {first}"


def test_an_event_of_a_request_has_its_trace(world: World) -> None:
    tenant = world.tenant()
    endpoint(world, tenant)
    trigger(world, tenant)
    set_headers(world, json.dumps({"traceparent": GIVEN}))

    emit(world, tenant)

    assert [row["trace_link"] for row in started(world)] == [GIVEN]
    assert world.value("select traceparent from jobs where type = 'deliver_webhook'") == GIVEN


def test_a_schedule_starts_new_traces_linked_to_the_request_that_runs_it(world: World) -> None:
    nightly = schedule(world)
    set_headers(world, json.dumps({"traceparent": GIVEN}))

    tick(world, NOON)
    world.service.schedules.run_schedule(nightly)

    found = world.rows("select traceparent, trace_link from jobs order by created_at, id")
    assert [tuple(row.values()) for row in found] == [(None, None), (None, GIVEN)]


def test_a_claim_tells_how_long_the_job_has_been_due(world: World) -> None:
    world.job(run_at="2020-01-01")
    first = world.job(run_at="2020-01-01")
    world.job(after=[first.id], run_at="2020-01-01")

    jobs = [world.claim(), *world.queue.claim_jobs("test", 1)]
    world.queue.complete_job(next(job for job in jobs if job.id == first.id))
    ready = world.claim()

    assert [(job.wait_ms or 0) > 10**11 for job in [*jobs, ready]] == [True, True, False]
    assert world.held_jobs()[-1].wait_ms == ready.wait_ms
