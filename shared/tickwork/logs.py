"""Log lines as Cloud Logging parses them: one JSON object each, named by a verb. On a terminal, lines for people."""

import json
import os
import re
import sys
import threading
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar, Token
from datetime import UTC, datetime
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
    """Evaluated when the first line is written: most jobs of a batch write none."""

    def __init__(self, values: Callable[[], Mapping[str, object]], outer: "Labels | None" = None) -> None:
        self._values = values
        self._outer = outer
        self._text: str | None = None
        # Whether the text has one, once it is there.
        self.has_trace = False

    def text(self) -> str:
        if self._text is None:
            labels = {name: str(value) for name, value in self.all().items() if value is not None}
            self._text = f'"{LABELS}": {{{_members(labels)}}}'
            if "trace_id" in labels:
                self.has_trace = True
                self._text += (
                    f', "{TRACE}": {_encoded(_trace_name(labels["trace_id"]))}, "{SPAN}": "{labels["span_id"]}"'
                )
        return self._text

    def all(self) -> dict[str, object]:
        return {**(self._outer.all() if self._outer else {}), **self._values()}


_bound: ContextVar[Labels] = ContextVar("bound", default=Labels(dict))  # noqa: B039 (never changed, only replaced)
_trace: ContextVar[str | None] = ContextVar("trace", default=None)
_one_at_a_time = threading.Lock()


def log(verb: str, severity: Severity = "INFO", /, **fields: Any) -> None:
    """Write one line with everything that is bound at this point."""
    line = log_line(verb, severity, **fields)
    if sys.stdout.isatty():
        line = readable(json.loads(line))
    # A long line takes several system calls, and another thread could write in between.
    with _one_at_a_time:
        sys.stdout.write(line + "\n")
        sys.stdout.flush()


def log_line(verb: str, severity: Severity = "INFO", /, **fields: Any) -> str:
    """The line as JSON."""
    labels = _bound.get()
    # Assembled by hand: encoding the labels again would take longer than the rest of the line.
    line = (
        f'{{"severity": "{severity}", "time": "{datetime.now(UTC).isoformat()}", '
        f'"message": {_encoded(verb)}, {labels.text()}'
    )
    if (trace := _trace.get()) and not labels.has_trace:
        line += f', "{TRACE}": {_encoded(trace)}'
    if told := _members({name: value for name, value in fields.items() if name not in OURS}):
        line += f", {told}"
    return line + "}"


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


def _members(values: Mapping[str, Any]) -> str:
    return ", ".join([f"{encode_basestring_ascii(name)}: {_encoded(value)}" for name, value in values.items()])


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


def bind(labels: Callable[[], Mapping[str, object]]) -> Token[Labels]:
    """Put labels on every line that is written in this context from now on."""
    return _bound.set(Labels(labels, _bound.get()))


@contextmanager
def bound(**labels: object) -> Iterator[None]:
    """Put labels on every line that is written inside."""
    token = bind(lambda: labels)
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
