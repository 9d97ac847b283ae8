"""What the lines of a PDF are: headings, list items, paragraphs. Told by size and weight against the body's type."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from tickwork.families.extract.engines.lines import MARKER, Item, Line, Table, joined
from tickwork.families.extract.engines.outline import Outline

LISTED = re.compile(rf"({MARKER.pattern})\s+(?=\S)")
BULLET = re.compile(r"[•‣◦▪■●○·∙–—*-]\s+")
SECTION = re.compile(r"(?:§|Art\.|Artikel)\s?\d+")
# The dots of a table of contents, between a heading's name and its page.
LEADER = re.compile(r"(?:\. ?){5}")
# How many letters a heading may have: in a large type, and in a bold one of the body's size.
MAX_LENGTH, MAX_BOLD_LENGTH = 200, 120


@dataclass
class Paragraph:
    """Lines that belong together; asked for its text when all of them are there."""

    lines: list[Line]
    page: int

    @cached_property
    def text(self) -> str:
        return joined(word for line in self.lines for word in line.words).rstrip("\n")

    @property
    def style(self) -> tuple[float, bool]:
        return style_of(self.lines[0])


def style_of(line: Line) -> tuple[float, bool]:
    return round(2 * line.size) / 2, line.is_bold


def write_pages(pages: Iterable[Sequence[Item]], outline: Outline) -> None:
    """Headings are known when the whole document is: its body's type is the most frequent one."""
    parts: list[Paragraph | tuple[Table, int]] = []
    letters: Counter[tuple[float, bool]] = Counter()
    for number, items in enumerate(pages, 1):
        for item in items:
            if isinstance(item, Line):
                letters[style_of(item)] += sum(map(len, item.words))
        parts += _paragraphs(items, number)
    body = max(letters, key=letters.__getitem__, default=(0.0, False))
    depths = _depths([part for part in parts if isinstance(part, Paragraph)], body)
    for part in parts:
        if isinstance(part, Paragraph):
            _write(part, body, depths, outline)
        else:
            outline.table(part[0].rows, part[1])


def _paragraphs(items: Sequence[Item], page: int) -> list[Paragraph | tuple[Table, int]]:
    lines = [item for item in items if isinstance(item, Line)]
    edge = max((line.x1 for line in lines), default=0.0)
    spacing = _spacing(lines)
    found: list[Paragraph | tuple[Table, int]] = []
    for item in items:
        last = found[-1] if found else None
        if isinstance(item, Table):
            found.append((item, page))
        elif isinstance(last, Paragraph) and _belongs(last, item, spacing, edge):
            last.lines.append(item)
        else:
            found.append(Paragraph([item], page))
    return found


def _spacing(lines: Sequence[Line]) -> float:
    """The usual space between two lines, in sizes of their type."""
    gaps = sorted(
        (below.y0 - above.y1) / max(below.size, 1.0)
        for above, below in pairwise(lines)
        if abs(above.size - below.size) < 0.5 and below.y0 > above.y0
    )
    return min(gaps[len(gaps) // 2], 0.9) if gaps else 0.2


def _belongs(paragraph: Paragraph, line: Line, spacing: float, edge: float) -> bool:
    last = paragraph.lines[-1]
    if last.words[-1].endswith("-\n"):
        return True
    if paragraph.style != style_of(line) or LISTED.match(line.text):
        return False
    goes_on_in_words = line.words[0][0].islower() and not last.words[-1].endswith((".", "!", "?", ":", ";"))
    if line.y0 <= last.y0:
        return goes_on_in_words
    if (line.y0 - last.y1) / max(line.size, 1.0) > spacing + 0.35:
        return False
    is_short = last.x1 < last.x0 + 0.75 * (edge - last.x0)
    return goes_on_in_words or not (is_short and last.words[-1].endswith((".", "!", "?", ":")))


def _depths(paragraphs: Sequence[Paragraph], body: tuple[float, bool]) -> dict[tuple[float, bool], int]:
    styles = {paragraph.style for paragraph in paragraphs if _is_heading(paragraph, body)}
    return {style: min(rank, 5) for rank, style in enumerate(sorted(styles, reverse=True))}


def _is_heading(paragraph: Paragraph, body: tuple[float, bool]) -> bool:
    size, is_bold = paragraph.style
    length = sum(len(line.text) for line in paragraph.lines)
    if length > MAX_LENGTH or len(paragraph.lines) > 4:
        return False
    text = paragraph.text
    if not any(letter.isalpha() for letter in text) or BULLET.match(text) or LEADER.search(text):
        return False
    if size >= 1.15 * body[0]:
        return True
    if length > MAX_BOLD_LENGTH or text.endswith((".", ",", ";", ":")) or size < body[0]:
        return False
    return (is_bold and not body[1]) or (SECTION.match(text) is not None and len(paragraph.lines) == 1)


def _write(
    paragraph: Paragraph, body: tuple[float, bool], depths: dict[tuple[float, bool], int], outline: Outline
) -> None:
    text, page = paragraph.text, paragraph.page
    if _is_heading(paragraph, body):
        outline.title(text, depths[paragraph.style], page)
    elif marker := LISTED.match(text):
        # A bullet says nothing; a number may be referred to.
        outline.item(text[marker.end() :] if BULLET.match(text) else text, page)
    elif any(letter.isalpha() for letter in text):
        outline.text(text, page)
    else:
        outline.text(text, page, type="UncategorizedText")
