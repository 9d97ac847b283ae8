"""
The guarded client: the way of every request that leaves the product.

A URL is read once, by a strict grammar. Its host is looked up once, every address is held against the operator's
policy, and the connection goes to an address that was checked. TLS is verified for the name. Proxies of the
environment are not used, redirects are not followed unless asked for, and each hop is checked like the first. Bytes
and time have an end.

    Blocked       the address is not allowed, or not there: fail now
    TooLarge      so is the answer: fail now
    Unreachable   the server or the way to it failed: try again; `code` says what it was
"""

import socket
import ssl
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from io import BufferedReader
from types import MappingProxyType
from typing import TypedDict, Unpack

from tickwork.errors import Permanent
from tickwork.tools.outbound.connection import Resolve, TimeLimit, connected
from tickwork.tools.outbound.errors import Blocked, TooLarge, Unreachable, translated
from tickwork.tools.outbound.outgoing import Outgoing, outgoing
from tickwork.tools.outbound.policy import LOOPBACK, Policy
from tickwork.tools.outbound.response import read_body, read_head

__all__ = [
    "LOOPBACK",
    "Blocked",
    "Limits",
    "Policy",
    "Response",
    "StreamedResponse",
    "TooLarge",
    "Unreachable",
    "request",
    "stream",
]

NONE: Mapping[str, str] = MappingProxyType({})
REDIRECTS = frozenset({301, 302, 303, 307, 308})


@dataclass(frozen=True)
class Limits:
    """`seconds` is for all of it, from the name to the last byte of the body, over all redirects; `connect_seconds` for
    name, connection and TLS of one hop. `max_body_bytes` holds for the bytes as sent and as decoded."""

    connect_seconds: float = 5
    seconds: float = 30
    max_body_bytes: int = 1_000_000
    redirects: int = 0


USUAL_LIMITS = Limits()


@dataclass(frozen=True)
class Response:
    """Header names are in lower case; `url` is where the last redirect led."""

    status: int
    headers: Mapping[str, str] = field(repr=False)
    body: bytes = field(repr=False)
    url: str = field(repr=False)
    seconds: float


@dataclass(frozen=True)
class StreamedResponse:
    """A response whose body is still to come: `body` can be read once, and left at any time."""

    status: int
    headers: Mapping[str, str] = field(repr=False)
    body: Iterator[bytes] = field(repr=False)
    url: str = field(repr=False)


class Options(TypedDict, total=False):
    """What `stream` takes beside the address."""

    headers: Mapping[str, str]
    body: bytes | None
    secrets: Mapping[str, str]
    limits: Limits
    resolve: Resolve


def request(method: str, url: str, *, policy: Policy, **options: Unpack[Options]) -> Response:
    """The whole answer, whatever its status."""
    began = time.monotonic()
    with stream(method, url, policy=policy, **options) as answer:
        whole = b"".join(answer.body)
    return Response(answer.status, answer.headers, whole, answer.url, time.monotonic() - began)


@contextmanager
def stream(
    method: str,
    url: str,
    *,
    policy: Policy,
    headers: Mapping[str, str] = NONE,
    body: bytes | None = None,
    secrets: Mapping[str, str] = NONE,
    limits: Limits = USUAL_LIMITS,
    resolve: Resolve = socket.getaddrinfo,
) -> Iterator[StreamedResponse]:
    """The answer as it comes. What the caller does between two blocks counts towards the time limit.

    `secrets` are those of headers and body, by name: no redirect takes them to another host.
    """
    time_limit = TimeLimit(limits.seconds)
    sent = outgoing(method, url, headers, body, secrets)
    for _ in range(limits.redirects + 1):
        with _exchange(sent, policy, limits, time_limit, resolve) as answer:
            if not limits.redirects or answer.status not in REDIRECTS or "location" not in answer.headers:
                yield answer
                return
            sent = sent.redirected(answer.status, answer.headers["location"])
    raise Permanent("The address redirects too often. Give the one it leads to.", code="TOO_MANY_REDIRECTS")


@contextmanager
def _exchange(
    sent: Outgoing, policy: Policy, limits: Limits, time_limit: TimeLimit, resolve: Resolve
) -> Iterator[StreamedResponse]:
    with ExitStack() as open_until_read:
        # Only our side of it: what the caller raises while it reads is the caller's.
        with translated():
            wire = open_until_read.enter_context(
                connected(sent.url, policy, time_limit, limits.connect_seconds, resolve)
            )
            # A server may answer and hang up before it has read everything.
            with suppress(BrokenPipeError, ConnectionResetError, ssl.SSLEOFError):
                wire.send(bytes(sent))
            incoming: BufferedReader = BufferedReader(wire)
            status, headers = read_head(incoming)
        body = read_body(incoming, sent.method, status, headers, limits.max_body_bytes, time_limit)
        yield StreamedResponse(status, headers, _translated(body), str(sent.url))


def _translated(body: Iterator[bytes]) -> Iterator[bytes]:
    with translated():
        yield from body
