"""The one reading of a URL: what is odd is refused, so that nothing can be read in two ways."""

import re
import unicodedata
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address
from urllib.parse import urljoin

from tickwork.tools.outbound.errors import Blocked
from tickwork.tools.outbound.policy import Address

MAX_LENGTH = 8192
DEFAULT_PORTS = {"http": 80, "https": 443}

URL = re.compile(
    r"(?P<scheme>https?)://"
    r"(?P<host>\[[0-9a-f:.]+\]|[0-9a-z_.-]+)"
    r"(?::(?P<port>[1-9][0-9]{0,4}))?"
    r"(?P<target>[/?][!-\"$-\[\]-~]*)?"
    r"(?:#[!-\[\]-~]*)?",
    re.ASCII | re.IGNORECASE,
)
LABEL = re.compile(r"(?!-)[0-9a-z_-]{1,63}(?<!-)")
# Many readers take such a host for an IPv4 address, in decimal, octal or hex, with one to four parts.
NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*")


@dataclass(frozen=True)
class Url:
    """`address` is set when the host is one, and not a name."""

    scheme: str
    host: str
    port: int
    target: str
    address: Address | None = None

    @property
    def origin(self) -> tuple[str, str, int]:
        return self.scheme, self.host, self.port

    @property
    def authority(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == DEFAULT_PORTS[self.scheme] else f"{host}:{self.port}"

    def __str__(self) -> str:
        return f"{self.scheme}://{self.authority}{self.target}"


def parse(text: str) -> Url:
    """Raises Blocked for whatever is not plainly an absolute URL of a web server."""
    match = URL.fullmatch(_with_host_in_ascii(text)) if len(text) <= MAX_LENGTH else None
    if not match:
        raise Blocked()
    scheme = match["scheme"].lower()
    port = int(match["port"] or DEFAULT_PORTS[scheme])
    if port > 65535:
        raise Blocked()
    target = match["target"] or "/"
    host, address = _host(match["host"].lower())
    return Url(scheme, host, port, target if target.startswith("/") else f"/{target}", address)


def follow(url: Url, location: str) -> Url:
    """Where a redirect leads; from https never back to http."""
    # Joining drops tabs and line breaks, and what they hide would pass.
    if not re.fullmatch(r"[!-~]+", location):
        raise Blocked()
    try:
        onward = parse(urljoin(str(url), location))
    except ValueError:
        raise Blocked() from None
    if url.scheme == "https" and onward.scheme == "http":
        raise Blocked()
    return onward


def _with_host_in_ascii(text: str) -> str:
    scheme, separator, rest = text.partition("://")
    host = re.split(r"[/?#:@\\\[]", rest, maxsplit=1)[0]
    return text if host.isascii() else scheme + separator + host_in_ascii(host) + rest.removeprefix(host)


def host_in_ascii(host: str) -> str:
    """By IDNA 2008. Nothing is mapped but upper case: what only looks like a digit or a dot is refused."""
    import idna  # 10 ms that hardly any URL is worth

    try:
        labels = unicodedata.normalize("NFC", host.lower()).split(".")
        return ".".join(label if label.isascii() else idna.alabel(label).decode() for label in labels)
    except idna.IDNAError:
        raise Blocked() from None


def _host(text: str) -> tuple[str, Address | None]:
    try:
        if text.startswith("["):
            address: Address = IPv6Address(text[1:-1])
            return str(address), address
        labels = text.split(".")
        if NUMBER.fullmatch(labels[-1]):
            return text, IPv4Address(text)
    except ValueError:
        raise Blocked() from None
    if len(text) > 253 or not all(map(LABEL.fullmatch, labels)):
        raise Blocked()
    return text, None
