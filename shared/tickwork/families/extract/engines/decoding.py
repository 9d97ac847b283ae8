"""From bytes to text, for all formats that are text."""

import codecs

from tickwork.families.extract.engines.refusals import Refused

MARKS = {codecs.BOM_UTF8: "utf-8", codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be"}
# How files begin that are no text, whatever they were uploaded as.
BINARY = (b"%PDF-", b"PK\x03\x04", b"\xd0\xcf\x11\xe0", b"\x89PNG", b"\xff\xd8\xff", b"GIF8", b"\x1f\x8b", b"\x7fELF")


# What no text has: control characters but for white space, the bell, the backspace and the escape.
CONTROLS = bytes({*range(1, 32), 127} - {*range(7, 14), 27})
SAMPLE = 8192


def decoded(data: bytes) -> str:
    """UTF-8, or UTF-16 if its mark or its NULs say so, or else what Windows writes in Europe."""
    for mark, encoding in MARKS.items():
        if data.startswith(mark):
            return data[len(mark) :].decode(encoding, "replace")
    if data.startswith(BINARY):
        raise Refused("not that type")
    sample = data[:SAMPLE]
    if sample.count(0) <= len(sample) // 10:
        return guessed(data)
    return with_many_nuls(data, sample)


def with_many_nuls(data: bytes, sample: bytes) -> str:
    """UTF-16 without a mark has them at every other place; others fill up what they write with them."""
    even, odd = sample[::2].count(0), sample[1::2].count(0)
    if max(even, odd) > len(sample) // 4 and min(even, odd) < len(sample) // 20:
        return data.decode("utf-16-le" if odd > even else "utf-16-be", "replace")
    written = sample.replace(b"\0", b"")
    if len(written) - len(written.translate(None, CONTROLS)) > len(written) // 10:
        raise Refused("not that type")
    return guessed(data.replace(b"\0", b""))


def guessed(data: bytes) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return data.decode("cp1252", "replace")
