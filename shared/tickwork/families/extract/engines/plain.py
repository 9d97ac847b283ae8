"""Plain text: paragraphs between empty lines, and what can be told of headings and lists."""

import re
from collections.abc import Iterator

from tickwork.families.extract.engines.decoding import decoded
from tickwork.families.extract.engines.outline import Outline

BULLET = re.compile(r"\s*[•‣◦▪●·*–-]\s+(?=\S)")
NUMBER = re.compile(r"\s*(?:\(?\d{1,3}[.)]|\(?[a-z]\))\s+(?=\S)")
UNDERLINE = re.compile(r"\s*(?:={3,}|-{3,}|_{3,}|\*{3,})\s*")
NUMBERED_HEADING = re.compile(r"(?:§\s?\d+|\d+(?:\.\d+)*\.?)\s+[A-ZÄÖÜ]")
MAX_HEADING_LENGTH = 80
LINE_END = re.compile(r"\r\n|[\n\r\v\f\u2028\u2029\x85]")


def read(data: bytes, outline: Outline) -> None:
    write_text(decoded(data), outline)


def write_text(text: str, outline: Outline) -> None:
    for lines in _paragraphs(text):
        is_underlined = len(lines) == 2 and UNDERLINE.fullmatch(lines[1])
        if is_underlined or (len(lines) == 1 and looks_like_heading(lines[0].strip())):
            outline.title(lines[0])
        else:
            _write(lines, outline)


def _paragraphs(text: str) -> Iterator[list[str]]:
    lines: list[str] = []
    for line in (text[start:end] for start, end in _line_places(text)):
        if line.strip():
            lines.append(line)
        elif lines:
            yield lines
            lines = []
    if lines:
        yield lines


def _line_places(text: str) -> Iterator[tuple[int, int]]:
    start = 0
    for match in LINE_END.finditer(text):
        yield start, match.start()
        start = match.end()
    yield start, len(text)


def looks_like_heading(line: str) -> bool:
    """A short line on its own that is no sentence: in capitals, numbered, or a few words that begin with a capital."""
    if len(line) > MAX_HEADING_LENGTH or line.endswith((".", ",", ";", ":", "!", "?")) or BULLET.match(line):
        return False
    letters = [letter for letter in line if letter.isalpha()]
    if len(letters) < 3 or len(letters) < len(line) / 2:
        return False
    is_loud = all(not letter.islower() for letter in letters)
    return is_loud or NUMBERED_HEADING.match(line) is not None or (line[0].isupper() and len(line.split()) <= 6)


def _write(lines: list[str], outline: Outline) -> None:
    """A paragraph, or list items: a line with a marker begins one, the lines after it belong to it."""
    texts: list[str] = []
    is_item = False
    for line in lines:
        marker = BULLET.match(line) or NUMBER.match(line)
        if marker and texts:
            _write_one(texts, is_item, outline)
            texts = []
        is_item = is_item or marker is not None
        bullet = BULLET.match(line)
        texts.append(line[bullet.end() :] if bullet else line)
    _write_one(texts, is_item, outline)


def _write_one(lines: list[str], is_item: bool, outline: Outline) -> None:
    text = "\n".join(line.strip() for line in lines)
    if is_item:
        outline.item(text)
    else:
        outline.text(text)
