"""Which trace something belongs to, as W3C Trace Context writes it: 00-<trace id>-<span id>-<flags>."""

import random
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import NamedTuple

TRACEPARENT = re.compile("00-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})")
SAMPLED = "01"
# Before the context that a job links to, because it has a trace of its own.
LINK = "link "


class Trace(NamedTuple):
    """A place in a trace."""

    trace_id: str
    span_id: str
    flags: str = SAMPLED

    def __str__(self) -> str:
        return f"00-{self.trace_id}-{self.span_id}-{self.flags}"

    def child(self) -> "Trace":
        return self._replace(span_id=new_span_id())


def parsed(traceparent: str | None) -> Trace | None:
    """None if it is missing or invalid: what others send is no reason to fail."""
    match = TRACEPARENT.fullmatch(traceparent or "")
    return Trace(*match.groups()) if match else None


def trace_of_job(job_id: str, trace: str | None) -> Trace:
    """That of one attempt: in the trace that the job continues, or else in one that has the job's id."""
    continued = parsed(trace) if trace else None
    return continued.child() if continued else Trace(job_id.replace("-", ""), new_span_id())


def new_span_id() -> str:
    # One of 2^64 is not allowed.
    return f"{random.getrandbits(64) or 1:016x}"


# A function, because most jobs of a batch never need theirs.
_current: ContextVar[Callable[[], Trace | None]] = ContextVar("trace", default=lambda: None)


def current() -> Trace | None:
    """Where this code runs: in the attempt at a job, or in a request."""
    return _current.get()()


def enter(trace: Callable[[], Trace | None]) -> None:
    """What runs in this context from now on belongs to it."""
    _current.set(trace)


@contextmanager
def within(trace: Trace | None) -> Iterator[None]:
    token = _current.set(lambda: trace)
    try:
        yield
    finally:
        _current.reset(token)
