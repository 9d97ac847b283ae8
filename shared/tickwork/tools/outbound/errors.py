"""What can go wrong with a call to the outside, in words that give no address, header or secret away."""

import ssl
import zlib
from collections.abc import Iterator
from contextlib import contextmanager

from tickwork.errors import Permanent, Retryable


class Blocked(Permanent):
    """The same words whether a URL is odd or its host private or not there: a tenant learns nothing of our network."""

    code = "ADDRESS_BLOCKED"

    def __init__(self, for_operator: str | None = None) -> None:
        super().__init__(
            "This address is not allowed. Give the https URL of a public host that exists, with a path in plain ASCII, "
            "on a usual port and without credentials."
        )
        self.for_operator = for_operator


class TooLarge(Permanent):
    code = "ANSWER_TOO_LARGE"

    def __init__(self, largest: int) -> None:
        super().__init__(f"The server's answer is larger than {largest} bytes. Ask it for less.")


class Unreachable(Retryable):
    code = "NOT_CONNECTED"


def cut_short() -> Unreachable:
    return Unreachable(
        "The connection broke off before the answer was complete. Check that the server is up.", code="CONNECTION_LOST"
    )


def garbled() -> Unreachable:
    return Unreachable("The server's answer cannot be read as HTTP/1.1. Check what answers there.", code="BAD_ANSWER")


@contextmanager
def translated() -> Iterator[None]:
    """Makes one of ours of every error of the system, of TLS and of the decoders."""
    try:
        yield
    except (OSError, zlib.error) as error:
        raise _ours(error) from None


def _ours(error: OSError | zlib.error) -> Unreachable:
    match error:
        case TimeoutError():
            return Unreachable("The server did not answer in time. Check that it is up and quick.", code="TIMEOUT")
        # What OpenSSL 3 says of a cut connection is an SSLEOFError from Python 3.11.4 on.
        case ssl.SSLEOFError() | ssl.SSLError(reason="UNEXPECTED_EOF_WHILE_READING"):
            return cut_short()
        case ConnectionResetError() | BrokenPipeError():
            return cut_short()
        case ssl.SSLCertVerificationError():
            return Unreachable(
                "The server's certificate is not valid. Check its name, its dates and who signed it.",
                code="CERTIFICATE_INVALID",
            )
        case ssl.SSLError():
            return Unreachable("TLS failed. Check that the server speaks TLS 1.2 or later.", code="TLS_FAILED")
        case zlib.error():
            return garbled()
        case _:
            return Unreachable("The server cannot be reached. Check that it is up.")
