"""What a handler is and what it gets: its validated payload, and tools."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property, partial
from importlib import import_module
from typing import TYPE_CHECKING, Any, Generic, TypeVar, Union, overload
from uuid import UUID

from tickwork.errors import Interrupted, InvalidPayload
from tickwork.jobs.outcomes import Done, Output
from tickwork.logs import Severity, log, presentable

if TYPE_CHECKING:
    from pydantic import BaseModel

    from tickwork.jobs.connection import Connection
    from tickwork.jobs.steps import Event, Steps
    from tickwork.jobs.worked_job import WorkedJob

# Runs a function in a transaction that holds the job.
UnderLease = Callable[[Callable[["Connection"], Any]], Any]

M = TypeVar("M", bound="BaseModel")
P = TypeVar("P", bound="BaseModel")
T = TypeVar("T")
Returned = Union["BaseModel", Done, None]


class Tools:
    """The handler's side of the running attempt."""

    # What most attempts never have of their own.
    latest_progress: tuple[float, str | None] | None = None
    began_at: float | None = None
    on_interrupt: Callable[[], None] | None = None
    output: Output | None = None
    _ends_at = float("inf")
    _is_stopped = False
    _stop: threading.Event | None = None
    _reason = ""
    _lines: deque[str] | None = None
    _steps: Steps | None = None

    def __init__(self, job: WorkedJob, under_lease: UnderLease) -> None:
        self._job = job
        self._under_lease = under_lease
        self.attempt: int = job.attempts
        self.timeout: float = job.timeout_seconds or 300

    @cached_property
    def job_id(self) -> UUID:
        return UUID(self._job.id)

    @cached_property
    def tenant_id(self) -> UUID:
        return UUID(self._job.tenant_id)

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

    def note_output(self, output: Output) -> None:
        """Keep the exit code and the end of the output of a program with the attempt, for the tenant to read."""
        self.output = output

    def under_lease(self, work: Callable[[Connection], T]) -> T:
        """Run `work(connection)` in its own transaction, with access to the rows of the job's tenant.

        What it writes stays, however the attempt ends, so that a later attempt finds it. To write with the completion
        or not at all, return the write in Done.
        """
        result: T = self._under_lease(work)
        return result

    @overload
    def step(self, name: str, run: Callable[[], object]) -> Any: ...

    @overload
    def step(self, name: str, run: Callable[[], object], result: type[M]) -> M: ...

    def step(self, name: str, run: Callable[[], object], result: type[BaseModel] | None = None) -> Any:
        """What `run()` returns, as JSON or as a model; stored under the lease, and not run again by later attempts.

        If it returns Done, the writes in it are committed with the stored result or not at all.
        """
        self.check()
        found = self._stepwise().result(name, run)
        return found if result is None else result.model_validate(found)

    async def step_async(
        self, name: str, run: Callable[[], Awaitable[object]], result: type[BaseModel] | None = None
    ) -> Any:
        """As `step`, with an async `run`, for handlers that are async."""
        self.check()
        found = await self._stepwise().awaited_result(name, run)
        return found if result is None else result.model_validate(found)

    def wait_for(
        self, event: str, match: str | None = None, *, timeout: float, name: str | None = None
    ) -> Event | None:
        """An event that meets the condition, as of triggers; None if there was none within the timeout.

        Until then the job is given back, without using up the attempt. Events and the timeout count from the first
        call on, or from `expect`.
        """
        return self._wait(name or event, event, match, timeout)

    def expect(self, event: str, match: str | None = None, *, timeout: float, name: str | None = None) -> None:
        """Let such events count from now on, for a later `wait_for` of the same name."""
        from tickwork.jobs.steps import Wait

        self.check()
        self._stepwise().expect(Wait(name or event, event, match, timeout))

    def sleep_for(self, name: str, seconds: float) -> None:
        """Give the job back for so long, without using up the attempt."""
        self._wait(name, timeout=seconds)

    def sleep_until(self, name: str, time: datetime) -> None:
        """Give the job back until then, without using up the attempt."""
        if time.tzinfo is None:
            raise ValueError(f"{time} has no time zone: pass one, such as datetime(2030, 1, 31, 7, tzinfo=UTC)")
        self._wait(name, ends_at=time)

    def has_steps(self) -> bool:
        return self._steps is not None

    def unused_steps(self) -> list[str]:
        """The stored steps that the handler has not asked for, if it has asked for any."""
        return self._steps.unused() if self._steps else []

    def start_clock(self) -> None:
        """Called by the runtime when the handler's time begins."""
        self.began_at = time.monotonic()
        self._ends_at = self.began_at + self.timeout

    def interrupt(self, reason: str) -> None:
        """Called by the runtime to ask the handler to stop."""
        self._reason = self._reason or reason
        self._is_stopped = True
        if self._stop:
            self._stop.set()
        if self.on_interrupt:
            self.on_interrupt()

    def has_output(self) -> bool:
        """Whether there is anything to keep with the attempt."""
        return self._lines is not None or self.output is not None

    def logs(self) -> str | None:
        return "\n".join(self._lines) if self._lines else None

    def _wait(
        self,
        name: str,
        event: str | None = None,
        match: str | None = None,
        timeout: float | None = None,
        ends_at: datetime | None = None,
    ) -> Event | None:
        from tickwork.jobs.steps import Wait

        self.check()
        return self._stepwise().event(Wait(name, event, match, timeout, ends_at))

    def _stepwise(self) -> Steps:
        if self._steps is None:
            # Loaded late: most handlers do without.
            from tickwork.jobs.steps import Steps

            self._steps = Steps(self._under_lease, self.wait)
        return self._steps


NOTHING_MORE = Done()


@dataclass(frozen=True)
class Handler(Generic[P]):
    """A payload model and the function that processes it, which may be `async`; `result` is the model of what that
    returns, for callers."""

    payload: type[P]
    run: Callable[[P, Tools], Returned | Coroutine[Any, Any, Returned]]
    result: type[BaseModel] | None = None

    def __call__(self, payload: Mapping[str, Any], tools: Tools) -> Done:
        result = self.run(self._validated(payload), tools)
        if result is None and not tools.has_steps():
            return NOTHING_MORE
        if isinstance(result, Coroutine):
            from tickwork.jobs.async_handler import result_of

            result = result_of(result, tools)
        if unused := tools.unused_steps():
            tools.log("leave_steps", "WARNING", unused=unused)
        return result if isinstance(result, Done) else Done(result)

    def _validated(self, payload: Mapping[str, Any]) -> P:
        try:
            return self.payload.model_validate(payload)
        except ValueError as error:
            # Imported late: it takes a tenth of the time of a small job, even the second time.
            from pydantic import ValidationError

            if not isinstance(error, ValidationError):
                raise
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
