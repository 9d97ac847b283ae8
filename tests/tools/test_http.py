"""The guarded client: what it sends, what it takes, and where it stops."""

import socket
import threading
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from tests.servers.hostile import Caller, HostileServer, answer, first_caller_gets, hostile_server, in_turn, redirect
from tests.world.waiting import PATIENCE
from tickwork.errors import InvalidPayload, Permanent
from tickwork.tools.outbound.http import LOOPBACK, USUAL_LIMITS, Limits, Policy, Response, Unreachable, request, stream

POLICY = Policy(allow_http=True, private=LOOPBACK)
OK = b"HTTP/1.1 200 OK\r\n"
NOT_SETTABLE = """
    Host hOST Content-Length Transfer-Encoding Connection Keep-Alive TE Trailer Upgrade Expect HTTP2-Settings
    Proxy-Authorization Proxy-Connection
"""
SECRETS = {"Authorization": "Bearer secret", "Cookie": "id=secret", "X-Api-Key": "secret"}


@pytest.fixture
def server() -> Iterator[HostileServer]:
    with hostile_server(answer(b"hello")) as server:
        yield server


def get(server: HostileServer, limits: Limits = USUAL_LIMITS, **options: Any) -> Response:
    return request(options.pop("method", "GET"), server.url("/x"), policy=POLICY, limits=limits, **options)


def test_an_answer_comes_with_status_headers_body_and_time(server: HostileServer) -> None:
    server.reply = answer(b"gone", "X-Twice: a", "x-twice: b", "X-Odd: a\x00\x1b\xc3\x84", status="410 Gone")

    response = get(server)

    assert (response.status, response.body, response.url) == (410, b"gone", server.url("/x"))
    assert response.headers["x-twice"] == "a, b"
    assert response.headers["x-odd"] == "a  Ä"
    assert response.seconds > 0
    assert "gone" not in repr(response)


def test_a_request_is_sent_as_given(server: HostileServer) -> None:
    request("POST", server.url("/a?b=c#d"), policy=POLICY, headers={"X-Sign": "é", "Accept": "a/b"}, body=b"\x00\r\n")

    (seen,) = server.requests
    assert (seen.method, seen.target, seen.body) == ("POST", "/a?b=c", b"\x00\r\n")
    assert seen.headers == {
        "host": f"127.0.0.1:{server.port}",
        "connection": "close",
        "accept-encoding": "gzip",
        "user-agent": "tickwork",
        "x-sign": "é",
        "accept": "a/b",
        "content-length": "3",
    }


@pytest.mark.parametrize(
    "headers",
    [
        {"X-A": "b\r\nX-C: d"},
        {"X-A": "b\nc"},
        {"X-A": "b\x00"},
        {"X-A": "€"},
        {"X-A\r\nX-B": "c"},
        {"X-A:": "b"},
        {"X A": "b"},
        {"": "b"},
        {"Ä": "b"},
        {"X-A": "b", "x-a": "c"},
        {f"X-{number}": "" for number in range(101)},
        {"X-A": "b" * 40_000},
        *({name: "x"} for name in NOT_SETTABLE.split()),
    ],
)
def test_headers_that_could_change_the_request_are_refused(server: HostileServer, headers: Mapping[str, str]) -> None:
    with pytest.raises(InvalidPayload) as refused:
        get(server, headers=headers)

    assert server.accepted == 0
    assert "X-" not in str(refused.value)


@pytest.mark.parametrize("method", ["CONNECT", "TRACE", "get", "", "GET /other HTTP/1.1\r\nX:", "G\tT"])
def test_other_methods_are_refused(server: HostileServer, method: str) -> None:
    with pytest.raises(InvalidPayload):
        get(server, method=method)

    assert server.accepted == 0


def test_a_port_where_nobody_listens_is_unreachable() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        url = f"http://127.0.0.1:{taken.getsockname()[1]}/secret?token=secret"

    with pytest.raises(Unreachable) as refused:
        request("GET", url, policy=POLICY, headers=SECRETS)

    assert refused.value.code == "NOT_CONNECTED"
    assert "secret" not in str(refused.value)
    assert "127.0.0.1" not in str(refused.value)


