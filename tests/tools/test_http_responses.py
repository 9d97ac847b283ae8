"""What the guarded client takes for an answer, and where it stops taking."""

import gzip
import socket
import threading
import zlib
from collections.abc import Iterator
from typing import Any

import pytest

from tests.servers.hostile import (
    NOT_MEANT_TO_HANG,
    Caller,
    HostileServer,
    Reply,
    answer,
    first_caller_gets,
    hostile_server,
    raw,
)
from tickwork.tools.outbound.http import (
    LOOPBACK,
    USUAL_LIMITS,
    Limits,
    Policy,
    Response,
    TooLarge,
    Unreachable,
    request,
    stream,
)

POLICY = Policy(allow_http=True, private=LOOPBACK)
OK = b"HTTP/1.1 200 OK\r\n"
SHORT = Limits(seconds=0.3)


@pytest.fixture
def server() -> Iterator[HostileServer]:
    with hostile_server(answer(b"hello")) as server:
        yield server


def get(server: HostileServer, limits: Limits = USUAL_LIMITS, method: str = "GET") -> Response:
    return request(method, server.url(), policy=POLICY, limits=limits)


@pytest.mark.parametrize(
    ("reply", "body"),
    [
        (raw(OK + b"Transfer-Encoding: chunked\r\n\r\n5;a=b\r\nhello\r\n1\n!\n00\r\nX-Trailer: y\r\n\r\n"), b"hello!"),
        (raw(OK + b"Content-Length: 2, 2\r\n\r\nhi and more"), b"hi"),
        (raw(b"HTTP/1.0 200\nX: y\n\nuntil the end"), b"until the end"),
        (raw(b"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n" + OK + b"\r\nend"), b"end"),
        (raw(b"HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\n"), b""),
        (raw(b"HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\nContent-Encoding: gzip\r\n\r\n"), b""),
        (answer(gzip.compress(b"small", mtime=0), "Content-Encoding: GZIP"), b"small"),
        (
            answer(gzip.compress(b"one ", mtime=0) + gzip.compress(b"two", mtime=0), "Content-Encoding: x-gzip"),
            b"one two",
        ),
        (answer(zlib.compress(b"small"), "Content-Encoding: deflate"), b"small"),
        (answer(zlib.compress(b"small")[2:-4], "Content-Encoding: deflate"), b"small"),
        (answer(zlib.compress(bytes(65_550))[2:-4], "Content-Encoding: deflate"), bytes(65_550)),
        (answer(b"", "Content-Encoding: gzip"), b""),
        (answer(b"plain", "Content-Encoding: identity"), b"plain"),
    ],
)
def test_each_way_to_frame_and_encode_a_body_is_understood(server: HostileServer, reply: Reply, body: bytes) -> None:
    server.reply = reply

    assert get(server).body == body


