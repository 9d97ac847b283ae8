"""What can go wrong with the Unstructured API, and what that means for the job."""

from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Literal

from tickwork.errors import JobError, Permanent, RateLimited, Retryable

Stage = Literal["reading", "asking", "answered"]

MAX_DELAY_SECONDS = 3600.0

UNREADABLE = "The engine cannot read the file: it may be encrypted, corrupt or of another type than its name says"
UNREACHABLE = "The engine cannot be reached: if this lasts, ask the operator"
TOO_SLOW = "The engine did not answer in time: a file of fewer pages may help"
NO_ELEMENTS = "The engine answered something other than the elements of a document"


def translated(error: Exception, stage: Stage) -> JobError:
    """What an error of the client means for the job; it never tells the address, the key or the answer."""
    import httpx
    from unstructured_client.models.errors import UnstructuredClientError

    match error:
        case UnstructuredClientError():
            return refusal(error.status_code, error.headers)
        case httpx.ConnectTimeout():
            return Retryable(UNREACHABLE, code="ENGINE_UNAVAILABLE")
        case httpx.TimeoutException() | TimeoutError():
            return Retryable(TOO_SLOW, code="ENGINE_TIMEOUT")
        case httpx.TransportError() | OSError():
            return Retryable(UNREACHABLE, code="ENGINE_UNAVAILABLE")
    match stage:
        case "reading":
            # The client reads a PDF to split it, and stumbles over a broken one in many ways.
            return Permanent(UNREADABLE, code="ENGINE_REFUSED")
        case "asking":
            return Retryable(UNREACHABLE, code="ENGINE_UNAVAILABLE")
        case "answered":
            return Retryable(NO_ELEMENTS, code="ENGINE_ANSWER")


def refusal(status: int, headers: Mapping[str, str]) -> JobError:
    """What an answer other than elements means for the job."""
    match status:
        case 400 | 415 | 422:
            return Permanent(UNREADABLE, code="ENGINE_REFUSED")
        case 401 | 403:
            return Permanent("The engine did not accept the operator's key: ask the operator", code="ENGINE_KEY")
        case 413:
            return Permanent("The file is larger than the engine takes: split it", code="FILE_TOO_LARGE")
        case 429:
            return RateLimited(
                "The engine takes no more files for now", code="ENGINE_BUSY", delay=wanted_delay(headers)
            )
        case 503:
            return Retryable("The engine is busy", code="ENGINE_BUSY", delay=wanted_delay(headers))
        case _ if 400 <= status < 500:
            return Permanent("The engine refused the request: ask the operator", code="ENGINE_REFUSED")
        case _ if status >= 500:
            return Retryable("The engine failed on its side", code="ENGINE_UNAVAILABLE")
        case _:
            return Retryable(NO_ELEMENTS, code="ENGINE_ANSWER")


def wanted_delay(headers: Mapping[str, str]) -> float | None:
    """The seconds of a Retry-After header, which may also be a date."""
    value = headers.get("Retry-After", "").strip()
    try:
        delay = float(value) if value.isdecimal() else (_point_in_time(value) - datetime.now(UTC)).total_seconds()
    except (ValueError, OverflowError):
        return None
    return min(max(delay, 1.0), MAX_DELAY_SECONDS)


def _point_in_time(date: str) -> datetime:
    found = parsedate_to_datetime(date)
    return found if found.tzinfo else found.replace(tzinfo=UTC)
