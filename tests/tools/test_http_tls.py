"""TLS of the guarded client: for the name of the URL, whatever address was dialled."""

import socket
import ssl
import threading
from pathlib import Path
from typing import Any

import pytest

from tests.servers.hostile import (
    NOT_MEANT_TO_HANG,
    Authority,
    Caller,
    Reply,
    answer,
    first_caller_gets,
    hostile_server,
    raw,
    redirect,
)
from tickwork.errors import BadSetting
from tickwork.tools.outbound.errors import translated
from tickwork.tools.outbound.http import LOOPBACK, Blocked, Limits, Policy, Unreachable, request

HOST = "hooks.example"


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    return Authority(tmp_path)


def here(host: str, port: int, **options: Any) -> list[tuple[Any, ...]]:
    return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", port))]


def trusting(authority: Authority) -> Policy:
    return Policy(private=LOOPBACK, authorities=str(authority.file))


def fetched(authority: Authority, context: ssl.SSLContext, reply: Reply, host: str = HOST) -> bytes:
    with hostile_server(reply, tls=context) as server:
        url = server.url(host=host, scheme="https")
        return request("GET", url, policy=trusting(authority), resolve=here).body


def test_a_certificate_for_the_name_is_good_at_any_address(authority: Authority) -> None:
    names: list[str | None] = []
    context = authority.context(HOST)
    context.sni_callback = lambda _, name, __: names.append(name)

    assert fetched(authority, context, answer(b"well met")) == b"well met"
    assert names == [HOST]


