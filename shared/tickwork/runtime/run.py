"""Runs the handler of a job."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from tickwork.errors import Interrupted, NotYet, Retryable, UnknownType
from tickwork.jobs.handler import Handlers, Tools
from tickwork.jobs.outcomes import Done, Failed, Outcome
from tickwork.logs import text_of
from tickwork.runtime.artifacts import whole_payload, with_small_result
from tickwork.runtime.attempt import Attempt, outcome_of

if TYPE_CHECKING:
    from tickwork.jobs.worked_job import WorkedJob


# What Postgres writes has no spaces around it, which `loads` would look for.
DECODER = json.JSONDecoder()


def run(attempt: Attempt, handlers: Handlers) -> Outcome:
    """Run the handler, here and now; returns how it ended. What it wants written is not written yet."""
    attempt.tools.start_clock()
    try:
        return run_handler(attempt.job, handlers, attempt.tools)
    except Interrupted as error:
        return attempt.interruption() or Failed(error.code, text_of(error))
    except BaseException as error:
        if isinstance(error, Retryable | NotYet) and error.hold and attempt.job.lane:
            attempt.lease.hold_lane(error.hold, text_of(error))
        return outcome_of(error)


def run_handler(job: WorkedJob, handlers: Handlers, tools: Tools) -> Done:
    handler = handlers.get(job.type)
    if handler is None:
        raise UnknownType(f"The function of the family {job.family!r} has no handler for the type {job.type!r}")
    payload, _ = DECODER.raw_decode(job.payload)
    if "artifact_ref" in job.payload:
        payload = whole_payload(payload, tools)
    return with_small_result(handler(payload, tools), job.type, tools)