def test_a_head_request_has_no_body(server: HostileServer) -> None:
    server.reply = raw(OK + b"Content-Length: 50000000\r\n\r\n")

    assert get(server, method="HEAD").headers["content-length"] == "50000000"


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"", "CONNECTION_LOST"),
        (b"HTTP/1.1 200", "CONNECTION_LOST"),
        (OK + b"X: y\r\n", "CONNECTION_LOST"),
        (OK + b"Content-Length: 6\r\n\r\nhello", "CONNECTION_LOST"),
        (OK + b"Transfer-Encoding: chunked\r\n\r\n5\r\nhel", "CONNECTION_LOST"),
        (OK + b"Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n", "CONNECTION_LOST"),
        (OK + b"Content-Encoding: gzip\r\n\r\n" + gzip.compress(b"hello", mtime=0)[:-9], "CONNECTION_LOST"),
        (b"<html>hello</html>\r\n\r\n", "BAD_ANSWER"),
        (b"HTTP/2 200 OK\r\n\r\n", "BAD_ANSWER"),
        (b"HTTP/1.1 020 OK\r\n\r\n", "BAD_ANSWER"),
        (b"HTTP/1.1 2000 OK\r\n\r\n", "BAD_ANSWER"),
        (b"HTTP/1.1 101 Switching Protocols\r\n\r\n" + OK + b"\r\n", "BAD_ANSWER"),
        (OK + b"no header\r\n\r\n", "BAD_ANSWER"),
        (OK + b"X : y\r\n\r\n", "BAD_ANSWER"),
        (OK + b"Content-Length: 5, 6\r\n\r\nhello!", "BAD_ANSWER"),
        (OK + b"Content-Length: -5\r\n\r\nhello", "BAD_ANSWER"),
        (OK + b"Content-Length: \r\n\r\nhello", "BAD_ANSWER"),
        (OK + b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "BAD_ANSWER"),
        (OK + b"Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", "BAD_ANSWER"),
        (OK + b"Transfer-Encoding: chunked\r\n\r\n-5\r\nhello\r\n0\r\n\r\n", "BAD_ANSWER"),
        (OK + b"Transfer-Encoding: chunked\r\n\r\n0x5\r\nhello\r\n0\r\n\r\n", "BAD_ANSWER"),
        (OK + b"Transfer-Encoding: chunked\r\n\r\n5\r\nhelloXX0\r\n\r\n", "BAD_ANSWER"),
        (OK + b"Transfer-Encoding: chunked\r\n\r\n5;" + b"x" * 2000 + b"\r\nhello\r\n0\r\n\r\n", "BAD_ANSWER"),
        (OK + b"Content-Encoding: br\r\n\r\nhello", "BAD_ANSWER"),
        (OK + b"Content-Encoding: gzip, gzip\r\n\r\nhello", "BAD_ANSWER"),
        (OK + b"Content-Encoding: gzip\r\n\r\nhello", "BAD_ANSWER"),
        (OK + b"Content-Encoding: gzip\r\n\r\n" + gzip.compress(b"hello", mtime=0) + b"rest", "BAD_ANSWER"),
    ],
)
def test_an_answer_that_is_cut_short_or_garbled_is_an_error(server: HostileServer, data: bytes, code: str) -> None:
    server.reply = raw(data)

    with pytest.raises(Unreachable) as refused:
        get(server)

    assert refused.value.code == code


def test_a_body_may_be_as_large_as_allowed_and_no_larger(server: HostileServer) -> None:
    chunked = OK + b"Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"
    for reply in (answer(b"hello"), raw(OK + b"\r\nhello"), raw(chunked)):
        server.reply = reply

        assert get(server, Limits(max_body_bytes=5)).body == b"hello"
        with pytest.raises(TooLarge):
            get(server, Limits(max_body_bytes=4))


def test_what_is_sent_is_capped_though_it_decodes_to_little(server: HostileServer) -> None:
    server.reply = raw(OK + b"Content-Encoding: gzip\r\n\r\n" + gzip.compress(b"") * 1000)

    with pytest.raises(TooLarge):
        get(server, Limits(max_body_bytes=10_000))


def test_what_comes_between_the_chunks_is_capped(server: HostileServer) -> None:
    comment = b";" + b"x" * 900
    server.reply = raw(
        OK + b"Transfer-Encoding: chunked\r\n\r\n" + (b"1" + comment + b"\r\nx\r\n") * 200 + b"0\r\n\r\n"
    )

    assert get(server).body == b"x" * 200
    with pytest.raises(TooLarge):
        get(server, Limits(max_body_bytes=10_000))


@pytest.mark.parametrize("coding", ["gzip", "deflate"])
def test_a_bomb_is_cut_before_it_fills_the_memory(server: HostileServer, coding: str) -> None:
    compressor = zlib.compressobj(9, zlib.DEFLATED, 31 if coding == "gzip" else 15)
    bomb = b"".join(compressor.compress(bytes(1 << 20)) for _ in range(20)) + compressor.flush()
    server.reply = answer(bomb, f"Content-Encoding: {coding}")
    taken: list[int] = []

    with (
        stream("GET", server.url(), policy=POLICY, limits=Limits(max_body_bytes=200_000)) as response,
        pytest.raises(TooLarge),
    ):
        taken.extend(map(len, response.body))

    assert max(taken) <= 1 << 16
    assert sum(taken) <= 200_000


