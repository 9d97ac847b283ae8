"""Defects of the runtime, put into a worker on purpose to see the checker find them."""

import os
from collections.abc import Callable
from contextlib import suppress

from psycopg.rows import DictRow

from tickwork.database.connection import Connection
from tickwork.errors import QueueError
from tickwork.jobs.outcomes import Done, Outcome
from tickwork.queue import perform
from tickwork.runtime import settle
from tickwork.runtime.attempt import Attempt

MUTANT = "TICKWORK_CHAOS_MUTANT"


def break_runtime() -> None:
    """Does nothing unless a storm of mutants has asked for it."""
    if name := os.environ.get(MUTANT):
        setattr(settle, "settled_jobs", RUNTIME_MUTANTS[name])  # noqa: B010 - no type fits a function that is replaced


def settle_before_effects(attempt: Attempt, outcome: Outcome) -> list[DictRow]:
    settled = attempt.queue.settle_jobs([settle.encoded_outcome(attempt, outcome)])
    with suppress(QueueError):
        write_alone(attempt, outcome)
    return settled


def effects_in_another_transaction(attempt: Attempt, outcome: Outcome) -> list[DictRow]:
    write_alone(attempt, outcome)
    return attempt.queue.settle_jobs([settle.encoded_outcome(attempt, outcome)])


def write_alone(attempt: Attempt, outcome: Outcome) -> None:
    def write_all(connection: Connection) -> None:
        assert isinstance(outcome, Done)
        for each in outcome.writes:
            perform(each, connection)

    if isinstance(outcome, Done) and outcome.writes:
        attempt.lease.transaction(write_all)


RUNTIME_MUTANTS: dict[str, Callable[[Attempt, Outcome], list[DictRow]]] = {
    "settle before effects": settle_before_effects,
    "effects in another transaction": effects_in_another_transaction,
}
