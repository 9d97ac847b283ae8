"""Defects of the runtime, put into a worker on purpose to see the checker find them."""

import os
from collections.abc import Callable
from contextlib import suppress

from tickwork.database.connection import Connection
from tickwork.errors import QueueError
from tickwork.jobs.outcomes import Done, Outcome
from tickwork.runtime import settle
from tickwork.runtime.attempt import Attempt

MUTANT = "TICKWORK_CHAOS_MUTANT"


def break_runtime() -> None:
    """Does nothing unless a storm of mutants has asked for it."""
    if name := os.environ.get(MUTANT):
        setattr(settle, "write_and_settle", RUNTIME_MUTANTS[name])  # noqa: B010 - no type fits a function that is replaced


def settle_before_effects(attempt: Attempt, outcome: Outcome) -> tuple[Outcome, str]:
    settled = settled_alone(attempt, outcome)
    with suppress(QueueError):
        write_alone(attempt, outcome)
    return settled


def effects_in_another_transaction(attempt: Attempt, outcome: Outcome) -> tuple[Outcome, str]:
    write_alone(attempt, outcome)
    return settled_alone(attempt, outcome)


def settled_alone(attempt: Attempt, outcome: Outcome) -> tuple[Outcome, str]:
    (settled,) = attempt.queue.settle_jobs([settle.encoded_outcome(attempt, outcome)])
    return outcome, settle.ending_of(outcome, settled["status"])


def write_alone(attempt: Attempt, outcome: Outcome) -> None:
    def write_all(connection: Connection) -> None:
        assert isinstance(outcome, Done)
        for each in outcome.writes:
            settle.perform(each, connection)

    if isinstance(outcome, Done) and outcome.writes:
        attempt.lease.transaction(write_all)


RUNTIME_MUTANTS: dict[str, Callable[[Attempt, Outcome], tuple[Outcome, str]]] = {
    "settle before effects": settle_before_effects,
    "effects in another transaction": effects_in_another_transaction,
}