def test_the_environment_cannot_have_the_keys_of_a_connection_written_down(
    authority: Authority, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSLKEYLOGFILE", str(tmp_path / "keys"))

    assert fetched(authority, authority.context(HOST), answer(b"well met")) == b"well met"
    assert not (tmp_path / "keys").exists()


def test_a_name_in_unicode_is_reached_under_its_name_in_ascii(authority: Authority) -> None:
    names: list[str | None] = []
    context = authority.context("xn--bcher-kva.example")
    context.sni_callback = lambda _, name, __: names.append(name)

    assert fetched(authority, context, answer(b"well met"), host="Bücher.example") == b"well met"
    assert names == ["xn--bcher-kva.example"]


def test_a_certificate_for_an_address_is_good_for_a_url_with_that_address(authority: Authority) -> None:
    assert fetched(authority, authority.context("127.0.0.1"), answer(b"well met"), host="127.0.0.1") == b"well met"


@pytest.mark.parametrize(("host", "days"), [("other.example", 30), ("127.0.0.1", 30), (HOST, -1)])
def test_a_certificate_for_another_name_or_another_time_is_refused(host: str, days: int, authority: Authority) -> None:
    with pytest.raises(Unreachable) as refused:
        fetched(authority, authority.context(host, days=days), answer(b"not for you"))

    assert refused.value.code == "CERTIFICATE_INVALID"


def test_a_certificate_of_an_unknown_authority_is_refused_before_anything_is_sent(authority: Authority) -> None:
    with hostile_server(answer(b"not for you"), tls=authority.context(HOST)) as server:
        with pytest.raises(Unreachable) as refused:
            request(
                "GET",
                server.url(host=HOST, scheme="https"),
                policy=Policy(private=LOOPBACK),
                headers={"Authorization": "Bearer secret"},
                resolve=here,
            )

        assert refused.value.code == "CERTIFICATE_INVALID"
        assert server.requests == []


@pytest.mark.filterwarnings("ignore:ssl.TLSVersion.TLSv1_1 is deprecated")
def test_old_tls_is_refused(authority: Authority) -> None:
    context = authority.context(HOST)
    context.minimum_version = context.maximum_version = ssl.TLSVersion.TLSv1_1
    context.set_ciphers("DEFAULT:@SECLEVEL=0")

    with pytest.raises(Unreachable) as refused:
        fetched(authority, context, answer(b"not for you"))

    assert refused.value.code == "TLS_FAILED"


def test_a_server_that_speaks_no_tls_is_refused(authority: Authority) -> None:
    def greet(connection: socket.socket) -> None:
        connection.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        connection.recv(1000)

    with first_caller_gets(greet) as port, pytest.raises(Unreachable) as refused:
        request("GET", f"https://{HOST}:{port}/", policy=trusting(authority), resolve=here)

    assert refused.value.code == "TLS_FAILED"


def test_a_handshake_that_never_ends_is_left_in_time(authority: Authority) -> None:
    has_left = threading.Event()

    with first_caller_gets(lambda _: has_left.wait(NOT_MEANT_TO_HANG)) as port:
        url = f"https://{HOST}:{port}/"
        with pytest.raises(Unreachable) as refused:
            request("GET", url, policy=trusting(authority), limits=Limits(connect_seconds=0.2), resolve=here)
        has_left.set()

    assert refused.value.code == "TIMEOUT"


def test_an_answer_that_ends_with_the_connection_is_complete_only_if_the_server_says_so(authority: Authority) -> None:
    def with_goodbye(caller: Caller) -> None:
        caller.send(b"HTTP/1.1 200 OK\r\n\r\nall of it")
        assert isinstance(caller.connection, ssl.SSLSocket)
        caller.connection.unwrap()

    context = authority.context(HOST)

    assert fetched(authority, context, with_goodbye) == b"all of it"
    with pytest.raises(Unreachable) as refused:
        fetched(authority, context, raw(b"HTTP/1.1 200 OK\r\n\r\nhalf of i"))
    assert refused.value.code == "CONNECTION_LOST"


@pytest.mark.skipif(not hasattr(ssl, "OP_IGNORE_UNEXPECTED_EOF"), reason="this OpenSSL cannot ignore it")
def test_a_cut_connection_is_noticed_where_python_would_ignore_it(
    authority: Authority, monkeypatch: pytest.MonkeyPatch
) -> None:
    def as_before_3_11_4() -> ssl.SSLContext:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.options |= ssl.OP_IGNORE_UNEXPECTED_EOF
        return context

    monkeypatch.setattr(ssl, "create_default_context", as_before_3_11_4)

    with pytest.raises(Unreachable) as refused:
        fetched(authority, authority.context(HOST), raw(b"HTTP/1.1 200 OK\r\n\r\nhalf of i"))

    assert refused.value.code == "CONNECTION_LOST"


def test_a_cut_connection_is_told_from_other_trouble_before_python_3_11_4_too() -> None:
    cut = ssl.SSLError(ssl.SSL_ERROR_SSL, "[SSL: UNEXPECTED_EOF_WHILE_READING] unexpected eof while reading")
    cut.reason = "UNEXPECTED_EOF_WHILE_READING"

    with pytest.raises(Unreachable) as refused, translated():
        raise cut

    assert refused.value.code == "CONNECTION_LOST"


def test_no_redirect_leads_from_https_to_http(authority: Authority) -> None:
    with (
        hostile_server(answer(b"in the clear")) as open_to_all,
        hostile_server(redirect(open_to_all.url()), tls=authority.context(HOST)) as server,
    ):
        policy = Policy(allow_http=True, private=LOOPBACK, authorities=str(authority.file))
        url = server.url(host=HOST, scheme="https")

        with pytest.raises(Blocked):
            request("GET", url, policy=policy, limits=Limits(redirects=3), resolve=here)

        assert open_to_all.accepted == 0


def test_a_file_of_authorities_that_cannot_be_read_is_the_operators_to_mend(tmp_path: Path) -> None:
    policy = Policy(private=LOOPBACK, authorities=str(tmp_path / "missing.pem"))

    with hostile_server(answer()) as server, pytest.raises(BadSetting):
        request("GET", server.url(scheme="https"), policy=policy)
