"""Spans by OpenTelemetry's conventions for messaging. Whatever fails here is logged, and fails no job."""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from importlib.metadata import version
from typing import TYPE_CHECKING, Literal

from opentelemetry import context, trace
from opentelemetry.sdk.resources import SERVICE_NAME, Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.sdk.trace.id_generator import RandomIdGenerator
from opentelemetry.trace import Link, NonRecordingSpan, Span, SpanContext, SpanKind, Status, StatusCode, TraceFlags

from tickwork.logs import log
from tickwork.traces import Trace, current, parsed

if TYPE_CHECKING:
    from opentelemetry.context import Context

Operation = Literal["send", "process", "settle"]
Attributes = Mapping[str, str | int | None]

KINDS = {"send": SpanKind.PRODUCER, "process": SpanKind.CONSUMER, "settle": SpanKind.CLIENT}
# How long a response may wait for spans, and how long one export may take.
FLUSH_SECONDS = 1.0


class Recorder:
    def __init__(self, provider: TracerProvider) -> None:
        self._provider = provider
        self._tracer = provider.get_tracer("tickwork", version("tickwork"))
        self._flushing: threading.Thread | None = None

    def start(
        self,
        operation: Operation,
        name: str,
        attributes: Attributes,
        parent: Trace | None = None,
        links: Sequence[Trace] = (),
        trace_id: str | None = None,
    ) -> Span:
        """A span under this parent; without one the beginning of a trace, with this id."""
        token = _wanted_trace_id.set(trace_id)
        try:
            return self._tracer.start_span(
                f"{operation} {name}",
                _context_of(parent),
                KINDS[operation],
                {
                    "messaging.system": "tickwork",
                    "messaging.operation.name": operation,
                    "messaging.operation.type": operation,
                    **{key: value for key, value in attributes.items() if value is not None},
                },
                [Link(_span_context(each)) for each in links],
            )
        finally:
            _wanted_trace_id.reset(token)

    @contextmanager
    def sending(self, name: str, attributes: Attributes) -> Iterator[Span]:
        """A span of whoever enqueues, under the one that is current in the process."""
        parent = parsed(traceparent_of(trace.get_current_span())) or current()
        span = self.start("send", name, attributes, parent)
        try:
            yield span
        except BaseException as error:
            fail(span, getattr(error, "sqlstate", None) or type(error).__name__)
            raise
        finally:
            span.end()

    def flush(self) -> None:
        """At most a second: the SDK's own takes as long as the exporter does."""
        if self._flushing is None or not self._flushing.is_alive():
            self._flushing = threading.Thread(target=self._provider.force_flush, name="tickwork-spans", daemon=True)
            self._flushing.start()
        self._flushing.join(FLUSH_SECONDS)
        if self._flushing.is_alive():
            log("miss_spans", "WARNING", reason=f"they could not be sent within {FLUSH_SECONDS:g} s")


def exporting_recorder() -> Recorder | None:
    """Exports to the endpoint of the environment, for spans of handlers too, unless the process exports otherwise."""
    if existing := existing_recorder():
        return existing
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter

    _log_what_the_sdk_says()
    timeout = None if os.environ.get("OTEL_EXPORTER_OTLP_TIMEOUT") else FLUSH_SECONDS
    name = {} if os.environ.get("OTEL_SERVICE_NAME") else {SERVICE_NAME: os.environ.get("K_SERVICE") or "tickwork"}
    provider = TracerProvider(resource=Resource.create(name), id_generator=JobIds())
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(timeout=timeout)))
    trace.set_tracer_provider(provider)
    return recorder_of(provider)


def existing_recorder() -> Recorder | None:
    provider = trace.get_tracer_provider()
    return recorder_of(provider) if isinstance(provider, TracerProvider) else None


@cache
def recorder_of(provider: TracerProvider) -> Recorder:
    return Recorder(provider)


class JobIds(RandomIdGenerator):
    """Random ids, except that the trace of a job can have that of the job."""

    def generate_trace_id(self) -> int:
        wanted = _wanted_trace_id.get()
        return int(wanted, 16) if wanted else super().generate_trace_id()


_wanted_trace_id: ContextVar[str | None] = ContextVar("wanted_trace_id", default=None)


def make_current(span: Span) -> None:
    """For the spans that a handler makes itself; to be called in a context of its own."""
    context.attach(trace.set_span_in_context(span))


def fail(span: Span, error_type: str) -> None:
    span.set_attribute("error.type", error_type)
    span.set_status(Status(StatusCode.ERROR))


def trace_of(span: Span) -> Trace:
    found = span.get_span_context()
    return Trace(f"{found.trace_id:032x}", f"{found.span_id:016x}", f"{found.trace_flags & 1:02x}")


def traceparent_of(span: Span) -> str | None:
    return str(trace_of(span)) if span.get_span_context().is_valid else None


def _context_of(parent: Trace | None) -> Context:
    # Never the current one of the process: a job is no part of what happens to run it.
    empty = context.Context()
    return empty if parent is None else trace.set_span_in_context(NonRecordingSpan(_span_context(parent)), empty)


def _span_context(place: Trace) -> SpanContext:
    return SpanContext(int(place.trace_id, 16), int(place.span_id, 16), True, TraceFlags(int(place.flags, 16)))


class _Complaints(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        log("miss_spans", "WARNING", reason=record.getMessage())


def _log_what_the_sdk_says() -> None:
    logger = logging.getLogger("opentelemetry")
    logger.addHandler(_Complaints(logging.WARNING))
    logger.propagate = False
