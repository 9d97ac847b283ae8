"""Writes the outcome of an attempt: alone, with what its handler wants written, or with the claim of the next job."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from typing import TYPE_CHECKING, assert_never

from psycopg.rows import DictRow

from tickwork.database.connection import Connection
from tickwork.errors import InvalidRequest, LeaseLost, QueueError, QueueFull, Unavailable
from tickwork.jobs.outcomes import Done, Failed, Json, Lost, Outcome, Released
from tickwork.logs import log, log_exception, presentable, text_of
from tickwork.queue import SettleAndClaim, lease_of, perform
from tickwork.runtime.attempt import Attempt, outcome_of
from tickwork.runtime.deadline import Deadline
from tickwork.runtime.lease import bounded_delay
from tickwork.runtime.recorded import settling

if TYPE_CHECKING:
    from tickwork.jobs.rows import ClaimedJob

# When to try again to reach the database with an outcome: for as long as a restart of the server may take.
SETTLE_AGAIN_SECONDS = (0.2, 1.0, 4.0, 4.0, 4.0, 4.0, 4.0, 4.0)


def settle_and_claim(attempt: Attempt, family: str, types: Iterable[str]) -> ClaimedJob | None:
    """Settle the job and claim the next one of this family and these types, if one is due, in one statement.

    If that fails, the job is not settled.
    """
    try:
        request = SettleAndClaim([encoded_outcome(attempt, attempt.outcome())])
        with settling([attempt]):
            request.send(attempt.queue, family, max_jobs=1, types=types)
    except Exception as error:
        # What is wrong is found out, and said, when it is settled alone.
        log("miss_settle", "WARNING", reason=text_of(error))
        return None
    (status,) = request.statuses()
    attempt.note_settled(attempt.outcome(), ending_of(attempt.outcome(), status))
    log_ending(attempt)
    return next(iter(claimed_with(request)), None)


def claimed_with(request: SettleAndClaim) -> list[ClaimedJob]:
    try:
        return request.claimed()
    except Exception as error:
        # One job that cannot even be read must not keep the others from being settled.
        log_exception("fail_to_claim", error)
        return []


def settle(attempt: Attempt, deadline: Deadline) -> None:
    """Write the outcome under the lease, and keep how the attempt ended: `lost` if somebody else has the job."""
    attempt.note_settled(*settle_outcome(attempt, attempt.outcome(), deadline))
    log_ending(attempt)


def settle_outcome(attempt: Attempt, outcome: Outcome, deadline: Deadline) -> tuple[Outcome, str]:
    """Write it, once more if the database cannot be reached. Returns what was written, and how the attempt ended."""
    for pause in (*SETTLE_AGAIN_SECONDS, None):
        try:
            with settling([attempt]):
                return write(attempt, outcome)
        except LeaseLost:
            break
        except QueueError as error:
            log("miss_settle", "WARNING", reason=str(error))
            if pause is None or not deadline.pause(pause):
                break
    return outcome, "lost"


def write(attempt: Attempt, outcome: Outcome) -> tuple[Outcome, str]:
    """In one transaction with what the handler wants written. What the queue does not take fails the attempt."""
    try:
        (settled,) = settled_jobs(attempt, outcome)
        return outcome, ending_of(outcome, settled["status"])
    except (LeaseLost, Unavailable):
        raise
    except Exception as error:
        if not isinstance(outcome, Done):
            raise
        # The writes failed because they were broken off: how the attempt ends is written by whoever did that.
        if attempt.lease.is_given_up:
            raise LeaseLost("this attempt was abandoned") from error
        return write(attempt, outcome_of_refusal(error))


def settled_jobs(attempt: Attempt, outcome: Outcome) -> list[DictRow]:
    encoded = [encoded_outcome(attempt, outcome)]
    if not isinstance(outcome, Done) or not outcome.writes:
        return attempt.queue.settle_jobs(encoded)
    writes = outcome.writes

    def write_and_settle(connection: Connection) -> list[DictRow]:
        for each in writes:
            perform(each, connection)
        return attempt.queue.settle_jobs(encoded, connection)

    settled: list[DictRow] = attempt.lease.transaction(write_and_settle)
    return settled


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
    """As `settle_jobs` and `settle_and_claim` take it."""
    encoded = lease_of(attempt.job)
    match outcome:
        case Done():
            encoded["status"] = "done"
            if outcome.result is not None:
                encoded["result"] = outcome.result.model_dump(mode="json")
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
            return {**encoded, "status": "released", "delay_seconds": bounded_delay(outcome.delay)}
        case Lost():
            raise LeaseLost("the lease was lost while the handler ran")
        case _:
            assert_never(outcome)
    if logs := attempt.tools.logs():
        encoded["logs"] = logs
    if attempt.tools.output:
        encoded |= asdict(attempt.tools.output)
    return encoded


def ending_of(outcome: Outcome, status: str | None) -> str:
    """How the attempt ended, in the words of the report: `lost` if somebody else has the job."""
    match outcome, status:
        case Failed(), "queued":
            return "retried"
        case Released(), "queued":
            return "released"
        case _:
            return status or "lost"


def log_ending(attempt: Attempt) -> None:
    outcome = attempt.outcome()
    error_code = outcome.code if isinstance(outcome, Failed) else None
    log(
        "settle",
        "WARNING" if attempt.ending == "lost" else "INFO",
        ending=attempt.ending,
        error_code=error_code,
        duration_ms=attempt.duration_ms(),
        wait_ms=attempt.job.wait_ms,
    )