def test_an_answer_that_comes_before_the_body_was_read_is_taken() -> None:
    def refuse(connection: socket.socket) -> None:
        connection.sendall(b"HTTP/1.1 413 Too Large\r\nContent-Length: 2\r\n\r\nno")
        connection.shutdown(socket.SHUT_RDWR)

    with first_caller_gets(refuse) as port:
        response = request("POST", f"http://127.0.0.1:{port}/", policy=POLICY, body=bytes(20_000_000))

    assert (response.status, response.body) == (413, b"no")


@pytest.mark.parametrize(
    ("status", "method", "onward"),
    [
        *((status, "GET", "GET") for status in (301, 302, 303, 307, 308)),
        *((status, "HEAD", "HEAD") for status in (301, 302, 303, 307, 308)),
        *((status, "POST", "GET") for status in (301, 302, 303)),
        *((status, "POST", "POST") for status in (307, 308)),
        *((status, "PUT", "PUT") for status in (301, 302, 307, 308)),
        (303, "PUT", "GET"),
    ],
)
def test_a_redirect_keeps_or_changes_the_method(server: HostileServer, status: int, method: str, onward: str) -> None:
    server.reply = in_turn(redirect("/y", status), answer())
    body = b"{}" if method in ("POST", "PUT") else None
    typed = {"Content-Type": "a/b"} if body else {}

    get(server, Limits(redirects=1), method=method, body=body, headers={**typed, **SECRETS})

    first, second = server.requests
    assert (second.method, second.target) == (onward, "/y")
    if method == onward:
        assert (second.body, second.headers) == (first.body, first.headers)
    assert ("content-type" in second.headers) == (onward in ("POST", "PUT"))
    assert ("content-length" in second.headers) == (onward in ("POST", "PUT"))
    assert second.headers["authorization"] == "Bearer secret"


@pytest.mark.parametrize("status", [301, 307])
def test_no_secret_goes_along_to_another_origin_nor_back(server: HostileServer, status: int) -> None:
    with hostile_server(redirect(server.url("/back"), status)) as other:
        server.reply = in_turn(redirect(other.url("/"), status), answer(b"back"))

        response = get(server, Limits(redirects=2), headers={**SECRETS, "Accept": "a/b", "Range": "bytes=5-"})

        assert response.body == b"back"
        for seen in (other.requests[0], server.requests[1]):
            assert "secret" not in str(seen)
            assert (seen.headers["accept"], seen.headers["range"]) == ("a/b", "bytes=5-")


def test_a_redirect_is_an_answer_unless_following_is_asked_for(server: HostileServer) -> None:
    server.reply = redirect("/y")

    assert get(server).status == 302
    assert len(server.requests) == 1


def test_a_redirect_without_location_is_an_answer(server: HostileServer) -> None:
    server.reply = answer(b"where?", status="302 Found")

    assert get(server, Limits(redirects=3)).body == b"where?"


def test_a_loop_of_redirects_ends(server: HostileServer) -> None:
    server.reply = redirect("/x")

    with pytest.raises(Permanent) as refused:
        get(server, Limits(redirects=3))

    assert refused.value.code == "TOO_MANY_REDIRECTS"
    assert len(server.requests) == 4


def test_a_body_can_be_left_and_the_connection_is_closed(server: HostileServer) -> None:
    has_gone = threading.Event()

    def reply(caller: Caller) -> None:
        caller.send(OK + b"Content-Length: 50000000\r\n\r\n" + b"x" * 1000)
        assert caller.connection.recv(1) == b""
        has_gone.set()

    server.reply = reply

    with stream("GET", server.url(), policy=POLICY, limits=Limits(max_body_bytes=60_000_000)) as response:
        assert next(response.body).startswith(b"xxx")
        assert not has_gone.is_set()

    assert has_gone.wait(PATIENCE)


def test_what_the_caller_raises_while_it_reads_stays_its_own(server: HostileServer) -> None:
    with pytest.raises(OSError, match="disk full"), stream("GET", server.url(), policy=POLICY):
        raise OSError("disk full")
