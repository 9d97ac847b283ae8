"""DOCX: a ZIP of XML parts, of which the few that hold text are read as a stream."""

import io
import re
import zipfile
import zlib
from collections.abc import Callable
from xml.parsers import expat

from tickwork.families.extract.engines.docx_styles import Styles, styles_of
from tickwork.families.extract.engines.docx_text import Body
from tickwork.families.extract.engines.outline import Outline
from tickwork.families.extract.engines.refusals import Refused

MAX_PARTS = 2_000
# Of the text, unpacked: Word's markup is about ten times its text, and packs to a tenth or a fiftieth.
MAX_UNPACKED, SMALL, MAX_RATIO = 100_000_000, 10_000_000, 100
# Of all the other parts together: styles, notes, headers and footers.
MAX_OTHERS = 20_000_000
# A small block would have a long attribute read again from its start many times over.
BLOCK = 1 << 20

OLD_WORD = b"\xd0\xcf\x11\xe0"
ENCRYPTED = "EncryptedPackage".encode("utf-16-le")

BODY = "word/document.xml"
HEADER = re.compile(r"word/header\d*\.xml")
FOOTER = re.compile(r"word/(?:footnotes|endnotes|footer\d*)\.xml")


def read(data: bytes, outline: Outline) -> None:
    parts = Parts(opened(data))
    names = sorted(set(parts.archive.namelist()))
    if BODY not in names:
        raise Refused("no word")
    styles = styles_of(lambda name, take: parts.feed(name, take) if name in names else None)
    for name in names:
        if HEADER.fullmatch(name):
            write_part(parts, name, styles, outline, "Header")
    outline.progress(0.2, "reading the text")
    write_part(parts, BODY, styles, outline, None)
    for name in names:
        if FOOTER.fullmatch(name):
            write_part(parts, name, styles, outline, "Footer")


def opened(data: bytes) -> zipfile.ZipFile:
    if data.startswith(OLD_WORD):
        raise Refused("encrypted" if ENCRYPTED in data else "old word")
    if not data.startswith(b"PK\x03\x04"):
        raise Refused("not that type")
    try:
        parts = zipfile.ZipFile(io.BytesIO(data))
    except (zipfile.BadZipFile, ValueError, NotImplementedError):
        raise Refused("corrupt") from None
    if len(parts.infolist()) > MAX_PARTS:
        raise Refused("too demanding")
    if any(info.flag_bits & 1 for info in parts.infolist()):
        raise Refused("encrypted")
    return parts


class Parts:
    def __init__(self, archive: zipfile.ZipFile) -> None:
        self.archive = archive
        self.left_for_others = MAX_OTHERS

    def feed(self, name: str, listen: Callable[[expat.XMLParserType], None]) -> None:
        """Parse one part as it is unpacked; neither its size in the ZIP's list nor its word on it counts."""
        parser = expat.ParserCreate(namespace_separator=" ")
        parser.buffer_text = True
        # Word writes none, and who does wants entities: bombs, or the files of this machine.
        parser.StartDoctypeDeclHandler = refuse_doctype
        listen(parser)
        left = min(MAX_UNPACKED, max(SMALL, MAX_RATIO * self.archive.getinfo(name).compress_size))
        try:
            with self.archive.open(name) as part:
                while block := part.read(BLOCK):
                    left -= len(block)
                    self.left_for_others -= 0 if name == BODY else len(block)
                    if left < 0 or self.left_for_others < 0:
                        raise Refused("too demanding")
                    parser.Parse(block, False)
            parser.Parse(b"", True)
        except (expat.ExpatError, zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, OSError, ValueError):
            raise Refused("corrupt") from None


def write_part(parts: Parts, name: str, styles: Styles, outline: Outline, type: str | None) -> None:
    body = Body(styles)
    parts.feed(name, body.listen)
    body.write(outline, type)


def refuse_doctype(*_: object) -> None:
    raise Refused("corrupt")
