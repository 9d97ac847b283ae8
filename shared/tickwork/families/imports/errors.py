"""What can go wrong with a provider, in messages for the tenant, without tokens, URLs or texts from a server."""

from collections.abc import Iterator
from contextlib import contextmanager

from tickwork.errors import JobError, Permanent, RateLimited, Retryable
from tickwork.tools.outbound.retry_after import pause_of

# If a provider names no time.
USUAL_DELAY = 60.0


class Unusable(Permanent):
    """Concerns the whole connector, not one file or folder."""


class NotSetUp(Unusable):
    code = "PROVIDER_NOT_SET_UP"


class Reauthorize(Unusable):
    """The provider no longer accepts the connector's token: somebody has to connect it again."""

    code = "REAUTHORIZE"

    def __init__(self) -> None:
        super().__init__("The provider no longer accepts the connector's token. Connect it again")


class NotThere(Permanent):
    code = "NOT_THERE"

    def __init__(self) -> None:
        super().__init__("The file or folder no longer exists")


class Changed(Retryable):
    """What was fetched is not what was listed."""

    code = "FILE_CHANGED"

    def __init__(self) -> None:
        super().__init__("The bytes differ from those that the provider listed")


class Resync(Retryable):
    """The provider no longer knows the cursor: start over, at `cursor` if it names one."""

    code = "RESYNC"

    def __init__(self, cursor: str | None = None) -> None:
        super().__init__("The provider requires the folder to be listed again")
        self.cursor = cursor


class OutOfTime(Retryable):
    code = "TOO_SLOW"

    def __init__(self) -> None:
        super().__init__("Fetching the file takes longer than one job may run")


def rate_limited(retry_after: object) -> RateLimited:
    return RateLimited("The provider asked to wait", delay=seconds_of(retry_after))


def unavailable(retry_after: object = None) -> Retryable:
    delay = None if retry_after is None else seconds_of(retry_after)
    return Retryable("The provider is not available at the moment", code="PROVIDER_UNAVAILABLE", delay=delay)


def refused(code: str = "PROVIDER_REFUSED") -> Permanent:
    return Permanent("The provider refuses that", code=code)


def answered_oddly() -> Retryable:
    return Retryable("The provider's response cannot be understood", code="PROVIDER_UNCLEAR")


@contextmanager
def understanding() -> Iterator[None]:
    """For reading a response: whatever in it is not as documented makes it one that cannot be understood."""
    try:
        yield
    except (LookupError, TypeError, ValueError, ArithmeticError, RecursionError):
        raise answered_oddly() from None


def by_status(status: int, retry_after: object = None) -> JobError:
    """What an HTTP status means for every provider."""
    match status:
        case 404 | 410:
            return NotThere()
        case 408 | 409 | 423 | 425:
            return unavailable(retry_after)
        case 429 | 509:
            return rate_limited(retry_after)
        case 403:
            return refused("ACCESS_DENIED")
        case _ if status >= 500:
            return unavailable(retry_after)
        case _:
            return refused()


def seconds_of(retry_after: object) -> float:
    """How long to wait, at least a second; the usual delay if nothing sensible is given."""
    asked = pause_of(None if retry_after is None else str(retry_after))
    return USUAL_DELAY if asked is None else max(asked, 1.0)
