"""What a handler is and what it gets: its validated payload, and tools."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any, Generic, TypeVar
from uuid import UUID

from tickwork.errors import Interrupted, InvalidPayload
from tickwork.jobs.outcomes import Done
from tickwork.logs import Severity, log, presentable

if TYPE_CHECKING:
    from pydantic import BaseModel

    from tickwork.jobs.connection import Connection
    from tickwork.jobs.rows import ClaimedJob

# Runs a function in a transaction that holds the job.
UnderLease = Callable[[Callable[["Connection"], Any]], Any]

P = TypeVar("P", bound="BaseModel")
T = TypeVar("T")


class Tools:
    """The handler's side of the running attempt."""

    def __init__(self, job: ClaimedJob, under_lease: UnderLease) -> None:
        self.job_id: UUID = job.id
        self.tenant_id: UUID = job.tenant_id
        self.attempt: int = job.attempts
        self.latest_progress: tuple[float, str | None] | None = None
        self._under_lease = under_lease
        self.timeout: float = job.timeout_seconds or 300
        self._ends_at = float("inf")
        self._is_stopped = False
        self._stop: threading.Event | None = None
        self._reason = ""
        self._lines: deque[str] | None = None

    def progress(self, done: float, message: str | None = None) -> None:
        """Report progress, from 0 to 1; raises Interrupted if the attempt has to stop."""
        # In this order, NaN counts as 0.
        share = min(float(done), 1.0) if float(done) >= 0 else 0.0
        self.latest_progress = (share, None if message is None else str(message))
        self.check()

    def check(self) -> None:
        """Raise Interrupted if the attempt has to stop: call it wherever long work can be interrupted."""
        if self._is_stopped:
            raise Interrupted(self._reason)

    def wait(self, seconds: float) -> None:
        """Sleep, but not beyond the moment when the attempt has to stop."""
        # Created only if it is used: it takes as long as all other tools together.
        self._stop = threading.Event()
        self.check()
        self._stop.wait(seconds)
        self.check()

    def seconds_left(self) -> float:
        return self._ends_at - time.monotonic()

    def log(self, message: str, severity: Severity = "INFO", /, **fields: Any) -> None:
        """Write a log line; the last ones are kept with the attempt, for the tenant to read."""
        if self._lines is None:
            self._lines = deque(maxlen=100)
        self._lines.append(presentable(" ".join([message, *(f"{name}={value}" for name, value in fields.items())])))
        log(message, severity, **fields)

    def under_lease(self, work: Callable[[Connection], T]) -> T:
        """Run `work(connection)` in its own transaction, with access to the rows of the job's tenant.

        What it writes stays, however the attempt ends, so that a later attempt finds it. To write with the completion
        or not at all, return the write in Done.
        """
        result: T = self._under_lease(work)
        return result

    def start_clock(self) -> None:
        """Called by the runtime when the handler's time begins."""
        self._ends_at = time.monotonic() + self.timeout

    def interrupt(self, reason: str) -> None:
        """Called by the runtime to ask the handler to stop."""
        self._reason = self._reason or reason
        self._is_stopped = True
        if self._stop:
            self._stop.set()

    def logs(self) -> str | None:
        return "\n".join(self._lines) if self._lines else None


@dataclass(frozen=True)
class Handler(Generic[P]):
    """A payload model and the function that processes it."""

    payload: type[P]
    run: Callable[[P, Tools], BaseModel | Done | None]

    def __call__(self, payload: Mapping[str, Any], tools: Tools) -> Done:
        result = self.run(self._validated(payload), tools)
        return result if isinstance(result, Done) else Done(result)

    def _validated(self, payload: Mapping[str, Any]) -> P:
        from pydantic import ValidationError

        try:
            return self.payload.model_validate(payload)
        except ValidationError as error:
            # The values may be secrets; the names of the fields are not.
            problems = (
                f"{'.'.join(map(str, each['loc'])) or 'payload'}: {each['msg']}"
                for each in error.errors(include_input=False, include_url=False, include_context=False)
            )
            raise InvalidPayload("; ".join(problems)) from None


# The handler of each type of job.
Handlers = Mapping[str, Callable[[Mapping[str, Any], Tools], Done]]


def loaded_when_due(package: str, *types: str) -> Handlers:
    """The handlers of these types, each in a module of the package that is named after the type.

    A module is loaded with its first job: its imports take as long as everything else.
    """
    return {type: partial(load_and_run, f"{package}.{type}", type.upper()) for type in types}


def load_and_run(module: str, name: str, payload: Mapping[str, Any], tools: Tools) -> Done:
    handler: Handler[Any] = getattr(import_module(module), name)
    return handler(payload, tools)
