"""A server on loopback that answers with whatever bytes a test wants, and certificates good and bad."""

import socket
import ssl
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path
from typing import cast

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

NOT_MEANT_TO_HANG = 60


@dataclass(frozen=True)
class Seen:
    """One request as it came; header names in lower case."""

    method: str
    target: str
    headers: Mapping[str, str]
    body: bytes


@dataclass
class Caller:
    """The other end of one connection, for an answer to write to."""

    connection: socket.socket
    seen: Seen
    closing: threading.Event

    def send(self, data: bytes) -> None:
        self.connection.sendall(data)

    def dribble(self, data: bytes, pause: float = 0.01) -> None:
        """One byte after the other, until all are sent or the client has gone."""
        for byte in data:
            if self.closing.wait(pause):
                return
            self.send(bytes([byte]))

    def stay_silent(self) -> None:
        """Until the client has gone."""
        self.connection.recv(1)


Reply = Callable[[Caller], None]


@dataclass
class HostileServer:
    port: int
    host: str
    reply: Reply
    accepted: int = 0
    requests: list[Seen] = field(default_factory=list)

    def url(self, path: str = "/", host: str | None = None, scheme: str = "http") -> str:
        return f"{scheme}://{host or self.host}:{self.port}{path}"


def answer(body: bytes = b"", *headers: str, status: str = "200 OK") -> Reply:
    """A proper answer, its length told."""
    lines = [f"HTTP/1.1 {status}", *headers, f"Content-Length: {len(body)}", "", ""]
    return lambda caller: caller.send("\r\n".join(lines).encode("latin-1") + body)


def raw(data: bytes) -> Reply:
    return lambda caller: caller.send(data)


def redirect(location: str, status: int = 302) -> Reply:
    return answer(b"elsewhere", f"Location: {location}", status=f"{status} Elsewhere")


def in_turn(*replies: Reply) -> Reply:
    left = iter(replies)
    return lambda caller: next(left)(caller)


@contextmanager
def hostile_server(
    reply: Reply, *, host: str = "127.0.0.1", tls: ssl.SSLContext | None = None
) -> Iterator[HostileServer]:
    listener = socket.create_server((host, 0), family=socket.AF_INET6 if ":" in host else socket.AF_INET, backlog=64)
    shown = f"[{host}]" if ":" in host else host
    server = HostileServer(listener.getsockname()[1], shown, reply)
    closing = threading.Event()
    threads: list[threading.Thread] = []

    def accept() -> None:
        while True:
            connection, _ = listener.accept()
            if closing.is_set():
                connection.close()
                return
            server.accepted += 1
            threads.append(threading.Thread(target=_serve, args=(server, connection, closing, tls), daemon=True))
            threads[-1].start()

    accepting = threading.Thread(target=accept, daemon=True)
    accepting.start()
    try:
        yield server
    finally:
        closing.set()
        # A connection of our own wakes the thread that waits for one.
        socket.create_connection((host, server.port)).close()
        for thread in [accepting, *threads]:
            thread.join()
        listener.close()


def _serve(
    server: HostileServer, connection: socket.socket, closing: threading.Event, tls: ssl.SSLContext | None
) -> None:
    connection.settimeout(NOT_MEANT_TO_HANG)
    # A client that leaves early is what many tests are about.
    with connection, suppress(OSError):
        encrypted = tls.wrap_socket(connection, server_side=True) if tls else connection
        with encrypted:
            seen = _read(encrypted)
            server.requests.append(seen)
            server.reply(Caller(encrypted, seen, closing))


def _read(connection: socket.socket) -> Seen:
    with connection.makefile("rb") as incoming:
        first = incoming.readline().decode("latin-1")
        if not first:
            raise ConnectionError("the client left without a word")
        method, target, _ = first.split(" ")
        headers: dict[str, str] = {}
        while line := incoming.readline().decode("latin-1").strip():
            name, _, value = line.partition(":")
            headers[name.lower()] = value.strip()
        return Seen(method, target, headers, incoming.read(int(headers.get("content-length", 0))))


@contextmanager
def first_caller_gets(serve: Callable[[socket.socket], object]) -> Iterator[int]:
    """The port of a server that reads nothing, unless `serve` does."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def accept() -> None:
            connection, _ = listener.accept()
            with connection:
                connection.settimeout(NOT_MEANT_TO_HANG)
                serve(connection)

        accepting = threading.Thread(target=accept)
        accepting.start()
        yield listener.getsockname()[1]
        accepting.join()


@dataclass
class Dialled:
    """Every address that this process tried to connect to; outside of loopback, none gets through."""

    addresses: list[tuple[str, int]] = field(default_factory=list)
    is_watching: bool = False

    def __call__(self, event: str, arguments: tuple[object, ...]) -> None:
        if event != "socket.connect" or not self.is_watching:
            return
        host, port, *_ = cast(tuple[str, int], arguments[1])
        self.addresses.append((host, port))
        if not ip_address(host).is_loopback:
            raise ConnectionRefusedError


DIALLED = Dialled()
# Python has no way to remove one.
sys.addaudithook(DIALLED)


@contextmanager
def watched_dialling() -> Iterator[list[tuple[str, int]]]:
    DIALLED.addresses, DIALLED.is_watching = [], True
    try:
        yield DIALLED.addresses
    finally:
        DIALLED.is_watching = False


# Of the nine uses of a key, in the order of RFC 5280: the sixth is to sign certificates, the seventh to revoke them.
SIGNS = x509.KeyUsage(*(number in (6, 7) for number in range(1, 10)))


class Authority:
    """A certificate authority of our own, whose certificate is in `file`."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "authority of the tests")])
        self.file = folder / "authority.pem"
        certificate = self._signed(self._name, self._key.public_key(), 30, x509.BasicConstraints(True, None), SIGNS)
        self.file.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))

    def context(self, host: str, *, days: int = 30) -> ssl.SSLContext:
        """What a server needs to be this host, for so many days; of a negative number, the last was so long ago."""
        key = ec.generate_private_key(ec.SECP256R1())
        subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, host)])
        certificate = self._signed(subject, key.public_key(), days, x509.SubjectAlternativeName([_general_name(host)]))
        file = self._folder / "server.pem"
        private = key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
        file.write_bytes(private + certificate.public_bytes(serialization.Encoding.PEM))
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(file)
        return context

    def _signed(
        self, subject: x509.Name, key: ec.EllipticCurvePublicKey, days: int, *extensions: x509.ExtensionType
    ) -> x509.Certificate:
        now = datetime.now(UTC)
        builder = (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(self._name)
            .public_key(key)
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - timedelta(days=60))
            .not_valid_after(now + timedelta(days=days))
            # Later versions of Python insist on these.
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(key), critical=False)
            .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(self._key.public_key()), critical=False)
        )
        for extension in extensions:
            builder = builder.add_extension(extension, critical=not isinstance(extension, x509.SubjectAlternativeName))
        return builder.sign(self._key, hashes.SHA256())


def _general_name(host: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ip_address(host))
    except ValueError:
        return x509.DNSName(host)
