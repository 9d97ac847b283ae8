"""EML: subject, who and when, the text, and what is attached: read as what it is, or named."""

import codecs
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from email.errors import MessageError
from email.header import decode_header, make_header
from email.message import Message
from email.parser import BytesParser
from email.policy import Compat32
from pathlib import PurePosixPath as Path

from tickwork.families.extract.engines import docx, html, markdown, pdf, plain, sheet
from tickwork.families.extract.engines.decoding import guessed
from tickwork.families.extract.engines.html import write_html
from tickwork.families.extract.engines.outline import Outline
from tickwork.families.extract.engines.plain import write_text
from tickwork.families.extract.engines.refusals import Refused

FIELD = re.compile(rb"(?:From |[!-9;-~]{1,100}:)")
END_OF_HEAD = re.compile(rb"^(?!From |[!-9;-~]+:|[ \t])\r?\n?", re.MULTILINE)
MAX_PARTS = 1_000
# What mails are written in. Loaded now: whoever reads a file can load nothing.
CHARSETS = """
    us-ascii utf-7 utf-8 utf-16 utf-16-le utf-16-be iso-8859-1 iso-8859-2 iso-8859-3 iso-8859-4 iso-8859-5 iso-8859-6
    iso-8859-7 iso-8859-8 iso-8859-9 iso-8859-10 iso-8859-13 iso-8859-14 iso-8859-15 iso-8859-16 windows-1250
    windows-1251 windows-1252 windows-1253 windows-1254 windows-1255 windows-1256 windows-1257 windows-1258 ibm437
    ibm850 ibm852 mac-roman koi8-r koi8-u tis-620 gb2312 gbk gb18030 big5 shift_jis cp932 euc-jp iso-2022-jp euc-kr
    iso-2022-kr
"""
for each in CHARSETS.split():
    codecs.lookup(each)
# Parts within parts: each level is gone through once more.
MAX_DEPTH = 20
MAX_BOUNDARY_LENGTH = 200
MAX_FIELD_LENGTH = 4_000
MAX_SHOWN_LENGTH = 1_000
# How many attachments are read, also of attached mails, and how many mails deep.
MAX_ATTACHMENTS, MAX_MAILS = 50, 4
MAIL = "message/rfc822"
DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
# By type, or by the end of the name.
READERS = {
    **dict.fromkeys(("application/pdf", ".pdf"), pdf.read),
    **dict.fromkeys((DOCX, ".docx"), docx.read),
    **dict.fromkeys(("text/html", ".html", ".htm"), html.read),
    **dict.fromkeys(("text/markdown", ".md"), markdown.read),
    **dict.fromkeys(("text/csv", "text/tab-separated-values", ".csv", ".tsv"), sheet.read),
    **dict.fromkeys(("text/plain", ".txt"), plain.read),
}


@dataclass(frozen=True)
class Part:
    """A mail, or a part of one. Its body stays in one piece: Python would ask of each line whether it ends a part."""

    head: Message
    body: bytes


@dataclass
class Attachments:
    """The files attached to a mail, and to the mails attached to it."""

    left: int = MAX_ATTACHMENTS
    depth: int = 0

    def write(self, name: str, part: Part, outline: Outline) -> None:
        """Its text; what cannot be read, or not to its end, is left out, and the rest of the mail stays."""
        reader = READERS.get(part.head.get_content_type()) or READERS.get(Path(name).suffix.lower())
        is_mail = part.head.get_content_type() == MAIL or name.lower().endswith(".eml")
        self.left -= 1
        if self.left < 0 or self.depth == MAX_MAILS or not (reader or is_mail):
            return outline.leave_out(name)
        self.depth += 1
        with outline.attachment(name):
            try:
                if is_mail:
                    write_message(parsed(content_of(part)), outline, self)
                elif reader:
                    reader(content_of(part), outline)
            except Exception:
                outline.leave_out(name)
        self.depth -= 1
        return None


def read(data: bytes, outline: Outline) -> None:
    data = data.removeprefix(b"\xef\xbb\xbf").lstrip(b"\r\n")
    if not FIELD.match(data):
        raise Refused("not that type")
    write_message(parsed(data), outline, Attachments())


