"""A connection to the very address that was checked, with an end in time."""

import io
import socket
import ssl
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from ipaddress import ip_address
from queue import Empty, SimpleQueue
from threading import Thread
from typing import TYPE_CHECKING, Any

from tickwork.errors import BadSetting
from tickwork.tools.outbound.errors import Blocked, Unreachable
from tickwork.tools.outbound.policy import Address, Policy
from tickwork.tools.outbound.urls import Url

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

Resolve = Callable[..., Sequence[tuple[Any, ...]]]

BLOCK = 1 << 16
# A name may have any number of addresses; it gets no more connections of us than that.
MAX_DIALLED = 4
NO_SUCH_NAME = {getattr(socket, name, None) for name in ("EAI_NONAME", "EAI_NODATA", "EAI_ADDRFAMILY")}


class TimeLimit:
    def __init__(self, seconds: float) -> None:
        self._at = time.monotonic() + seconds

    def left(self) -> float:
        """The seconds that are left, always some; raises TimeoutError if there are none."""
        left = self._at - time.monotonic()
        if left <= 0:
            raise TimeoutError
        return left

    def within(self, seconds: float) -> "TimeLimit":
        return TimeLimit(min(seconds, self.left()))


class Wire(io.RawIOBase):
    """The bytes of one connection, none of which is waited for past the time limit."""

    def __init__(self, connected: socket.socket, time_limit: TimeLimit) -> None:
        self._socket = connected
        self._deadline = time_limit

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: "WriteableBuffer") -> int:
        self._socket.settimeout(self._deadline.left())
        return self._socket.recv_into(buffer)

    def send(self, data: bytes) -> None:
        rest = memoryview(data)
        while rest:
            self._socket.settimeout(self._deadline.left())
            rest = rest[self._socket.send(rest[:BLOCK]) :]


@contextmanager
def connected(
    url: Url, policy: Policy, time_limit: TimeLimit, connect_seconds: float, resolve: Resolve
) -> Iterator[Wire]:
    """Raises Blocked, before anything is sent to anyone, unless every address of the host is permitted."""
    soon = time_limit.within(connect_seconds)
    if url.scheme == "http" and not policy.allow_http:
        raise Blocked("Plain http is not allowed. TICKWORK_OUTBOUND_HTTP=true allows it")
    addresses = [url.address] if url.address else _look_up(url, soon, resolve)
    if not addresses or not all(policy.permits(address, url.port) for address in addresses):
        raise Blocked(_forbidden(url, policy, addresses))
    with _dial_one(addresses[:MAX_DIALLED], url.port, soon) as plain:
        if url.scheme == "http":
            yield Wire(plain, time_limit)
            return
        with _encrypted(plain, url, policy, soon) as encrypted:
            yield Wire(encrypted, time_limit)


def _forbidden(url: Url, policy: Policy, addresses: Sequence[Address]) -> str:
    closed = [str(address) for address in addresses if not policy.permits(address, url.port)]
    where = f"{', '.join(closed) or 'no address'}, port {url.port}"
    return f"{url.host} is at {where}, which may not be called. TICKWORK_OUTBOUND_ALLOW opens networks"


def _look_up(url: Url, time_limit: TimeLimit, resolve: Resolve) -> list[Address]:
    answers: SimpleQueue[list[Address] | Exception] = SimpleQueue()

    def ask() -> None:
        try:
            found = resolve(url.host, url.port, type=socket.SOCK_STREAM)
            # An address often comes several times.
            answers.put(list(dict.fromkeys(ip_address(sockaddr[0]) for *_, sockaddr in found)))
        except Exception as error:
            answers.put(error)

    # The system's resolver knows no time limit: it is abandoned, in a thread that holds nobody up.
    Thread(target=ask, name="tickwork-resolve", daemon=True).start()
    try:
        answer = answers.get(timeout=time_limit.left())
    except Empty:
        raise TimeoutError from None
    if isinstance(answer, Exception):
        raise _unresolved(url, answer)
    return answer


def _unresolved(url: Url, error: Exception) -> Exception:
    # Were a missing name told from a private one, a tenant could list the names of our network.
    if not isinstance(error, OSError) or (isinstance(error, socket.gaierror) and error.errno in NO_SUCH_NAME):
        return Blocked(f"The name {url.host} cannot be resolved: {error}")
    return Unreachable("The host's name cannot be looked up now. Check its name servers.", code="NAME_NOT_RESOLVED")


def _dial_one(addresses: Sequence[Address], port: int, time_limit: TimeLimit) -> socket.socket:
    for position, address in enumerate(addresses):
        # Each gets its share, so that a silent one leaves time for the next.
        share = time_limit.within(time_limit.left() / (len(addresses) - position))
        try:
            return _dial(address, port, share)
        except OSError:
            if position == len(addresses) - 1:
                raise
    raise AssertionError("there is an address to dial")


def _dial(address: Address, port: int, time_limit: TimeLimit) -> socket.socket:
    dialled = socket.socket(socket.AF_INET if address.version == 4 else socket.AF_INET6, socket.SOCK_STREAM)
    try:
        dialled.settimeout(time_limit.left())
        dialled.connect((str(address), port))
    except BaseException:
        dialled.close()
        raise
    return dialled


def _encrypted(plain: socket.socket, url: Url, policy: Policy, time_limit: TimeLimit) -> ssl.SSLSocket:
    context = _context(policy.authorities)
    plain.settimeout(time_limit.left())
    # The end of an answer may be the end of the connection: then it must be the server's word, not a cut cable.
    return context.wrap_socket(plain, server_hostname=url.host, suppress_ragged_eofs=False)


@lru_cache(maxsize=8)
def _context(authorities: str | None) -> ssl.SSLContext:
    # Not create_default_context: it would write the keys of connections into the file that SSLKEYLOGFILE names.
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.load_default_certs()
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    # Python before 3.11.4 sets it where OpenSSL has it, and a cut connection would look like the end of an answer.
    context.options &= ~getattr(ssl, "OP_IGNORE_UNEXPECTED_EOF", 0)
    context.set_alpn_protocols(["http/1.1"])
    try:
        if authorities:
            context.load_verify_locations(authorities)
    except OSError:
        raise BadSetting("The file of trusted certificates cannot be read. Give one in PEM format.") from None
    return context
