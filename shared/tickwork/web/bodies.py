"""The bodies of requests: read within limits where they matter, and not at all where they do not."""

import socket
from collections.abc import Iterator
from contextlib import suppress
from io import BytesIO
from threading import BoundedSemaphore, Timer
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from flask import Request

BODY_SECONDS = 5
BLOCK = 1 << 18
# In the environment of a request: nothing is left of its body.
IS_READ = "tickwork.is_read"
# Anybody may send a body, since what proves it is in it. That many threads may wait for one; the others serve wake-ups.
_strangers = BoundedSemaphore(2)


class BodyRefused(Exception):
    """The status says why: too large (413), too slow (408), or too many at once (503)."""

    def __init__(self, status: int) -> None:
        super().__init__(status)
        self.status = status


def body_of(request: "Request", max_bytes: int, readers: BoundedSemaphore = _strangers) -> bytes:
    """Raises BodyRefused. As many threads read at once as `readers` allows."""
    if (request.content_length or 0) > max_bytes:
        raise BodyRefused(413)
    if not readers.acquire(blocking=False):
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
        readers.release()
    if len(body) > max_bytes:
        raise BodyRefused(413)
    if len(body) < (request.content_length or 0):
        raise BodyRefused(408)
    request.environ[IS_READ] = True
    return body


def blocks_of(request: "Request", max_bytes: int, seconds: float, readers: BoundedSemaphore) -> Iterator[bytes]:
    """The body piece by piece, of a caller who is known. Raises BodyRefused, also if it breaks off."""
    length = request.content_length
    if (length or 0) > max_bytes:
        raise BodyRefused(413)
    if not readers.acquire(blocking=False):
        raise BodyRefused(503)
    timer = Timer(seconds, stop_reading, [_connection_of(request)])
    timer.daemon = True
    timer.start()
    size = 0
    try:
        while block := request.stream.read(BLOCK):
            if (size := size + len(block)) > max_bytes:
                raise BodyRefused(413)
            yield block
    except OSError:
        raise BodyRefused(408) from None
    finally:
        timer.cancel()
        readers.release()
    if size < (length or 0):
        raise BodyRefused(408)
    request.environ[IS_READ] = True


def leave_body(request: "Request", is_refused: bool) -> None:
    """Let the answer go out without what is left of the body; if he is refused, the caller is not listened to any
    longer. One whose request was read to its end may send the next one: he is not told that the connection closes."""
    # functions-framework reads the rest into memory before it answers: leave it none.
    request.stream = BytesIO()
    is_whole = request.environ.get(IS_READ) or not (request.content_length or "Transfer-Encoding" in request.headers)
    if is_refused and not is_whole:
        stop_reading(_connection_of(request))


def stop_reading(connection: socket.socket | None) -> None:
    """From now on the server finds the end of what the caller sends, and closes the connection after the answer."""
    if connection:
        with suppress(OSError):
            connection.shutdown(socket.SHUT_RD)


def _connection_of(request: "Request") -> socket.socket | None:
    found: socket.socket | None = request.environ.get("gunicorn.socket")
    return found
