"""What is sent: checked, written out, and changed on its way through redirects."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from tickwork import traces
from tickwork.errors import InvalidPayload, Permanent
from tickwork.tools.outbound.urls import Url, follow, parse
from tickwork.tools.redaction import holds_one

METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
VALUE = re.compile(r"[\t -~\x80-\xff]*")
MAX_HEADERS = 100
MAX_HEADERS_LENGTH = 32_768

# These are about the connection, not about the request, and two readers could differ on what they mean.
RESERVED = frozenset(
    {"connection", "content-length", "expect", "host", "http2-settings", "keep-alive", "te", "trailer"}
    | {"transfer-encoding", "upgrade"}
)
# Any other header may be a credential, whatever its name; these may too, if a caller fills a secret in.
SAFE_ELSEWHERE = frozenset(
    {"accept", "accept-encoding", "accept-language", "content-type", "if-range", "range", "user-agent"}
)
DEFAULTS = {"Accept": "*/*", "Accept-Encoding": "gzip", "User-Agent": "tickwork"}


@dataclass(frozen=True)
class Outgoing:
    method: str
    url: Url = field(repr=False)
    headers: Mapping[str, str] = field(repr=False)
    body: bytes | None = field(repr=False)
    # By name, what must not leave the first host.
    secrets: Mapping[str, str] = field(repr=False)

    def __bytes__(self) -> bytes:
        given = {name.lower() for name in self.headers}
        headers = {"Host": self.url.authority, "Connection": "close"}
        headers |= {name: value for name, value in DEFAULTS.items() if name.lower() not in given}
        if (trace := traces.current()) and "traceparent" not in given:
            headers["traceparent"] = str(trace)
        headers |= self.headers
        if self.body is not None or self.method in ("POST", "PUT", "PATCH"):
            headers["Content-Length"] = str(len(self.body or b""))
        lines = [f"{self.method} {self.url.target} HTTP/1.1", *(f"{name}: {value}" for name, value in headers.items())]
        return "\r\n".join([*lines, "", ""]).encode("latin-1") + (self.body or b"")

    def redirected(self, status: int, location: str) -> "Outgoing":
        onward = replace(self, url=follow(self.url, location))
        if (status == 303 and self.method != "HEAD") or (status in (301, 302) and self.method == "POST"):
            onward = replace(onward, method="GET", body=None, headers=_without_content(self.headers))
        return onward if onward.url.origin == self.url.origin else onward._elsewhere()

    def _elsewhere(self) -> "Outgoing":
        """Without credentials. Where one cannot be left out, the redirect is not followed."""
        body = (self.body or b"").decode("utf-8", "replace")
        if holds_one(str(self.url), self.secrets) or holds_one(body, self.secrets):
            raise Permanent(
                "The address redirects to another host, and a secret would go there in the URL or the body. "
                "Give the address that it leads to.",
                code="SECRET_NOT_FOR_HOST",
            )
        kept = {
            name: value
            for name, value in self.headers.items()
            if name.lower() in SAFE_ELSEWHERE and not holds_one(value, self.secrets)
        }
        return replace(self, headers=kept)


def outgoing(
    method: str, url: str, headers: Mapping[str, str], body: bytes | None, secrets: Mapping[str, str]
) -> Outgoing:
    """Raises Blocked for the URL and InvalidPayload for the rest."""
    if method not in METHODS:
        raise InvalidPayload(f"The method must be one of {', '.join(sorted(METHODS))}.")
    if len({name.lower() for name in headers}) < len(headers):
        raise InvalidPayload("A header is given twice. Give each one once.")
    if (
        len(headers) > MAX_HEADERS
        or sum(len(name) + len(value) for name, value in headers.items()) > MAX_HEADERS_LENGTH
    ):
        raise InvalidPayload(f"Give at most {MAX_HEADERS} headers, and {MAX_HEADERS_LENGTH} characters in all of them.")
    if not all(NAME.fullmatch(name) and VALUE.fullmatch(value) for name, value in headers.items()):
        raise InvalidPayload("A header has characters that no header can carry, such as a line break. Remove them.")
    if any(name.lower() in RESERVED or name.lower().startswith("proxy-") for name in headers):
        raise InvalidPayload("Host, Content-Length and the headers of the connection are set for you. Leave them out.")
    return Outgoing(method, parse(url), dict(headers), body, secrets)


def _without_content(headers: Mapping[str, str]) -> Mapping[str, str]:
    return {name: value for name, value in headers.items() if not name.lower().startswith("content-")}
