"""When to call again, as the server that was called says it."""

from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

MAX_PAUSE_SECONDS = 86_400.0
# Though 4xx, they say "not now" rather than "never".
PASSING = frozenset({408, 425})


def pause_of(retry_after: str | None) -> float | None:
    """The seconds that a Retry-After header asks for, a day at most; None if it asks for nothing sensible."""
    if retry_after is None:
        return None
    try:
        if retry_after.isascii() and retry_after.isdigit():
            return min(float(retry_after), MAX_PAUSE_SECONDS)
        at = parsedate_to_datetime(retry_after)
    except (ValueError, OverflowError):
        return None
    # A date without a zone is one in UTC.
    left = (at if at.tzinfo else at.replace(tzinfo=UTC)) - datetime.now(UTC)
    return min(max(left.total_seconds(), 0.0), MAX_PAUSE_SECONDS)
