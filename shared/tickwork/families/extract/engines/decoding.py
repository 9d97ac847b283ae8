"""From bytes to text, for all formats that are text."""

import codecs

from tickwork.families.extract.engines.refusals import Refused

MARKS = {codecs.BOM_UTF8: "utf-8", codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be"}
# How files begin that are no text, whatever they were uploaded as.
BINARY = (b"%PDF-", b"PK\x03\x04", b"\xd0\xcf\x11\xe0", b"\x89PNG", b"\xff\xd8\xff", b"GIF8", b"\x1f\x8b", b"\x7fELF")


def decoded(data: bytes) -> str:
    """UTF-8, or UTF-16 if its mark says so, or else what Windows writes in Europe."""
    for mark, encoding in MARKS.items():
        if data.startswith(mark):
            return data[len(mark) :].decode(encoding, "replace")
    # A stray NUL is forgiven, but every tenth byte is no text.
    if data.startswith(BINARY) or data.count(0, 0, 8192) > len(data[:8192]) // 10:
        raise Refused("not that type")
    return guessed(data)


def guessed(data: bytes) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return data.decode("cp1252", "replace")
