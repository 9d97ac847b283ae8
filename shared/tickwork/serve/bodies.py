"""The bodies of requests: read within limits where they matter, and not at all where they do not."""

import socket
from contextlib import suppress
from io import BytesIO
from threading import BoundedSemaphore, Timer
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from flask import Request

BODY_SECONDS = 5
# Anybody may send a body, since what proves it is in it. That many threads may wait for one; the others serve wake-ups.
MAX_READERS = 2
_readers = BoundedSemaphore(MAX_READERS)


class BodyRefused(Exception):
    """The status says why: too large (413), too slow (408), or too many at once (503)."""

    def __init__(self, status: int) -> None:
        super().__init__(status)
        self.status = status


def body_of(request: "Request", max_bytes: int) -> bytes:
    """Raises BodyRefused."""
    if (request.content_length or 0) > max_bytes:
        raise BodyRefused(413)
    if not _readers.acquire(blocking=False):
        raise BodyRefused(503)
    # The server's reads have no time limit of their own, and one for each would not be one for all of them.
    timer = Timer(BODY_SECONDS, stop_reading, [_connection_of(request)])
    timer.daemon = True
    timer.start()
    try:
        body = request.stream.read(max_bytes + 1)
    except OSError:
        raise BodyRefused(408) from None
    finally:
        timer.cancel()
        _readers.release()
    if len(body) > max_bytes:
        raise BodyRefused(413)
    if len(body) < (request.content_length or 0):
        raise BodyRefused(408)
    return body


def leave_body(request: "Request", is_refused: bool) -> None:
    """Let the answer go out without what is left of the body; who is refused is not listened to any longer."""
    # functions-framework reads the rest into memory before it answers: leave it none.
    request.stream = BytesIO()
    if is_refused:
        stop_reading(_connection_of(request))


def stop_reading(connection: socket.socket | None) -> None:
    """From now on the server finds the end of what the caller sends, and closes the connection after the answer."""
    if connection:
        with suppress(OSError):
            connection.shutdown(socket.SHUT_RD)


def _connection_of(request: "Request") -> socket.socket | None:
    found: socket.socket | None = request.environ.get("gunicorn.socket")
    return found
