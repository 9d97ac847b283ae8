"""The trace that jobs are enqueued in, and the span of that, where somebody wants one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tickwork import spans, traces

if TYPE_CHECKING:
    from opentelemetry.trace import Span

    from tickwork.jobs.rows import EnqueuedJob
    from tickwork.spans.recorder import Recorder

CONVERSATION = "messaging.message.conversation_id"


@dataclass(frozen=True)
class Sending:
    """`traceparent` is what the jobs continue; None if this is no part of a trace."""

    traceparent: str | None
    span: Span | None = None

    def argument(self, given: str | None) -> dict[str, str]:
        """What a caller gives is passed on as it is."""
        traceparent = given or self.traceparent
        return {"traceparent": traceparent} if traceparent else {}

    def note(self, job: EnqueuedJob) -> None:
        if self.span:
            self.span.set_attribute("messaging.destination.name", job.family)
            self.span.set_attribute("messaging.message.id", str(job.id))


# Nothing to create for each job where nobody traces.
NO_TRACE = nullcontext(Sending(None))


def sending(name: str, attributes: Mapping[str, str | int | None]) -> AbstractContextManager[Sending]:
    if recorder := spans.find_recorder():
        return sending_span(recorder, name, attributes)
    trace = traces.current()
    return nullcontext(Sending(str(trace))) if trace else NO_TRACE


@contextmanager
def sending_span(recorder: Recorder, name: str, attributes: Mapping[str, str | int | None]) -> Iterator[Sending]:
    from tickwork.spans.recorder import traceparent_of

    with recorder.sending(name, attributes) as span:
        yield Sending(traceparent_of(span), span)