def write_message(message: Part, outline: Outline, attachments: Attachments) -> None:
    outline.title(header(message.head, "Subject", outline) or "(no subject)")
    fields = [(name, header(message.head, name, outline)) for name in ("From", "To", "Cc", "Date")]
    outline.text("\n".join(f"{name}: {value}" for name, value in fields if value), type="EmailMessage")
    attached: list[tuple[str, Part]] = []
    for part in shown_parts(message, attached):
        write_part(part, outline)
    if attached:
        names = [name for name, _ in attached]
        outline.text("\n".join(["Attachments:", *names]), type="UncategorizedText")
    for name, part in attached:
        attachments.write(name, part, outline)


def parsed(data: bytes) -> Part:
    end = END_OF_HEAD.search(data)
    head, rest = (data[: end.start()], data[end.end() :]) if end else (data, b"")
    return Part(BytesParser(policy=SHORT_FIELDS).parsebytes(head, headersonly=True), rest)


class ShortFields(Compat32):
    """Python decodes words and parameters of a field in the square of their number."""

    def header_source_parse(self, sourcelines: list[str]) -> tuple[str, str]:
        name, value = super().header_source_parse(sourcelines)
        return name, value[:MAX_FIELD_LENGTH]


SHORT_FIELDS = ShortFields()


def shown_parts(message: Part, attached: list[tuple[str, Part]]) -> Iterator[Part]:
    """The parts to read, one of each set of alternatives; the others go to `attached`, with their names."""
    waiting = [(message, 0)]
    for _ in range(MAX_PARTS):
        if not waiting:
            return
        part, depth = waiting.pop()
        kind = part.head.get_content_type()
        if name := file_name(part.head):
            attached.append((name, part))
        elif kind.startswith("multipart/"):
            parts = subparts(part, depth)
            chosen = best_of(parts) if kind == "multipart/alternative" else reversed(parts)
            waiting += [(each, depth + 1) for each in chosen]
        elif kind in ("text/plain", "text/html"):
            yield part
        elif kind == MAIL:
            attached.append((header(parsed(part.body).head, "Subject") or "a message", part))
        else:
            attached.append((f"a part of the type {kind[:100]}", part))
    raise Refused("too demanding")


def subparts(part: Part, depth: int) -> list[Part]:
    if depth == MAX_DEPTH:
        raise Refused("too demanding")
    boundary = (part.head.get_boundary() or "").encode("utf-8", "surrogateescape")
    if not 1 <= len(boundary) <= MAX_BOUNDARY_LENGTH:
        return []
    found: list[Part] = []
    start = None
    for line in re.finditer(rb"^--" + re.escape(boundary) + rb"(--)?[ \t]*\r?$", part.body, re.MULTILINE):
        if start is not None:
            found.append(parsed(part.body[start : line.start()]))
        if line[1]:
            return found
        if len(found) > MAX_PARTS:
            raise Refused("too demanding")
        start = line.end() + 1
    return found if start is None else [*found, parsed(part.body[start:])]


def best_of(parts: list[Part]) -> list[Part]:
    """Plain text, if it says anything; else the last one, which the sender likes best."""
    for part in parts:
        if part.head.get_content_type() == "text/plain" and text_of(part).strip():
            return [part]
    return parts[-1:]


def write_part(part: Part, outline: Outline) -> None:
    if part.head.get_content_type() == "text/html":
        write_html(text_of(part), outline)
    else:
        write_text(text_of(part), outline)


def content_of(part: Part) -> bytes:
    part.head.set_payload(part.body.decode("ascii", "surrogateescape"))
    payload = part.head.get_payload(decode=True)
    return payload if isinstance(payload, bytes) else b""


def text_of(part: Part) -> str:
    data = content_of(part)
    charset = part.head.get_content_charset()
    if charset and charset not in ("us-ascii", "utf-8"):
        try:
            return data.decode(charset, "replace")
        except (LookupError, ValueError):
            pass
    return guessed(data)


def file_name(head: Message) -> str:
    if head.get_content_disposition() != "attachment" and not head.get_filename():
        return ""
    return spoken(str(head.get_filename() or "an attachment without a name"))[:MAX_SHOWN_LENGTH]


def header(head: Message, name: str, outline: Outline | None = None) -> str:
    value = head.get(name)
    shown = spoken(str(value)) if value is not None else ""
    if outline:
        outline.cut += max(len(shown) - MAX_SHOWN_LENGTH, 0)
    return shown[:MAX_SHOWN_LENGTH]


def spoken(value: str) -> str:
    """Without the encoding of mail headers, on one line."""
    # An encoding that nobody knows stays as it is.
    with suppress(LookupError, ValueError, MessageError):
        value = str(make_header(decode_header(value)))
    return " ".join(value.split())
