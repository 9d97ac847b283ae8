"""Log lines as Cloud Logging parses them: one JSON object each, named by a verb. On a terminal, lines for people."""

import json
import os
import re
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar, Token
from datetime import UTC, datetime
from functools import lru_cache
from json.encoder import encode_basestring_ascii
from math import isfinite
from typing import Any, Literal

from tickwork import traces

Severity = Literal["DEBUG", "INFO", "WARNING", "ERROR"]

MAX_FIELD_LENGTH = 8000

# A password has no slash, or the URL would end there; it may have an @ that nobody encoded.
PASSWORDS = re.compile(r"(?i)(?<=://)[^/\s]*(?=@)|(?<=password=)[^\s&'\"]+")

LABELS = "logging.googleapis.com/labels"
TRACE = "logging.googleapis.com/trace"
SPAN = "logging.googleapis.com/spanId"
# A handler's fields cannot replace these.
OURS = {"severity", "time", "message", LABELS, TRACE, SPAN}
SHORT_ESCAPES = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}


class Labels:
    """What is on every line of a context. Evaluated when the first line is written: most jobs of a batch write none."""

    _text: str | None = None
    # Whether the text has one, once it is there.
    has_trace = False

    def __init__(self, values: Callable[[], Mapping[str, object]], outer: "Labels | None" = None) -> None:
        self._values = values
        self._outer = outer

    def log(self, verb: str, severity: Severity = "INFO", /, **fields: Any) -> None:
        """Write one line with these labels."""
        stream = sys.stdout
        line = self.line(verb, severity, fields)
        if stream.isatty():
            line = readable(json.loads(line)) + "\n"
        # A long line takes several system calls, and another thread could write in between.
        with _one_at_a_time:
            stream.write(line)
            stream.flush()

    def line(self, verb: str, severity: Severity, fields: Mapping[str, Any]) -> str:
        """As JSON, with its end. Assembled by hand: encoding the labels again would take longer than all the rest."""
        parts = [f'{{"severity": "{severity}", "time": "{_time()}", "message": {_verb(verb)}, {self.text()}']
        if (trace := _trace.get()) and not self.has_trace:
            parts.append(f'"{TRACE}": {_encoded(trace)}')
        for name, value in fields.items():
            if name not in OURS:
                parts.append(f"{_key(name)}{_encoded(value)}")
        return ", ".join(parts) + "}\n"

    def text(self) -> str:
        if self._text is None:
            self._text = f'"{LABELS}": {{{members(self.all())}}}'
        return self._text

    def all(self) -> dict[str, object]:
        return {**(self._outer.all() if self._outer else {}), **self._values()}


_bound: ContextVar[Labels] = ContextVar("bound", default=Labels(dict))  # noqa: B039 (never changed, only replaced)
_trace: ContextVar[str | None] = ContextVar("trace", default=None)
_one_at_a_time = threading.Lock()


def log(verb: str, severity: Severity = "INFO", /, **fields: Any) -> None:
    """Write one line with everything that is bound at this point."""
    _bound.get().log(verb, severity, **fields)


def log_line(verb: str, severity: Severity = "INFO", /, **fields: Any) -> str:
    """The line as JSON."""
    return _bound.get().line(verb, severity, fields).rstrip("\n")


def readable(line: Mapping[str, Any]) -> str:
    """A line for people: when, which family and job, what, and the fields; an exception on lines of its own."""
    labels = {"family": "", "job_id": "", **line.get(LABELS, {})}
    fields = {name: value for name, value in line.items() if name not in OURS and value is not None}
    family, exception = fields.pop("family", labels["family"]), str(fields.pop("exception", ""))
    if "type" in labels:
        fields = {"type": labels["type"], **fields}
    at = datetime.fromisoformat(line["time"]).astimezone()
    severity = "" if line["severity"] == "INFO" else f"{line['severity']} "
    told = "".join(f" {name}={value}" for name, value in fields.items())
    # The whole id: jobs that are enqueued together have all but the last digits in common.
    job = f"{labels['job_id']} " if labels["job_id"] else ""
    first = f"{at:%H:%M:%S} {family:<8} {job}{severity}{line['message']}{told}"
    return "\n".join([printable(first), *(f"  | {printable(each)}" for each in exception.splitlines())])


