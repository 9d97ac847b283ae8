"""How an attempt's outcome gets into the database: alone, or in one go with the claim of the next job."""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import TYPE_CHECKING, assert_never

from tickwork.errors import InvalidRequest, LeaseLost, QueueError, QueueFull, Unavailable
from tickwork.jobs.outcomes import Done, Failed, Json, Lost, Outcome, Released
from tickwork.logs import log, presentable, text_of
from tickwork.queue import lease_of
from tickwork.runtime.attempt import Attempt, outcome_of
from tickwork.runtime.lease import bounded_delay

if TYPE_CHECKING:
    from tickwork.jobs.rows import ClaimedJob

# When to try again to reach the database with an outcome.
SETTLE_AGAIN_SECONDS = (0.2, 1.0, 4.0)


def settle_and_claim(attempt: Attempt, types: Iterable[str] | None) -> tuple[str, ClaimedJob | None]:
    """Settle the job and claim the next one of these types in one go where that can be; otherwise settle it alone.

    Returns how the attempt ended, and what was claimed.
    """
    outcome = attempt.outcome()
    if types is not None and not is_settled_alone(outcome):
        try:
            encoded = [encoded_outcome(attempt, outcome)]
            settled, claimed = attempt.queue.settle_and_claim(encoded, attempt.job.family, types=types)
            ending = ending_of(outcome, settled[0]["status"])
            log_ending(ending, outcome)
            return ending, (claimed[0] if claimed else None)
        except Exception as error:
            # What is wrong is found out, and said, when it is settled alone.
            log("miss_settle", "WARNING", reason=text_of(error))
    return settle(attempt), None


def settle(attempt: Attempt) -> str:
    """Write the outcome under the lease; returns how the attempt ended, `lost` if somebody else has the job."""
    for pause in (*SETTLE_AGAIN_SECONDS, None):
        try:
            ending = write(attempt, attempt.outcome())
        except LeaseLost:
            ending = "lost"
        except QueueError as error:
            log("miss_settle", "WARNING", reason=str(error))
            if pause is not None:
                time.sleep(pause)
                continue
            ending = "lost"
        log_ending(ending, attempt.outcome())
        return ending
    raise AssertionError("the last round returns")


def write(attempt: Attempt, outcome: Outcome) -> str:
    """In one transaction with what the handler wants written. What the queue does not take fails the attempt."""
    try:
        encoded = [encoded_outcome(attempt, outcome)]
        (settled,) = attempt.queue.settle_jobs(encoded, outcome.writes if isinstance(outcome, Done) else ())
        return ending_of(outcome, settled["status"])
    except (LeaseLost, Unavailable):
        raise
    except Exception as error:
        if not isinstance(outcome, Done):
            raise
        return write(attempt, outcome_of_refusal(error))


def outcome_of_refusal(error: Exception) -> Outcome:
    """How an attempt ends whose handler was done, but could not be settled so."""
    match error:
        case QueueFull():
            return Failed("QUEUE_FULL", "The tenant has too many jobs queued for those that should follow")
        case InvalidRequest():
            return Failed("REFUSED", f"The queue refused what the handler returned: {error}", retryable=False)
        case _:
            return outcome_of(error)


def is_settled_alone(outcome: Outcome) -> bool:
    return isinstance(outcome, Lost) or (isinstance(outcome, Done) and bool(outcome.writes))


def encoded_outcome(attempt: Attempt, outcome: Outcome) -> Json:
    """As `settle_jobs` and `settle_and_claim` take it."""
    encoded = lease_of(attempt.job)
    match outcome:
        case Done():
            encoded["status"] = "done"
            if outcome.result is not None:
                encoded["result"] = outcome.result.model_dump(mode="json")
            if outcome.follow_ups:
                encoded["follow_ups"] = [each.model_dump(mode="json") for each in outcome.follow_ups]
        case Failed():
            encoded["status"] = "failed"
            encoded["error"] = {"code": outcome.code, "message": presentable(outcome.message)}
            encoded["retryable"] = outcome.retryable
            encoded["retry_after_seconds"] = None if outcome.delay is None else bounded_delay(outcome.delay)
        case Released():
            return {**encoded, "status": "released", "delay_seconds": bounded_delay(outcome.delay)}
        case Lost():
            raise LeaseLost("the lease was lost while the handler ran")
        case _:
            assert_never(outcome)
    if logs := attempt.tools.logs():
        encoded["logs"] = logs
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


def log_ending(ending: str, outcome: Outcome) -> None:
    error_code = outcome.code if isinstance(outcome, Failed) else None
    log("settle", "WARNING" if ending == "lost" else "INFO", ending=ending, error_code=error_code)
