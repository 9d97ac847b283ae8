"""Log lines as Cloud Logging parses them: one JSON object each, named by a verb."""

import json
import os
import re
import sys
import threading
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime
from math import isfinite
from typing import Any, Literal

from pydantic import ValidationError

Severity = Literal["DEBUG", "INFO", "WARNING", "ERROR"]

LONGEST_FIELD = 8000

# A password has no slash, or the URL would end there; it may have an @ that nobody encoded.
PASSWORDS = re.compile(r"(?i)(?<=://)[^/\s]*(?=@)|(?<=password=)[^\s&'\"]+")

_bound: ContextVar[dict[str, str]] = ContextVar("bound", default={})  # noqa: B039 (never changed, only replaced)
_trace: ContextVar[str | None] = ContextVar("trace", default=None)


def log(verb: str, severity: Severity = "INFO", /, **fields: Any) -> None:
    """Write one line with everything that is bound at this point."""
    line = {
        "severity": severity,
        "time": datetime.now(UTC).isoformat(),
        "message": presentable(verb),
        "logging.googleapis.com/labels": _bound.get(),
        **({"logging.googleapis.com/trace": trace} if (trace := _trace.get()) else {}),
    }
    # A handler's field may not pose as the time or the severity.
    fields = {name: presentable(value) for name, value in fields.items() if name not in line}
    # A long line is more than one write to the system, between which those of another thread would fit.
    with _one_at_a_time:
        sys.stdout.write(json.dumps({**line, **fields}) + "\n")
        sys.stdout.flush()


_one_at_a_time = threading.Lock()


def log_exception(verb: str, error: BaseException) -> None:
    """For the operator: the whole traceback, without passwords and without the values of a payload."""
    log(verb, "ERROR", exception="\n".join(_told(each) for each in reversed(_with_causes(error))))


def text_of(error: BaseException) -> str:
    """Its text, even if it has a defect of its own, and without the values of a payload."""
    try:
        # The text of a validation error quotes the values, and these are the tenant's.
        return error.json(include_input=False, include_url=False) if isinstance(error, ValidationError) else str(error)
    except Exception:
        return f"an error without a text: {type(error).__name__}"


def _with_causes(error: BaseException) -> list[BaseException]:
    chain: list[BaseException] = []
    cause: BaseException | None = error
    # An error may be its own cause.
    while cause is not None and cause not in chain:
        chain.append(cause)
        cause = cause.__cause__ or (None if cause.__suppress_context__ else cause.__context__)
    return chain


def _told(error: BaseException) -> str:
    text = text_of(error)
    return "Traceback:\n" + "".join(traceback.format_tb(error.__traceback__)) + f"{type(error).__name__}: {text}"


@contextmanager
def bound(**labels: object) -> Iterator[None]:
    """Put labels on every line that is written inside."""
    token = _bound.set({**_bound.get(), **{name: presentable(str(value)) for name, value in labels.items()}})
    try:
        yield
    finally:
        _bound.reset(token)


@contextmanager
def traced(traceparent: str | None, cloud_trace: str | None) -> Iterator[None]:
    """Tie every line that is written inside to the request that caused it."""
    token = _trace.set(_trace_name(traceparent, cloud_trace))
    try:
        yield
    finally:
        _trace.reset(token)


def presentable(value: Any) -> Any:
    """Numbers as they are; anything else as text of a bearable length, without passwords."""
    if value is None or isinstance(value, int) or (isinstance(value, float) and isfinite(value)):
        return value
    text = str(value)
    # Hardly any text can hold a password; looking for one in all of them takes longer than writing the line.
    if "@" in text or "=" in text:
        text = PASSWORDS.sub("***", text)
    if len(text) <= LONGEST_FIELD:
        return text
    # What matters most in a traceback is its end.
    return f"{text[: LONGEST_FIELD // 2]} … ({len(text)} characters) … {text[-LONGEST_FIELD // 2 :]}"


def _trace_name(traceparent: str | None, cloud_trace: str | None) -> str | None:
    match = re.match(r"00-([0-9a-f]{32})-", traceparent or "") or re.match(r"([0-9a-f]{32})(/|$)", cloud_trace or "")
    if match is None:
        return None
    project = os.environ.get("GOOGLE_CLOUD_PROJECT")
    return f"projects/{project}/traces/{match[1]}" if project else match[1]
