"""Spans: by the conventions for messaging, sent before the response, and never worth a job."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from pydantic import BaseModel

from tests.serve.test_wake_up import GOOD, Served, running_function, settings
from tests.serve.test_wake_up import source as source  # a fixture
from tests.servers.otlp import Collector, running_collector
from tests.world import World
from tests.world.waiting import PATIENCE, until
from tickwork import spans
from tickwork.jobs.handler import Handler, Handlers
from tickwork.runtime.deadline import Deadline
from tickwork.runtime.work import work
from tickwork.spans.recorder import JobIds, recorder_of

GIVEN = f"00-{'ab' * 16}-{'cd' * 8}-01"
OTHER = f"00-{'12' * 16}-{'34' * 8}-01"


class Nobody(BaseModel):
    pass


@pytest.fixture
def collector() -> Iterator[Collector]:
    with running_collector() as collector:
        yield collector


@pytest.fixture
def function(world: World, source: Path, tmp_path: Path, collector: Collector) -> Iterator[Served]:
    environment = settings(
        world,
        OTEL_EXPORTER_OTLP_ENDPOINT=collector.url,
        OTEL_EXPORTER_OTLP_TIMEOUT=str(PATIENCE),
        K_SERVICE="greeter",
    )
    with running_function(source, tmp_path, **environment) as function:
        yield function


def has_missed_spans(function: Served) -> bool:
    return any(line["message"] == "miss_spans" for line in function.lines())


def test_an_attempt_is_a_span_of_its_jobs_trace_and_there_when_the_response_is(
    world: World, function: Served, collector: Collector
) -> None:
    done = world.job(world.type(), traceparent=GIVEN, correlation_id="order-1", lane="a")
    failed = world.job(world.type("refuse_person"))

    assert function.wake({**GOOD, "traceparent": OTHER}).body["claimed"] == 2

    # On a busy machine they may take longer than a response waits for them, which it says then.
    assert len(collector.spans) == 4 or has_missed_spans(function)
    until(lambda: len(collector.spans) == 4)
    process, settle = collector.named("process greet_person"), collector.named("settle greet_person")
    assert (process.kind, process.service, process.is_error) == ("consumer", "greeter", False)
    assert (process.trace_id, process.parent_id) == ("ab" * 16, "cd" * 8)
    assert process.links == [f"{'ab' * 16}-{'cd' * 8}", f"{'12' * 16}-{'34' * 8}"]
    assert process.attributes == {
        "messaging.system": "tickwork",
        "messaging.operation.name": "process",
        "messaging.operation.type": "process",
        "messaging.destination.name": "test",
        "messaging.message.id": str(done.id),
        "messaging.message.conversation_id": "order-1",
        "tickwork.job.type": "greet_person",
        "tickwork.job.attempt": 1,
        "tickwork.job.lane": "a",
        "tickwork.job.outcome": "done",
        "tickwork.tenant.id": str(done.tenant_id),
    }
    assert (settle.kind, settle.trace_id, settle.parent_id) == ("client", process.trace_id, process.span_id)
    refused = collector.named("process refuse_person")
    assert (refused.trace_id, refused.parent_id, refused.is_error) == (failed.id.hex, "", True)
    assert refused.attributes["error.type"] == "FAILED_FOR_GOOD"
    labels = [line["logging.googleapis.com/labels"] for line in function.lines() if line["message"] != "miss_spans"]
    assert {(each["trace_id"], each["span_id"]) for each in labels} == {
        (process.trace_id, process.span_id),
        (refused.trace_id, refused.span_id),
    }


def test_a_job_that_a_trigger_started_has_its_own_trace_with_a_link(
    world: World, function: Served, collector: Collector
) -> None:
    job = world.job()
    world.run("update jobs set trace_link = %s", GIVEN)

    function.wake()

    until(lambda: len(collector.spans) == 2)
    process = collector.named("process greet_person")
    assert (process.trace_id, process.parent_id, process.links) == (job.id.hex, "", [f"{'ab' * 16}-{'cd' * 8}"])


@pytest.mark.parametrize("trouble", ["refuses", "hangs"])
def test_jobs_get_done_whatever_the_collector_does(
    world: World, function: Served, collector: Collector, trouble: str
) -> None:
    job = world.job()
    collector.status = 500 if trouble == "refuses" else 200
    if trouble == "hangs":
        collector.is_free.clear()

    assert function.wake().body == {"family": "test", "claimed": 1, "done": 1}

    assert world.reload(job).status == "done"
    assert has_missed_spans(function)
    assert function.complaints() == ""
    # Else the process would wait for it when it ends.
    collector.is_free.set()


def test_many_jobs_are_sent_and_settled_under_one_span_each(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    exporter, provider = InMemorySpanExporter(), TracerProvider(id_generator=JobIds())
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    monkeypatch.setattr(spans, "find_recorder", lambda: recorder_of(provider))
    tenant, type = world.tenant(), world.type()

    world.service.jobs.enqueue_jobs([{"tenant_id": str(tenant), "type": type}] * 3)
    handlers: Handlers = {type: Handler(Nobody, lambda payload, tools: None)}
    report = work(world.queue, "test", handlers, Deadline(60, 10), concurrency=100)

    assert report.ended == {"done": 3}
    found = {span.name: span for span in exporter.get_finished_spans()}
    processed = [span for span in exporter.get_finished_spans() if span.name == f"process {type}"]
    assert set(found) == {"send jobs", f"process {type}", "settle test"}
    assert found["send jobs"].attributes
    assert found["send jobs"].attributes["messaging.batch.message_count"] == 3
    assert [span.parent and span.parent.span_id for span in processed] == [found["send jobs"].context.span_id] * 3
    links = {link.context.span_id for link in found["settle test"].links}
    assert links == {span.context.span_id for span in processed}


WITHOUT = """
import sys
{before}
from tickwork import spans
from tickwork.client.jobs import Jobs
from tickwork.runtime.work import work
from tickwork.serve import serve
print(spans.find_recorder(), sum(name.startswith("opentelemetry") for name in sys.modules))
"""


def printed(program: str, **environment: str) -> str:
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True)
    return done.stdout


def test_nothing_is_imported_unless_an_endpoint_is_set() -> None:
    assert printed(WITHOUT.format(before="")) == "None 0\n"


def test_without_the_extra_there_are_no_spans_and_a_line_that_says_why() -> None:
    program = WITHOUT.format(before="sys.modules['opentelemetry'] = None")

    logged, result = printed(program, OTEL_EXPORTER_OTLP_ENDPOINT="http://127.0.0.1:1").splitlines()

    assert "Install tickwork[otel] with the function." in logged
    assert result.startswith("None")
