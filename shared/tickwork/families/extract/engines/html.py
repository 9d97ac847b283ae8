"""HTML: what its tags say about the structure. Nothing is run, and nothing is fetched."""

import re

from tickwork.families.extract.engines.decoding import decoded
from tickwork.families.extract.engines.html_tokens import tokens_of
from tickwork.families.extract.engines.outline import Outline
from tickwork.families.extract.engines.refusals import MAX_TEXT, Refused

HEADINGS = {f"h{depth + 1}": depth for depth in range(6)}
BLOCKS = {
    *("address", "article", "aside", "blockquote", "body", "center", "dd", "details", "dialog", "div", "dl", "dt"),
    *("fieldset", "figcaption", "figure", "footer", "form", "header", "hr", "html", "legend", "main", "nav", "ol"),
    *("option", "p", "pre", "section", "summary", "tbody", "tfoot", "thead", "ul"),
}
UNSEEN = {"script", "style", "template", "noscript", "svg", "math", "iframe"}
CELLS = {"td", "th"}
DECLARATION = re.compile(r"\A\s{0,100}<!DOCTYPE[^>\[]{0,500}\[[^\]]*\]\s{0,100}>", re.IGNORECASE)
# Of each cell, its blocks of text.
Rows = list[list[list[str]]]
# Stands for <br>: a sign that no text needs, and that counts as white space.
BREAK = "\v"


def read(data: bytes, outline: Outline) -> None:
    text = decoded(data)
    # Any text is some HTML; what has no tag at all was not written as such.
    if "<" not in text:
        raise Refused("not that type")
    write_html(text, outline)


def write_html(text: str, outline: Outline) -> None:
    page = Page(outline)
    # A declaration with entities would end at the first of them.
    for token in tokens_of(DECLARATION.sub("", text, count=1)):
        match token.kind:
            case "start":
                page.start(token.value)
            case "end":
                page.end(token.value)
            case "text":
                page.text(token.value)
    page.end_block()
    page.end_table()


class Page:
    """Collects text until a tag ends the block it belongs to."""

    def __init__(self, outline: Outline) -> None:
        self.outline = outline
        self.pieces: list[str] = []
        self.heading: int | None = None
        self.is_item = False
        self.name = ""
        self.is_preformatted = False
        self.unseen: list[str] = []
        # Of each open table, its rows; nothing for one that only places things on the screen.
        self.tables: list[Rows | None] = []
        self.size = 0

    def start(self, tag: str) -> None:
        if self.unseen or tag in UNSEEN:
            self._hide(tag)
        elif tag == "title":
            self.pieces = []
        elif tag in HEADINGS:
            self.end_block()
            self.heading = HEADINGS[tag]
        elif tag == "li":
            self.end_block()
            self.is_item = True
        elif tag == "table":
            self._begin_table()
        elif tag == "tr" or tag in CELLS:
            self._begin_cell(tag)
        elif tag == "br":
            self.pieces.append(BREAK)
        elif tag in BLOCKS:
            self.end_block()
            self.is_preformatted = tag == "pre"

    def end(self, tag: str) -> None:
        if self.unseen:
            if tag == self.unseen[-1]:
                self.unseen.pop()
        elif tag == "title":
            self._name()
        elif tag == "table":
            self.end_block()
            self.end_table()
        elif tag in CELLS or tag in BLOCKS or tag in HEADINGS or tag == "li":
            self.end_block()

    def text(self, data: str) -> None:
        if self.unseen:
            return
        # Refused before it fills the memory; the exact count is the outline's.
        self.size += 0 if data.isspace() else len(data)
        if self.size > 2 * MAX_TEXT:
            raise Refused("too much text")
        self.pieces.append(data)

    def _name(self) -> None:
        text, self.pieces = shown(self.pieces), []
        if text and not self.name:
            self.name = text
            self.outline.title(text)

    def _hide(self, tag: str) -> None:
        # Only what can hide more of itself is counted: others have no end, or end with it.
        if not self.unseen or tag == self.unseen[0]:
            self.unseen.append(tag)

    def _begin_table(self) -> None:
        self.end_block()
        if self.tables and (rows := self.tables[-1]) is not None:
            self.tables[-1] = None
            for cell in (cell for row in rows for cell in row):
                self.outline.text(" ".join(cell))
        self.tables.append([])

    def _begin_cell(self, tag: str) -> None:
        self.end_block()
        if self.tables and (rows := self.tables[-1]) is not None:
            if tag == "tr" or not rows:
                rows.append([])
            if tag in CELLS:
                rows[-1].append([])

    def end_block(self) -> None:
        text = "".join(self.pieces) if self.is_preformatted else shown(self.pieces)
        self.pieces = []
        rows = self.tables[-1] if self.tables else None
        if not text.strip():
            return
        if rows and rows[-1]:
            rows[-1][-1].append(text)
        elif self.heading is not None:
            # Most pages say their name twice.
            if text != self.name:
                self.outline.title(text, self.heading)
        elif self.is_item:
            self.outline.item(text)
        else:
            self.outline.text(text)
        self.heading, self.is_item, self.is_preformatted = None, False, False

    def end_table(self) -> None:
        found = (self.tables.pop() if self.tables else None) or []
        rows = [[" ".join(cell) for cell in row] for row in found if any(row)]
        if any(len(row) > 1 for row in rows):
            self.outline.table(rows)
        else:
            for row in rows:
                self.outline.text(" ".join(row))


def shown(pieces: list[str]) -> str:
    """Spaces as a browser shows them: one at a time, and a new line only where a tag asks for it."""
    return "\n".join(" ".join(line.split()) for line in "".join(pieces).split(BREAK)).strip()
