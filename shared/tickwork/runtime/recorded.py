"""The spans of attempts, where somebody wants them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TYPE_CHECKING

from tickwork import spans, traces
from tickwork.jobs.outcomes import Failed, Lost, Outcome
from tickwork.logs import log

if TYPE_CHECKING:
    from opentelemetry.trace import Span

    from tickwork.jobs.worked_job import WorkedJob
    from tickwork.runtime.attempt import Attempt
    from tickwork.spans.recorder import Recorder

# Nothing to create for each job where nobody wants spans.
NO_SPAN = nullcontext()


def started_span(job: WorkedJob) -> Span | None:
    """The span of an attempt that starts in this context: in the trace of its job, linked to what led here."""
    recorder = spans.find_recorder()
    if recorder is None:
        return None
    with harmless():
        from tickwork.spans.recorder import make_current

        continued = traces.parsed(job.trace)
        created = continued or traces.parsed((job.trace or "").removeprefix(traces.LINK))
        invocation = traces.current()
        links = [each for each in (created, invocation) if each]
        span = recorder.start("process", job.type, attributes_of(job), continued, links, job.id.replace("-", ""))
        make_current(span)
        return span
    return None


def trace_of(span: Span) -> traces.Trace:
    from tickwork.spans.recorder import trace_of

    return trace_of(span)


def end(span: Span, outcome: Outcome) -> None:
    with harmless():
        from tickwork.spans.recorder import fail

        span.set_attribute("tickwork.job.outcome", type(outcome).__name__.lower())
        if isinstance(outcome, Failed | Lost):
            fail(span, outcome.code if isinstance(outcome, Failed) else "LEASE_LOST")
        span.end()


def settling(attempts: Sequence[Attempt]) -> AbstractContextManager[None]:
    """The span of settling them: under that of the only one, or linked to those of all."""
    recorder = spans.find_recorder()
    return settling_span(recorder, attempts) if recorder and attempts else NO_SPAN


@contextmanager
def settling_span(recorder: Recorder, attempts: Sequence[Attempt]) -> Iterator[None]:
    span = None
    with harmless():
        job, places = attempts[0].job, [attempt.trace() for attempt in attempts]
        if len(attempts) == 1:
            span = recorder.start("settle", job.type, attributes_of(job), places[0])
        else:
            count = {"messaging.batch.message_count": len(attempts)}
            span = recorder.start(
                "settle", job.family, {"messaging.destination.name": job.family, **count}, links=places
            )
    try:
        yield
    except BaseException as error:
        if span:
            span.set_attribute("error.type", type(error).__name__)
        raise
    finally:
        if span:
            span.end()


def attributes_of(job: WorkedJob) -> dict[str, str | int | None]:
    return {
        "messaging.destination.name": job.family,
        "messaging.message.id": job.id,
        "messaging.message.conversation_id": job.correlation_id,
        "tickwork.job.type": job.type,
        "tickwork.job.attempt": job.attempts,
        "tickwork.job.lane": job.lane,
        "tickwork.tenant.id": job.tenant_id,
    }


@contextmanager
def harmless() -> Iterator[None]:
    """A span is never worth a job."""
    try:
        yield
    except Exception as error:
        log("miss_spans", "WARNING", reason=f"{type(error).__name__}: {error}")
