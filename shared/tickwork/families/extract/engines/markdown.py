"""Markdown: what its marks say about the structure; the text without them."""

import re

from tickwork.families.extract.engines.decoding import decoded
from tickwork.families.extract.engines.outline import Outline

# Each reads a line once: two parts in a row that both take spaces would try every way to share them.
HEADING = re.compile(r" {0,3}(#{1,6})\s+")
UNDERLINE = re.compile(r" {0,3}(=+|-+)\s*$")
ITEM = re.compile(r"\s*(?:[-*+]|\d{1,9}[.)])\s+(?:\[[ xX]\]\s+)?")
FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
ROW = re.compile(r"\s*\|.*\|\s*$")
BAR = re.compile(r"(?<!\\)\|")
DASHES = re.compile(r":?-+:?")
QUOTE = re.compile(r"\s*>\s?")
RULE = re.compile(r" {0,3}([-*_])(\s*\1){2,}\s*$")
# Bounded, each in one line: a hostile text gains nothing by many brackets.
IMAGE_OR_LINK = re.compile(r"!?\[([^\[\]\n]{0,500})\]\([^()\s]{0,2000}(?:\s+\"[^\"\n]{0,200}\")?\)")
MARK = re.compile(r"\*\*|__|~~|`{1,3}")
EMPHASIS = re.compile(r"(?<![\w*])([*_])(?=\S)([^*_\n]{1,500})(?<=\S)\1(?![\w*])")
SPECIAL = re.compile(r"[*_~`\[\\]")
ESCAPED = re.compile(r"\\([\\`*_{}\[\]()#+.!|>~-])")


def read(data: bytes, outline: Outline) -> None:
    Markdown(outline).write(decoded(data))


class Markdown:
    """Takes line by line, and writes a block when the next one begins."""

    def __init__(self, outline: Outline) -> None:
        self.outline = outline
        self.lines: list[str] = []
        self.is_item = False
        self.rows: list[list[str]] = []
        self.fence = ""

    def write(self, text: str) -> None:
        for line in text.splitlines():
            if self.fence or FENCE.match(line):
                self._code(line)
            else:
                self._take(line)
        self._end()

    def _code(self, line: str) -> None:
        fence = FENCE.match(line)
        if not self.fence and fence:
            self._end()
            self.fence = fence[1]
        elif fence and line.strip().startswith(self.fence):
            self.outline.text("\n".join(self.lines), type="CodeSnippet")
            self.lines, self.fence = [], ""
        else:
            self.lines.append(line)

    def _take(self, line: str) -> None:
        if quote := QUOTE.match(line):
            line = line[quote.end() :]
        if heading := HEADING.match(line):
            self._end()
            self.outline.title(plain(line[heading.end() :].rstrip().rstrip("#")), len(heading[1]) - 1)
        elif self.lines and not self.is_item and (underline := UNDERLINE.match(line)):
            text, self.lines = plain(" ".join(self.lines)), []
            self.outline.title(text, 0 if underline[1][0] == "=" else 1)
        elif not line.strip() or RULE.match(line):
            self._end()
        elif ROW.match(line) or (self.rows and "|" in line):
            self._row(line)
        elif item := ITEM.match(line):
            self._end()
            self.is_item = True
            self.lines.append(line[item.end() :])
        else:
            self.lines.append(line.strip())

    def _row(self, line: str) -> None:
        if self.lines:
            self._end()
        cells = [cell.strip() for cell in BAR.split(line.strip().strip("|"))]
        if not all(DASHES.fullmatch(cell) for cell in cells):
            self.rows.append([plain(cell) for cell in cells])

    def _end(self) -> None:
        text = "\n".join(self.lines) if self.fence else plain(" ".join(self.lines))
        if self.rows:
            self.outline.table(self.rows)
        if self.is_item:
            self.outline.item(text)
        else:
            self.outline.text(text)
        self.lines, self.rows, self.is_item = [], [], False


def plain(text: str) -> str:
    if not SPECIAL.search(text):
        return text.strip()
    text = without_marks(IMAGE_OR_LINK.sub(r"\1", text))
    return ESCAPED.sub(r"\1", EMPHASIS.sub(r"\2", text)).strip()


def without_marks(text: str) -> str:
    """Marks go in pairs: one before a word, and the next of its kind after one. What stands between ` is code."""
    pairs: list[tuple[re.Match[str], re.Match[str]]] = []
    opened: dict[str, re.Match[str]] = {}
    for mark in MARK.finditer(text):
        first = opened.get(mark[0])
        if first and first.end() < mark.start() and not text[mark.start() - 1].isspace():
            if mark[0][0] == "`":
                while pairs and pairs[-1][1].start() > first.start():
                    pairs.pop()
            opened = {kind: each for kind, each in opened.items() if each.start() < first.start()}
            pairs.append((first, mark))
        elif mark.end() < len(text) and not text[mark.end()].isspace():
            opened[mark[0]] = mark
    places = sorted(mark.span() for pair in pairs for mark in pair)
    starts, ends = [0, *(end for _, end in places)], [*(start for start, _ in places), len(text)]
    return "".join(text[start:end] for start, end in zip(starts, ends, strict=True))
