"""A worker in an application's own program: claims jobs of one family with a key, runs and settles them."""

from __future__ import annotations

import os
import random
import signal
import socket
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from tickwork.client.held_job import Ending, Handler, HeldJob
from tickwork.client.way import Row
from tickwork.errors import BadSetting, InvalidRequest, LeaseLost, NotAllowed, QueueError, Unavailable
from tickwork.jobs.outcomes import Failed, Lost, Released
from tickwork.logs import bound, log

if TYPE_CHECKING:
    from tickwork.client.sync import Tickwork

# How often heartbeats are looked for, and whether the process has to end.
LOOK_SECONDS = 0.2
# When to try again to tell how a job ended, if nobody answers.
SETTLE_AGAIN_SECONDS = (0.5, 1.0, 2.0, 4.0, 8.0)
# How long a handler that was asked to stop is still waited for, before its lease is left to expire.
STOP_SECONDS = 30.0


class Worker:
    """Runs up to `threads` jobs at a time. SIGTERM and SIGINT: no further job is claimed, those that run may end
    within `grace_seconds`, and the others are given back."""

    def __init__(
        self,
        client: Tickwork,
        family: str,
        *,
        threads: int = 1,
        poll_seconds: float = 1.0,
        wait_seconds: int = 5,
        grace_seconds: float = 20.0,
        lease_seconds: int | None = None,
        heartbeat_seconds: float | None = None,
        worker_id: str | None = None,
    ) -> None:
        """Without a number of seconds, the type of each job decides on its lease, and a third of that on heartbeats.

        A claim over HTTP waits up to `wait_seconds` for a job to come, and so does a worker that is asked to stop.
        """
        self._verbs = client.workers
        self._family = family
        self._threads = threads
        self._poll_seconds = poll_seconds
        self._wait_seconds = wait_seconds
        self._grace_seconds = grace_seconds
        self._lease_seconds = lease_seconds
        self._heartbeat_seconds = heartbeat_seconds
        self.worker_id = worker_id or f"{family}@{socket.gethostname()}:{os.getpid()}:{uuid4().hex[:8]}"
        self._handlers: dict[str, Handler] = {}
        self._held: set[HeldJob] = set()
        self._stopping = threading.Event()
        self._refusal: QueueError | None = None

    def handler(self, type: str) -> Callable[[Handler], Handler]:
        """Decorates the function that does the work of a type; it may be async."""

        def register(handler: Handler) -> Handler:
            if type in self._handlers:
                raise BadSetting(f"the type {type!r} has two handlers")
            self._handlers[type] = handler
            return handler

        return register

    def run(self) -> None:
        """Until `stop` is called, by a signal or by another thread. Raises what refuses a claim for good."""
        if not self._handlers:
            raise BadSetting("the worker has no handler: decorate one with @worker.handler('type')")
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGTERM, self.stop)
            signal.signal(signal.SIGINT, self.stop)
        log("start_worker", family=self._family, worker_id=self.worker_id)
        threading.Thread(target=self._beat_until_left, daemon=True).start()
        slots = [threading.Thread(target=self._work_until_stopped, daemon=True) for _ in range(self._threads)]
        for slot in slots:
            slot.start()
        self._wait_for(slots)
        log("stop_worker", family=self._family, worker_id=self.worker_id)
        if self._refusal:
            raise self._refusal

    def stop(self, *_: Any) -> None:
        # Signals arrive in the main thread, which never waits for this event and so never holds its lock.
        self._stopping.set()

    def _wait_for(self, slots: list[threading.Thread]) -> None:
        leave_at = float("inf")
        while any(slot.is_alive() for slot in slots) and time.monotonic() < leave_at:
            time.sleep(LOOK_SECONDS)
            if self._stopping.is_set():
                leave_at = min(leave_at, time.monotonic() + self._grace_seconds)
        for held in list(self._held):
            held.interrupt(Released())
            self._settle(held, Released())

    def _work_until_stopped(self) -> None:
        rows: list[Row] = []
        while rows or not self._stopping.is_set():
            # Settling a job claims the next one.
            rows = [each for row in rows or self._claimed() for each in self._work_on(row)]

    def _claimed(self) -> list[Row]:
        """None if nothing is due, after a while; the API may have waited for that long itself."""
        began = time.monotonic()
        try:
            rows = self._verbs.worker_claim_jobs(*self._wanted(), wait_seconds=self._wait_seconds)
            if rows:
                return rows
        except (NotAllowed, InvalidRequest) as error:
            # A key that was revoked, or a family that it does not have: waiting does not help.
            self._refusal = error
            self.stop()
        except QueueError as error:
            log("fail_to_claim", "WARNING", reason=str(error), hint=error.hint)
        left = self._poll_seconds * random.uniform(0.8, 1.2) - (time.monotonic() - began)
        self._stopping.wait(max(left, 0))
        return []

    def _wanted(self) -> tuple[str, str, int, int | None, list[str]]:
        return self._family, self.worker_id, 1, self._lease_seconds, sorted(self._handlers)

    def _work_on(self, row: Row) -> list[Row]:
        """Run a job and settle it; returns the next one, if there is one."""
        from tickwork.jobs.rows import ClaimedJob

        job = ClaimedJob(**row)
        held = HeldJob(job, self._heartbeat_seconds)
        self._held.add(held)
        try:
            with bound(job_id=job.id, tenant_id=job.tenant_id, type=job.type, attempt=job.attempts):
                # One that comes when the worker ends already is given back.
                ending = Released() if self._stopping.is_set() else held.run(self._handlers[job.type])
                return self._settle(held, ending)
        finally:
            self._held.discard(held)

    def _settle(self, held: HeldJob, ending: Ending) -> list[Row]:
        """Tell how it ended, and claim the next job in the same trip. One that is no longer held is left alone."""
        if isinstance(ending, Lost) or not held.may_settle():
            log("lose_lease", "WARNING", job_id=held.job.id)
            return []
        if not self._stopping.is_set():
            try:
                return self._settle_and_claim(held, ending)
            except QueueError as error:
                # Alone, it may be settled, or is refused for a reason of its own.
                log("miss_settle", "WARNING", reason=str(error))
        self._tell_until_heard(held, ending)
        return []

    def _settle_and_claim(self, held: HeldJob, ending: Ending) -> list[Row]:
        status, fields = outcome_of(ending)
        lease = {"job_id": str(held.job.id), "lease_token": str(held.job.lease_token)}
        answer = self._verbs.worker_settle_and_claim([{**lease, "status": status, **fields}], *self._wanted())
        if all(each["is_held"] for each in answer["settled"] or ()):
            log_end(held, ending)
        else:
            log("lose_lease", "WARNING", job_id=held.job.id)
        return list(answer["claimed"] or ())

    def _tell_until_heard(self, held: HeldJob, ending: Ending) -> None:
        for pause in (*SETTLE_AGAIN_SECONDS, None):
            try:
                self._tell(held, ending)
                return
            except LeaseLost:
                log("lose_lease", "WARNING", job_id=held.job.id)
                return
            except Unavailable as error:
                log("miss_settle", "WARNING", reason=str(error))
                if pause is None:
                    return
                time.sleep(pause)
            except QueueError as error:
                # Such as a result that is too large: a retry would produce the same one.
                log("miss_settle", "WARNING", reason=str(error))
                ending = Failed("RESULT_REFUSED", str(error), retryable=False)

    def _tell(self, held: HeldJob, ending: Ending) -> None:
        lease = (held.job.id, held.job.lease_token)
        match ending:
            case Released():
                self._verbs.worker_release_job(*lease, ending.delay)
            case Failed():
                error = {"code": ending.code, "message": ending.message}
                self._verbs.worker_fail_job(*lease, error, ending.retryable, ending.delay, exception=ending.exception)
            case _:
                self._verbs.worker_complete_job(*lease, ending)
        log_end(held, ending)

    def _beat_until_left(self) -> None:
        while True:
            time.sleep(LOOK_SECONDS)
            for held in list(self._held):
                self._beat(held)

    def _beat(self, held: HeldJob) -> None:
        now = time.monotonic()
        if now > held.ends_at:
            seconds = held.job.timeout_seconds or 300
            held.interrupt(Failed("TIMEOUT", f"The handler took longer than {seconds} seconds"))
        # Who does not stop loses the job: another worker gets it when the lease expires.
        if now < held.beat_at or now > held.ends_at + STOP_SECONDS:
            return
        held.beat_at = now + held.seconds_between_beats
        try:
            if self._verbs.worker_heartbeat_job(held.job.id, held.job.lease_token, *held.take_progress()):
                held.interrupt(Released())
        except LeaseLost:
            held.interrupt(Lost())
        except QueueError as error:
            log("miss_heartbeat", "WARNING", job_id=held.job.id, reason=str(error))
            held.beat_at = now + min(1.0, held.seconds_between_beats)


def outcome_of(ending: Ending) -> tuple[str, dict[str, Any]]:
    """As settle_jobs takes it: a status, and the fields that go with it."""
    match ending:
        case Released():
            return "released", {"delay_seconds": ending.delay}
        case Failed():
            error = {"code": ending.code, "message": ending.message}
            told = {"retryable": ending.retryable, "retry_after_seconds": ending.delay, "exception": ending.exception}
            return "failed", {"error": error, **{name: each for name, each in told.items() if each is not None}}
        case _:
            return "done", {} if ending is None else {"result": ending}


def log_end(held: HeldJob, ending: Ending) -> None:
    match ending:
        case Released():
            log("release_job", job_id=held.job.id)
        case Failed():
            log("fail_job", "WARNING", job_id=held.job.id, code=ending.code)
        case _:
            log("complete_job", job_id=held.job.id)
