"""A job that a worker holds: what its handler is told, and what the others want of it."""

from __future__ import annotations

import inspect
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NoReturn

from tickwork.errors import Interrupted, JobError, NotYet, Permanent, Retryable
from tickwork.jobs.outcomes import Failed, Lost, Released
from tickwork.logs import exception_text, log_exception, text_of

if TYPE_CHECKING:
    from tickwork.jobs.rows import ClaimedJob

# A handler takes the payload and a context, and returns a result that is JSON, a model, or nothing.
Handler = Callable[[Any, "Context"], Any]
# What was returned, or Failed, Released or Lost.
Ending = object


class Context:
    """The handler's side of a running job."""

    def __init__(self, job: ClaimedJob) -> None:
        self.job = job
        self._stop = threading.Event()
        self._latest: tuple[float, str | None] | None = None
        self._ending: Failed | Released | Lost | None = None

    def progress(self, done: float, message: str | None = None) -> None:
        """Report progress, from 0 to 1; raises Interrupted if the job has to stop."""
        self._latest = (min(max(float(done), 0.0), 1.0), message)
        self.check()

    def check(self) -> None:
        """Raise Interrupted if the job has to stop: call it wherever long work can be interrupted."""
        if self._stop.is_set():
            raise Interrupted("the job has to stop")

    @property
    def is_stopped(self) -> bool:
        return self._stop.is_set()

    def step(self, *_: object, **__: object) -> NoReturn:
        """Steps and waits are not available here: they are stored in transactions that hold the job."""
        raise Permanent("Steps and waits need a worker on the database: tickwork worker", code="STEP_REFUSED")

    step_async = wait_for = expect = sleep_for = sleep_until = step


class HeldJob:
    """The worker's side of it."""

    def __init__(self, job: ClaimedJob, heartbeat_seconds: float | None = None) -> None:
        self.job = job
        self.context = Context(job)
        self.seconds_between_beats = heartbeat_seconds or (job.lease_seconds or 60) / 3
        self.beat_at = time.monotonic() + self.seconds_between_beats
        self.ends_at = time.monotonic() + (job.timeout_seconds or 300)
        self._first_to_settle = threading.Lock()

    def interrupt(self, ending: Failed | Released | Lost) -> None:
        """Ask the handler to stop, and say how the job ends if it does; the first reason counts."""
        if not self.context._stop.is_set():
            self.context._ending = ending
            self.context._stop.set()

    def may_settle(self) -> bool:
        """For one caller only: the thread of the handler, or the worker that ends."""
        return self._first_to_settle.acquire(blocking=False)

    def take_progress(self) -> tuple[float | None, str | None]:
        """What is to be told with the next heartbeat."""
        latest, self.context._latest = self.context._latest, None
        return latest or (None, None)

    def run(self, handler: Handler) -> Ending:
        """What the handler returned, or how the job ends instead."""
        try:
            result = handler(self.job.payload, self.context)
            if inspect.isawaitable(result):
                import asyncio

                result = asyncio.run(awaited(result))
            return result.model_dump(mode="json") if hasattr(result, "model_dump") else result
        except Interrupted as error:
            return self.context._ending or Failed(error.code, text_of(error))
        except Exception as error:
            return ending_of(error)


async def awaited(result: Any) -> Any:
    return await result


def ending_of(error: Exception) -> Failed | Released:
    """How a job ends that was left by an exception: the same as in a function."""
    match error:
        case NotYet():
            return Released(error.delay)
        case JobError():
            delay = error.delay if isinstance(error, Retryable) else None
            return Failed(error.code, text_of(error), not isinstance(error, Permanent), delay, error.for_operator)
        case _:
            # Nobody wrote its text for the tenant: it may hold a path, a query or a secret.
            log_exception("handler_raised", error)
            words = f"{type(error).__name__} in the handler. The operator sees more with `tickwork job ID --operator`"
            return Failed("UNEXPECTED", words, exception=exception_text(error))
