"""Runs the handler of a job, and writes what it wants written."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tickwork.errors import Interrupted, NotYet, Retryable, UnknownType
from tickwork.jobs.handler import Handlers, Tools
from tickwork.jobs.outcomes import Done, Failed, Outcome
from tickwork.logs import text_of
from tickwork.runtime.artifacts import whole_payload, with_small_result
from tickwork.runtime.attempt import Attempt, outcome_of
from tickwork.runtime.deadline import Deadline
from tickwork.runtime.settle import log_ending, settle_outcome

if TYPE_CHECKING:
    from tickwork.jobs.rows import ClaimedJob


def run(attempt: Attempt, handlers: Handlers, deadline: Deadline) -> bool:
    """Run the handler, here and now, and keep how it ended; false if it was abandoned meanwhile.

    What it wants written is written here as well, in the transaction that settles the job: that may take as long as the
    handler, so it can be abandoned in the same way, and does not keep other jobs of a batch waiting.
    """
    attempt.tools.start_clock()
    outcome = outcome_of_handler(attempt, handlers)
    if not isinstance(outcome, Done) or not outcome.writes:
        return attempt.finish(outcome)
    attempt.is_writing = True
    if not attempt.finish(*settle_outcome(attempt, outcome, deadline)):
        return False
    log_ending(attempt)
    return True


def outcome_of_handler(attempt: Attempt, handlers: Handlers) -> Outcome:
    try:
        return run_handler(attempt.job, handlers, attempt.tools)
    except Interrupted as error:
        return attempt.interruption() or Failed(error.code, text_of(error))
    except BaseException as error:
        if isinstance(error, Retryable | NotYet) and error.hold and attempt.job.lane:
            attempt.lease.hold_lane(error.hold, text_of(error))
        return outcome_of(error)


def run_handler(job: ClaimedJob, handlers: Handlers, tools: Tools) -> Done:
    handler = handlers.get(job.type)
    if handler is None:
        raise UnknownType(f"The function of the family {job.family!r} has no handler for the type {job.type!r}")
    return with_small_result(handler(whole_payload(job.payload, tools), tools), job.type, tools)
