"""Callers without a credential hold no thread of a function, under the server that it is deployed with."""

import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from threading import Event, Thread

import pytest

from tests.serve.test_notifications import APP_SECRET, DROPBOX, SECRET, signed
from tests.serve.test_wake_up import Answer, Served, running_function, settings
from tests.serve.test_wake_up import function as function  # a fixture
from tests.serve.test_wake_up import source as source  # a fixture
from tests.test_functions import FUNCTIONS
from tests.world import World
from tests.world.waiting import PATIENCE

# As many as the function has threads.
COUNT = 8
UNFINISHED_BODIES = {
    "with a length": b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\nx",
    "in chunks": b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n10000\r\nx",
    "closing": b"POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 1000000\r\n\r\nx",
    "by GET": b"GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\nx",
    "elsewhere": b"PUT /somewhere/else HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\nx",
}
UNFINISHED_HEADS = {"none of it": b"", "half of it": b"POST / HTTP/1.1\r\nHost: x\r\nX-More: "}


@contextmanager
def strangers(function: Served, sent: bytes) -> Iterator[list[socket.socket]]:
    """Connections that send so much and stay."""
    with ExitStack() as opened:
        connections = [
            opened.enter_context(socket.create_connection(("127.0.0.1", function.port), timeout=PATIENCE))
            for _ in range(COUNT)
        ]
        for connection in connections:
            connection.sendall(sent)
        yield connections


@pytest.mark.parametrize("kind", UNFINISHED_BODIES)
def test_who_leaves_a_body_unfinished_is_answered_and_hung_up_on(function: Served, kind: str) -> None:
    with strangers(function, UNFINISHED_BODIES[kind]) as connections:
        answers = [connection.makefile("rb").read() for connection in connections]

        assert function.wake() == Answer(204, None)

    assert {answer.split()[1] for answer in answers} == {b"405" if kind in ("by GET", "elsewhere") else b"401"}


@pytest.mark.parametrize("kind", UNFINISHED_HEADS)
def test_who_leaves_a_head_unfinished_keeps_nobody_out(function: Served, kind: str) -> None:
    with strangers(function, UNFINISHED_HEADS[kind]):
        assert function.wake() == Answer(204, None)


def test_who_sends_a_head_byte_by_byte_keeps_nobody_out(function: Served) -> None:
    with strangers(function, UNFINISHED_HEADS["half of it"]) as connections, dripping(connections):
        assert function.wake() == Answer(204, None)


@contextmanager
def dripping(connections: list[socket.socket]) -> Iterator[None]:
    is_over = Event()

    def drip() -> None:
        while not is_over.wait(0.1):
            for connection in connections:
                with suppress(OSError):
                    connection.sendall(b"x")

    thread = Thread(target=drip)
    thread.start()
    try:
        yield
    finally:
        is_over.set()
        thread.join()


@pytest.fixture
def importing(tmp_path: Path, world: World) -> Iterator[Served]:
    given = settings(world, TICKWORK_DROPBOX_APP_SECRET=APP_SECRET, TICKWORK_NOTIFICATION_SECRET=SECRET)
    with running_function(FUNCTIONS / "import" / "main.py", tmp_path, **given) as function:
        yield function


@pytest.mark.parametrize("provider", ["dropbox", "onedrive", "gdrive", "nobody"])
@pytest.mark.parametrize("is_dripping", [False, True])
def test_who_leaves_a_notification_unfinished_keeps_no_wake_up_out(
    importing: Served, provider: str, is_dripping: bool
) -> None:
    head = f"POST /notifications/{provider} HTTP/1.1\r\nHost: x\r\nX-Dropbox-Signature: {'0' * 64}\r\n"
    unfinished = f"{head}Content-Length: 1000\r\n\r\nx".encode()

    with strangers(importing, unfinished) as connections:
        with dripping(connections if is_dripping else []):
            assert importing.wake() == Answer(204, None)
        answers = {connection.makefile("rb").read().split()[1] for connection in connections}
        genuine = importing.wake(signed(DROPBOX), DROPBOX, path="/notifications/dropbox")

    assert answers == {"dropbox": {b"408", b"503"}, "onedrive": {b"408", b"503"}}.get(
        provider, {b"403"} if provider == "gdrive" else {b"404"}
    )
    assert genuine.status == 200
