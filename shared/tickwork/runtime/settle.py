"""Writes how attempts ended: many in one statement that claims the next jobs too, or one with its handler's writes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, NamedTuple, assert_never

import psycopg
from psycopg.rows import DictRow

from tickwork.database.connection import Connection
from tickwork.database.json_text import as_stored
from tickwork.errors import InvalidRequest, LeaseLost, QueueFull, Unavailable, WriteFailed
from tickwork.jobs.handler import NOTHING_MORE
from tickwork.jobs.outcomes import Done, Failed, Json, Lost, Outcome, Released, Write
from tickwork.logs import log, presentable, text_of
from tickwork.queue import Queue, lease_of
from tickwork.runtime.attempt import Attempt, outcome_of
from tickwork.runtime.deadline import Deadline
from tickwork.runtime.lease import bounded_delay
from tickwork.runtime.recorded import settling

if TYPE_CHECKING:
    from tickwork.jobs.worked_job import WorkedJob

# When to try again to reach the database with an outcome: for as long as a restart of the server may take.
SETTLE_AGAIN_SECONDS = (0.2, 1.0, 4.0, 4.0, 4.0, 4.0, 4.0, 4.0)


class Claim(NamedTuple):
    """What to claim when something is settled."""

    family: str | None
    types: Iterable[str] | None
    max_jobs: int


NOTHING = Claim(None, None, 0)


def settle_and_claim(
    attempts: Sequence[Attempt], queue: Queue, deadline: Deadline, claim: Claim = NOTHING
) -> list[WorkedJob] | None:
    """Write how they ended, and claim the next jobs, in one statement; each attempt keeps what became of it.

    If that fails, they are settled without a claim, which returns None: it may have taken place.
    """
    asked = claim
    for pause in (*SETTLE_AGAIN_SECONDS, None):
        try:
            jobs = settle_and_claim_once(attempts, queue, claim)
            return jobs if claim is asked else None
        except Unavailable as error:
            log("miss_settle", "WARNING", reason=str(error))
            claim = NOTHING
            if pause is None or not deadline.pause(pause):
                break
        except Exception as error:
            # One that is refused must not keep the others from being settled.
            log("miss_settle", "WARNING", reason=text_of(error))
            for attempt in attempts:
                attempt.note_settled(*settle(attempt, attempt.outcome(), deadline))
            return None
    # The leases expire, and somebody else gets the jobs.
    for attempt in attempts:
        attempt.note_settled(attempt.outcome(), "lost")
    return None


def settle_and_claim_once(attempts: Sequence[Attempt], queue: Queue, claim: Claim) -> list[WorkedJob]:
    results = [result_of(attempt.outcome()) for attempt in attempts]
    endings = [ending_beyond(attempt, attempt.outcome()) for attempt in attempts]
    with settling(attempts):
        statuses, jobs = queue.settle_and_claim(
            [attempt.job.id for attempt in attempts],
            [attempt.job.lease_token for attempt in attempts],
            results if any(results) else None,
            as_stored(endings) if any(endings) else None,
            claim.family,
            claim.max_jobs,
            types=claim.types,
        )
    for attempt, status in zip(attempts, statuses, strict=True):
        attempt.ending = "done" if status == "done" else ending_of(attempt.outcome(), status)
    return jobs


def settle(attempt: Attempt, outcome: Outcome, deadline: Deadline) -> tuple[Outcome, str]:
    """Write it, with what the handler wants written; again if the database cannot be reached. Returns what was written,
    and how the attempt ended. What the queue does not take fails the attempt."""
    for pause in (*SETTLE_AGAIN_SECONDS, None):
        try:
            with settling([attempt]):
                return write_and_settle(attempt, outcome)
        except LeaseLost:
            break
        except Unavailable as error:
            log("miss_settle", "WARNING", reason=str(error))
            if pause is None or not deadline.pause(pause):
                break
        except Exception as error:
            # The writes failed because they were broken off: how the attempt ends is written by whoever did that.
            if not isinstance(outcome, Done) or attempt.lease.is_given_up:
                log("miss_settle", "WARNING", reason=text_of(error))
                break
            outcome = outcome_of_refusal(error)
    return outcome, "lost"


def write_and_settle(attempt: Attempt, outcome: Outcome) -> tuple[Outcome, str]:
    """In one transaction with what the handler wants written."""
    encoded = [encoded_outcome(attempt, outcome)]
    if not isinstance(outcome, Done) or not outcome.writes:
        (settled,) = attempt.queue.settle_jobs(encoded)
        return outcome, ending_of(outcome, settled["status"])
    writes = outcome.writes

    def write_all(connection: Connection) -> DictRow:
        for each in writes:
            perform(each, connection)
        (settled,) = attempt.queue.settle_jobs(encoded, connection)
        return settled

    return outcome, ending_of(outcome, attempt.lease.transaction(write_all)["status"])


def perform(write: Write, connection: Connection) -> None:
    try:
        write(connection)
    except psycopg.Error as error:
        # A deadlock or a full disk was nobody's fault: all of it is tried again, as when the connection breaks.
        if connection.broken or (error.sqlstate or "").startswith(("40", "53")):
            raise
        raise WriteFailed(str(error), sqlstate=error.sqlstate) from error


def outcome_of_refusal(error: Exception) -> Outcome:
    """How an attempt ends whose handler was done, but could not be settled so."""
    match error:
        case QueueFull():
            return Failed("QUEUE_FULL", "The tenant has too many jobs queued for those that should follow")
        case InvalidRequest():
            return Failed("REFUSED", f"The queue refused what the handler returned: {error}", retryable=False)
        case _:
            return outcome_of(error)


def encoded_outcome(attempt: Attempt, outcome: Outcome) -> Json:
    """As `settle_jobs` takes it."""
    encoded = {**lease_of(attempt.job), **(ending_beyond(attempt, outcome) or {"status": "done"})}
    if isinstance(outcome, Done) and outcome.result is not None:
        encoded["result"] = outcome.result.model_dump(mode="json")
    return encoded


def result_of(outcome: Outcome) -> str | None:
    """As `settle_and_claim` takes it."""
    if not isinstance(outcome, Done) or outcome.result is None:
        return None
    return as_stored(outcome.result.model_dump(mode="json"))


def ending_beyond(attempt: Attempt, outcome: Outcome) -> dict[str, Any] | None:
    """How it ended, as `settle_and_claim` takes it; None if it is done, with nothing but its result."""
    if outcome is NOTHING_MORE and not attempt.tools.has_output():
        return None
    encoded: dict[str, Any] = {}
    match outcome:
        case Done():
            if outcome.follow_ups:
                trace = {"traceparent": str(attempt.trace())}
                encoded["follow_ups"] = [each.model_dump(mode="json") | trace for each in outcome.follow_ups]
        case Failed():
            encoded["status"] = "failed"
            encoded["error"] = {"code": outcome.code, "message": presentable(outcome.message)}
            encoded["retryable"] = outcome.retryable
            encoded["retry_after_seconds"] = None if outcome.delay is None else bounded_delay(outcome.delay)
            if outcome.exception is not None:
                encoded["exception"] = presentable(outcome.exception)
        case Released():
            return {"status": "released", "delay_seconds": bounded_delay(outcome.delay)}
        case Lost():
            raise LeaseLost("the lease was lost while the handler ran")
        case _:
            assert_never(outcome)
    if logs := attempt.tools.logs():
        encoded["logs"] = logs
    if attempt.tools.output:
        encoded |= asdict(attempt.tools.output)
    return {"status": "done", **encoded} if encoded else None


def ending_of(outcome: Outcome, status: str | None) -> str:
    """How the attempt ended, in the words of the report: `lost` if somebody else has the job."""
    match outcome, status:
        case Failed(), "queued":
            return "retried"
        case Released(), "queued":
            return "released"
        case _:
            return status or "lost"
