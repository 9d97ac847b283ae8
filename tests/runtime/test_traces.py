"""Traces: the lines, the requests and the follow-ups of an attempt have the trace of its job, and of no other."""

import json
from typing import Any

import pytest
from pydantic import BaseModel

from tests.servers.hostile import answer, hostile_server
from tests.world import World
from tickwork import traces
from tickwork.client import Tickwork
from tickwork.jobs.handler import Handler, Handlers, Tools
from tickwork.jobs.outcomes import Done
from tickwork.jobs.rows import FollowUp
from tickwork.logs import LABELS
from tickwork.runtime.deadline import Deadline
from tickwork.runtime.work import work
from tickwork.tools.outbound.http import LOOPBACK, Policy, request
from tickwork.traces import parsed

GIVEN = f"00-{'ab' * 16}-{'cd' * 8}-00"
POLICY = Policy(allow_http=True, private=LOOPBACK)


class Nobody(BaseModel):
    pass


def run(world: World, concurrency: int, handle: Any) -> None:
    handlers: Handlers = {"greet_person": Handler(Nobody, handle)}
    work(world.queue, "test", handlers, Deadline(60, 10), concurrency=concurrency)


@pytest.mark.parametrize("concurrency", [1, 10])
def test_all_that_an_attempt_does_has_the_trace_of_its_job(
    world: World, concurrency: int, capsys: pytest.CaptureFixture[str]
) -> None:
    traced, untraced = world.job(traceparent=GIVEN), world.job()
    later = world.type("greet_later")

    def handle(payload: Nobody, tools: Tools) -> Done:
        tools.log("greet")
        request("GET", server.url(f"/{tools.job_id}"), policy=POLICY)
        Tickwork(world.service.database).jobs.enqueue_job(tools.tenant_id, later, correlation_id=str(tools.job_id))
        return Done(follow_ups=[FollowUp(type=later)])

    with hostile_server(answer(b"")) as server:
        run(world, concurrency, handle)

    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    for job, trace_id, flags in ((traced, "ab" * 16, "00"), (untraced, untraced.id.hex, "01")):
        (logged,) = {
            (line[LABELS]["trace_id"], line[LABELS]["span_id"])
            for line in lines
            if line[LABELS].get("job_id") == str(job.id)
        }
        (sent,) = (each.headers["traceparent"] for each in server.requests if each.target == f"/{job.id}")
        enqueued = world.rows(
            "select traceparent from jobs where source_ref = %s or correlation_id = %s", str(job.id), str(job.id)
        )
        assert logged[0] == trace_id
        assert [sent, *(row["traceparent"] for row in enqueued)] == [f"00-{trace_id}-{logged[1]}-{flags}"] * 3


def test_a_new_attempt_is_another_span_of_the_same_trace(world: World) -> None:
    world.job(world.type(backoff=[0]), traceparent=GIVEN)
    seen = []

    def handle(payload: Nobody, tools: Tools) -> None:
        seen.append(traces.current())
        if tools.attempt < 3:
            raise RuntimeError

    run(world, 1, handle)

    assert len({trace.span_id for trace in seen if trace} - {"cd" * 8}) == 3
    assert {trace.trace_id for trace in seen if trace} == {"ab" * 16}


def test_a_header_that_a_tenant_gives_is_not_replaced() -> None:
    with hostile_server(answer(b"")) as server, traces.within(parsed(GIVEN)):
        request("GET", server.url("/"), policy=POLICY, headers={"Traceparent": "theirs"})
        request("GET", server.url("/"), policy=POLICY)

    assert [each.headers["traceparent"] for each in server.requests] == ["theirs", GIVEN]


def test_what_runs_in_no_trace_sends_none() -> None:
    with hostile_server(answer(b"")) as server:
        request("GET", server.url("/"), policy=POLICY)

    assert "traceparent" not in server.requests[0].headers
