"""Passes on to a broker what the database announces: for jobs that are enqueued by SQL or a Supabase client."""

from collections.abc import Callable

from tickwork.database.listener import notices
from tickwork.waking.announcer import UNKNOWN_JOB, Announcer


def relay(database_url: str, announcer: Announcer, is_stopped: Callable[[], bool]) -> None:
    """Until stopped. The database says that a family has a job, but not which one."""
    for _ in notices(database_url, "tickwork relay", "tickwork", is_stopped):
        announcer.announce(UNKNOWN_JOB)
