"""EML: subject, who and when, the text, and the names of what is attached."""

import re
from collections.abc import Iterator
from contextlib import suppress
from email.header import decode_header, make_header
from email.message import Message
from email.parser import BytesParser

from tickwork.families.extract.engines.decoding import guessed
from tickwork.families.extract.engines.html import write_html
from tickwork.families.extract.engines.outline import Outline
from tickwork.families.extract.engines.plain import write_text
from tickwork.families.extract.engines.refusals import Refused

FIELD = re.compile(rb"(?:From |[!-9;-~]{1,100}:)")
MAX_PARTS = 1_000


def read(data: bytes, outline: Outline) -> None:
    data = data.removeprefix(b"\xef\xbb\xbf").lstrip(b"\r\n")
    if not FIELD.match(data):
        raise Refused("not that type")
    message = BytesParser().parsebytes(data)
    outline.title(header(message, "Subject") or "(no subject)")
    known = [f"{name}: {value}" for name in ("From", "To", "Cc", "Date") if (value := header(message, name))]
    outline.text("\n".join(known), type="EmailMessage")
    attached: list[str] = []
    for part in shown_parts(message, attached):
        write_part(part, outline)
    if attached:
        outline.text("\n".join(["Attachments:", *attached]), type="UncategorizedText")


def shown_parts(message: Message, attached: list[str]) -> Iterator[Message]:
    """The parts to read, one of each set of alternatives; the names of the others go to `attached`."""
    waiting = [message]
    for _ in range(MAX_PARTS):
        if not waiting:
            return
        part = waiting.pop()
        kind = part.get_content_type()
        if name := file_name(part):
            attached.append(name)
        elif kind == "multipart/alternative":
            waiting += best_of(subparts(part))
        elif part.is_multipart() and kind != "message/rfc822":
            waiting += reversed(subparts(part))
        elif kind in ("text/plain", "text/html"):
            yield part
        elif kind == "message/rfc822":
            attached += [header(inner, "Subject") or "a message" for inner in subparts(part)]
    raise Refused("too demanding")


def subparts(part: Message) -> list[Message]:
    payload = part.get_payload()
    return [each for each in payload if isinstance(each, Message)] if isinstance(payload, list) else []


def best_of(parts: list[Message]) -> list[Message]:
    """Plain text, if it says anything; else the last one, which the sender likes best."""
    for part in parts:
        if part.get_content_type() == "text/plain" and text_of(part).strip():
            return [part]
    return parts[-1:]


def write_part(part: Message, outline: Outline) -> None:
    if part.get_content_type() == "text/html":
        write_html(text_of(part), outline)
    else:
        write_text(text_of(part), outline)


def text_of(part: Message) -> str:
    payload = part.get_payload(decode=True)
    data = payload if isinstance(payload, bytes) else b""
    charset = part.get_content_charset()
    if charset and charset not in ("us-ascii", "utf-8"):
        try:
            return data.decode(charset, "replace")
        except (LookupError, ValueError):
            pass
    return guessed(data)


def file_name(part: Message) -> str:
    if part.get_content_disposition() != "attachment" and not part.get_filename():
        return ""
    return spoken(str(part.get_filename() or "an attachment without a name"))


def header(message: Message, name: str) -> str:
    value = message.get(name)
    return spoken(str(value)) if value is not None else ""


def spoken(value: str) -> str:
    """Without the encoding of mail headers, on one line."""
    # An encoding that nobody knows stays as it is.
    with suppress(LookupError, ValueError):
        value = str(make_header(decode_header(value)))
    return " ".join(value.split())[:1000]
