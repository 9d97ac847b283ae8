"""What has to happen while handlers run: leases are kept, and handlers that have to stop are told so."""

from collections.abc import Iterable

from tickwork.errors import QueueError
from tickwork.jobs.outcomes import Failed, Lost, Released
from tickwork.logs import log
from tickwork.runtime.attempt import Attempt
from tickwork.runtime.deadline import Deadline

# How often the runtime looks at a running handler.
LOOK_SECONDS = 0.25
# How long a handler that was asked to stop may take to do so.
STOP_SECONDS = 5.0


def keep_leases(attempts: Iterable[Attempt]) -> None:
    """Send the heartbeats that are due, and interrupt attempts that were cancelled or have lost their lease."""
    due = {str(attempt.job.id): attempt for attempt in attempts if attempt.beat_is_due()}
    if not due:
        return
    try:
        rows = next(iter(due.values())).queue.heartbeat_jobs([attempt.heartbeat() for attempt in due.values()])
    except QueueError as error:
        log("miss_heartbeat", "WARNING", job_id=", ".join(due), reason=str(error))
        # Bearable, for as long as the lease lasts.
        for attempt in due.values():
            if attempt.lease.is_over():
                attempt.interrupt(Lost(), 0)
        return
    for row in rows:
        attempt = due[str(row["job_id"])]
        attempt.note_beat()
        if not row["is_held"]:
            attempt.interrupt(Lost(), 0)
        elif row["cancel_requested"]:
            attempt.interrupt(Failed("CANCELLED", "It was cancelled on request", retryable=False), STOP_SECONDS)


def stop_in_time(attempt: Attempt, deadline: Deadline) -> None:
    """Interrupt an attempt whose time is over, or that of its process."""
    if attempt.tools.seconds_left() < 0:
        message = f"It ran longer than the {attempt.job.timeout_seconds} seconds that its type allows"
        attempt.interrupt(Failed("TIMEOUT", message), STOP_SECONDS)
    if deadline.grace_is_over():
        attempt.interrupt(Released(), 0)