def endless(block: bytes) -> Reply:
    def reply(caller: Caller) -> None:
        while not caller.closing.is_set():
            caller.send(block)

    return reply


@pytest.mark.parametrize(
    ("head", "block"),
    [
        (OK + b"\r\n", b"x" * 1000),
        (OK + b"Transfer-Encoding: chunked\r\n\r\n", b"64\r\n" + b"x" * 100 + b"\r\n"),
        (OK + b"Transfer-Encoding: chunked\r\n\r\n", b"1;" + b"x" * 900 + b"\r\nx\r\n"),
        (OK, b"X-Header: " + b"x" * 1000 + b"\r\n"),
        (OK, b"x" * 1000),
        (b"", b"x" * 1000),
        (b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
    ],
)
def test_what_has_no_end_is_cut(server: HostileServer, head: bytes, block: bytes) -> None:
    def reply(caller: Caller) -> None:
        caller.send(head)
        endless(block)(caller)

    server.reply = reply

    with pytest.raises(TooLarge):
        get(server, Limits(max_body_bytes=50_000))


@pytest.mark.parametrize(
    "data",
    [
        OK + b"X-Slow: " + b"x" * 1000 + b"\r\n\r\n",
        OK + b"Content-Length: 1000\r\n\r\n" + b"x" * 1000,
        OK + b"Transfer-Encoding: chunked\r\n\r\n" + b"1\r\nx\r\n" * 200 + b"0\r\n\r\n",
        b"HTTP/1.1 100 Continue\r\n\r\n" * 40 + OK + b"\r\n",
    ],
)
def test_what_comes_byte_by_byte_is_left_at_the_deadline(server: HostileServer, data: bytes) -> None:
    server.reply = lambda caller: caller.dribble(data)

    with pytest.raises(Unreachable) as refused:
        get(server, SHORT)

    assert refused.value.code == "TIMEOUT"


def test_the_deadline_is_one_for_all_redirects(server: HostileServer) -> None:
    def reply(caller: Caller) -> None:
        caller.dribble(OK[:8], pause=0.02)
        caller.send(b" 302 Elsewhere\r\nLocation: /x\r\nContent-Length: 0\r\n\r\n")

    server.reply = reply

    with pytest.raises(Unreachable) as refused:
        get(server, Limits(seconds=0.5, redirects=50))

    assert refused.value.code == "TIMEOUT"


def test_a_server_that_does_not_read_is_left_at_the_deadline() -> None:
    has_left, lost_patience = threading.Event(), threading.Event()

    def be_deaf(_: socket.socket) -> None:
        if not has_left.wait(NOT_MEANT_TO_HANG):
            lost_patience.set()

    with first_caller_gets(be_deaf) as port:
        with pytest.raises(Unreachable) as refused:
            request("POST", f"http://127.0.0.1:{port}/", policy=POLICY, body=bytes(20_000_000), limits=SHORT)
        has_left.set()

    assert refused.value.code == "TIMEOUT"
    assert not lost_patience.is_set()


def test_a_name_server_that_does_not_answer_is_left_at_the_deadline() -> None:
    done, has_answered = threading.Event(), threading.Event()

    def silent(*_: Any, **__: Any) -> list[tuple[Any, ...]]:
        done.wait(NOT_MEANT_TO_HANG)
        has_answered.set()
        return []

    with pytest.raises(Unreachable) as refused:
        request("GET", "https://public.example/", policy=POLICY, limits=SHORT, resolve=silent)

    assert refused.value.code == "TIMEOUT"
    assert not has_answered.is_set()
    done.set()


def test_a_body_that_is_said_to_be_too_large_is_not_waited_for(
    server: HostileServer,
) -> None:
    server.reply = raw(OK + b"Content-Length: 100\r\n\r\n")

    with stream("GET", server.url(), policy=POLICY, limits=Limits(max_body_bytes=10)) as response:
        assert response.status == 200
        with pytest.raises(TooLarge):
            next(response.body)
