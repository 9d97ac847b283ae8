"""What comes back: the head, and the body by its framing, decoded and capped."""

import re
import zlib
from collections.abc import Iterator, Mapping
from io import BufferedReader

from tickwork.tools.outbound.connection import BLOCK, TimeLimit
from tickwork.tools.outbound.errors import TooLarge, cut_short, garbled

MAX_HEAD_BYTES = 65_536
MAX_CHUNK_LINE_LENGTH = 1024

STATUS = re.compile(rb"HTTP/1\.[01] ([1-9][0-9]{2})(?: .*)?")
HEADER = re.compile(rb"([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*(.*)", re.DOTALL)
CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
LENGTH = re.compile(r"([0-9]{1,18})(?:, *\1)*")
CHUNK = re.compile(rb"([0-9a-fA-F]{1,15})[ \t]*(?:;.*)?\r?\n", re.DOTALL)


def read_head(incoming: BufferedReader) -> tuple[int, Mapping[str, str]]:
    """The status and the headers, named in lower case; interim answers are passed over."""
    lines = _head_lines(incoming)
    status = _status(next(lines))
    headers = _headers(lines)
    while status < 200:
        # After 101 it would no longer be HTTP.
        if status == 101:
            raise garbled()
        status = _status(next(lines))
        headers = _headers(lines)
    return status, headers


def _head_lines(incoming: BufferedReader) -> Iterator[bytes]:
    left = MAX_HEAD_BYTES
    while True:
        line = incoming.readline(left + 1)
        left -= len(line)
        if left < 0:
            raise TooLarge(MAX_HEAD_BYTES)
        if not line.endswith(b"\n"):
            raise cut_short()
        yield line.rstrip(b"\r\n")


def _status(line: bytes) -> int:
    match = STATUS.fullmatch(line)
    if not match:
        raise garbled()
    return int(match[1])


def _headers(lines: Iterator[bytes]) -> dict[str, str]:
    headers: dict[str, str] = {}
    while line := next(lines):
        match = HEADER.fullmatch(line)
        if not match:
            raise garbled()
        name = match[1].decode("ascii").lower()
        # They are shown and stored: a control character has no business in them.
        value = CONTROL.sub(" ", _text(match[2])).strip()
        headers[name] = f"{headers[name]}, {value}" if name in headers else value
    return headers


def _text(value: bytes) -> str:
    # It should be ASCII. What is not, is a file's name in UTF-8 more often than anything else.
    try:
        return value.decode("utf-8")
    except UnicodeDecodeError:
        return value.decode("latin-1")


def read_body(
    incoming: BufferedReader, method: str, status: int, headers: Mapping[str, str], largest: int, time_limit: TimeLimit
) -> Iterator[bytes]:
    """The decoded body; both what is sent and what becomes of it are capped."""
    if method == "HEAD" or status in (204, 304):
        return
    raw = _capped(_framed(incoming, headers, largest), largest)
    match headers.get("content-encoding", "").lower():
        case "" | "identity":
            yield from raw
        case "gzip" | "x-gzip" | "deflate" as coding:
            yield from _capped(_decoded(raw, coding == "deflate", time_limit), largest)
        case _:
            raise garbled()


def _framed(incoming: BufferedReader, headers: Mapping[str, str], largest: int) -> Iterator[bytes]:
    length, coding = headers.get("content-length"), headers.get("transfer-encoding")
    if coding is not None:
        # With both, two readers could differ on where the body ends.
        if coding.lower() != "chunked" or length is not None:
            raise garbled()
        yield from _chunked(incoming, largest)
    elif length is not None:
        match = LENGTH.fullmatch(length)
        if not match:
            raise garbled()
        if int(match[1]) > largest:
            raise TooLarge(largest)
        yield from _exactly(incoming, int(match[1]))
    else:
        while block := incoming.read1(BLOCK):
            yield block


def _chunked(incoming: BufferedReader, largest: int) -> Iterator[bytes]:
    # Chunks of single bytes and long comments could make a long way of a short body.
    overhead = largest + MAX_HEAD_BYTES
    while size := _chunk_size(line := incoming.readline(MAX_CHUNK_LINE_LENGTH)):
        overhead -= len(line)
        if overhead < 0:
            raise TooLarge(largest)
        yield from _exactly(incoming, size)
        if incoming.readline(2) not in (b"\r\n", b"\n"):
            raise garbled()


def _chunk_size(line: bytes) -> int:
    if not line:
        raise cut_short()
    match = CHUNK.fullmatch(line)
    if not match:
        raise garbled()
    return int(match[1], 16)


def _exactly(incoming: BufferedReader, count: int) -> Iterator[bytes]:
    while count:
        block = incoming.read1(min(count, BLOCK))
        if not block:
            raise cut_short()
        count -= len(block)
        yield block


def _decoded(raw: Iterator[bytes], is_deflate: bool, time_limit: TimeLimit) -> Iterator[bytes]:
    decoder = None
    for block in raw:
        while block:
            decoder = decoder or zlib.decompressobj(_window(block, is_deflate))
            yield decoder.decompress(block, BLOCK)
            # A few bytes can be much work.
            time_limit.left()
            block = decoder.unconsumed_tail or decoder.unused_data
            if decoder.eof:
                decoder = None
    # With all bytes read, the decoder may still hold some of what they say.
    while decoder and (rest := decoder.decompress(b"", BLOCK)):
        yield rest
    if decoder and not decoder.eof:
        raise cut_short()


def _window(block: bytes, is_deflate: bool) -> int:
    if not is_deflate:
        return 16 + zlib.MAX_WBITS
    # Some servers leave the header of zlib out; it always begins with this half of a byte.
    return zlib.MAX_WBITS if block[0] & 0x0F == 8 else -zlib.MAX_WBITS


def _capped(blocks: Iterator[bytes], largest: int) -> Iterator[bytes]:
    total = 0
    for block in blocks:
        total += len(block)
        if total > largest:
            raise TooLarge(largest)
        if block:
            yield block
