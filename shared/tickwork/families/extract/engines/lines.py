"""Words, lines and tables, each with its place on the page."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

MARKER = re.compile(r"(?:[•‣◦▪■●○·∙–—*-]|\(?\d{1,3}[.)]|\(?[a-zA-Z][.)]|[ivx]{1,4}[.)])")
# "Haus- und Grundbesitz": the hyphen stands for a word that is left out.
SUSPENDED = re.compile(r"(?:und|oder|bzw\.|sowie|and|or|to|bis)\b")
# A gap, in sizes of the type, that parts cells or columns.
GAP = 1.0


@dataclass(slots=True)
class Box:
    """A place on the page, and the type that stands there."""

    x0: float
    y0: float
    x1: float
    y1: float
    size: float
    is_bold: bool


@dataclass(slots=True)
class Word(Box):
    """A word, or several that are certainly on one line."""

    text: str


@dataclass(slots=True)
class Line(Box):
    words: list[str]

    @property
    def text(self) -> str:
        return " ".join(self.words)

    def take(self, word: Word) -> None:
        self.words.append(word.text)
        self.is_bold = self.is_bold and word.is_bold
        self.x1 = word.x1
        if word.size != self.size:
            self.size = max(self.size, word.size)
            self.y0, self.y1 = min(self.y0, word.y0), max(self.y1, word.y1)


@dataclass(slots=True)
class Table:
    rows: list[list[str]]
    x0: float
    y0: float
    x1: float
    y1: float
    size: float = 10.0


Item = Line | Table


def lines_of(words: Iterable[Word]) -> list[Line]:
    """Words that follow each other on one line, up to a gap as wide as between columns."""
    lines: list[Line] = []
    for word in words:
        if lines and _goes_on(lines[-1], word):
            lines[-1].take(word)
        else:
            lines.append(Line(word.x0, word.y0, word.x1, word.y1, word.size, word.is_bold, [word.text]))
    return lines


def _goes_on(line: Line, word: Word) -> bool:
    if line.words[-1].endswith("\n") or not line.y0 <= (word.y0 + word.y1) / 2 <= line.y1:
        return False
    size = max(word.size, line.size, 1.0)
    # A bullet may stand far from its text.
    widest = 4 * size if len(line.words) == 1 and MARKER.fullmatch(line.words[0]) else GAP * size
    return -0.5 * size <= word.x0 - line.x1 <= widest


def joined(pieces: Iterable[str]) -> str:
    """Pieces of text, one after the other; a word that a line end has parted is whole again."""
    text: list[str] = []
    for piece in filter(None, pieces):
        if not text or not text[-1].endswith("-\n"):
            text += [" ", piece] if text else [piece]
        elif SUSPENDED.match(piece):
            text[-1] = text[-1][:-1]
            text += [" ", piece]
        else:
            # "E-Mail-" and "Adresse" keep their hyphen, "Neben-" and "kosten" do not.
            text[-1] = text[-1][: -2 if piece[0].islower() else -1]
            text.append(piece)
    return "".join(text)