def printable(text: str) -> str:
    """One line, without control characters and those that change the direction of writing.

    Everything that others wrote goes through here, so that none of it looks like a line of ours.
    """
    return "".join(each if each.isprintable() else _escaped(each) for each in text)


def _escaped(character: str) -> str:
    code = ord(character)
    return SHORT_ESCAPES.get(character) or (f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}")


def members(labels: Mapping[str, object]) -> str:
    """Labels as the inside of an object: all of them are text."""
    return ", ".join([f"{_key(name)}{_encoded(str(value))}" for name, value in labels.items() if value is not None])


def trace_members(trace: traces.Trace) -> str:
    """The place in a trace, as Cloud Logging looks for it."""
    return f'"{TRACE}": {_encoded(_trace_name(trace.trace_id))}, "{SPAN}": "{trace.span_id}"'


def _time() -> str:
    """Now, as ISO 8601. All but the microseconds is made once a second."""
    now = time.time()
    second = int(now)
    return f"{_date(second)}.{int((now - second) * 1e6):06d}+00:00"


@lru_cache(2)
def _date(second: int) -> str:
    return datetime.fromtimestamp(second, UTC).strftime("%Y-%m-%dT%H:%M:%S")


@lru_cache(256)
def _known_verb(verb: str) -> str:
    return _encoded(verb)


def _verb(verb: str) -> str:
    # Handlers may write anything.
    return _known_verb(verb) if len(verb) < 32 else _encoded(verb)


@lru_cache(256)
def _key(name: str) -> str:
    return f"{encode_basestring_ascii(name)}: "


def _encoded(value: Any) -> str:
    if value is None:
        return "null"
    # As json.dumps writes it, in a tenth of the time; True is none.
    if type(value) is int:
        return str(value)
    value = presentable(value)
    return encode_basestring_ascii(value) if isinstance(value, str) else json.dumps(value)


def log_exception(verb: str, error: BaseException) -> None:
    """For the operator: the whole traceback, without passwords and without the values of a payload."""
    log(verb, "ERROR", exception=exception_text(error))


def exception_text(error: BaseException) -> str:
    """The traceback with its causes, the first cause first."""
    return "\n".join(_told(each) for each in reversed(_with_causes(error)))


def text_of(error: BaseException) -> str:
    """Its message, even if creating it fails, and without the values of a payload."""
    from pydantic import ValidationError

    try:
        # The message of a validation error quotes values, which belong to the tenant.
        return error.json(include_input=False, include_url=False) if isinstance(error, ValidationError) else str(error)
    except Exception:
        return f"an error without a message: {type(error).__name__}"


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


def bind(labels: Labels) -> Token[Labels]:
    """Put these labels, in place of others, on every line that is written in this context from now on."""
    return _bound.set(labels)


@contextmanager
def bound(**labels: object) -> Iterator[None]:
    """Put labels on every line that is written inside."""
    token = bind(Labels(lambda: labels, _bound.get()))
    try:
        yield
    finally:
        _bound.reset(token)


@contextmanager
def traced(traceparent: str | None, cloud_trace: str | None) -> Iterator[None]:
    """Link every line that is written inside, except those of a job, to the request that caused it."""
    trace = traces.parsed(traceparent)
    match = re.match(r"([0-9a-f]{32})(/|$)", cloud_trace or "")
    trace_id = trace.trace_id if trace else match and match[1]
    token = _trace.set(_trace_name(trace_id) if trace_id else None)
    try:
        with traces.within(trace):
            yield
    finally:
        _trace.reset(token)


def presentable(value: Any) -> Any:
    """Numbers as they are; anything else as text of limited length, without passwords."""
    text = value
    if type(value) is not str:
        if value is None or isinstance(value, int) or (isinstance(value, float) and isfinite(value)):
            return value
        text = str(value)
    # Few texts can contain a password; searching all of them takes longer than writing the line.
    if "@" in text or "=" in text:
        text = PASSWORDS.sub("***", text)
    if len(text) <= MAX_FIELD_LENGTH:
        return text
    # What matters most in a traceback is its end.
    return f"{text[: MAX_FIELD_LENGTH // 2]} … ({len(text)} characters) … {text[-MAX_FIELD_LENGTH // 2 :]}"


def _trace_name(trace_id: str) -> str:
    project = os.environ.get("GOOGLE_CLOUD_PROJECT")
    return f"projects/{project}/traces/{trace_id}" if project else trace_id
