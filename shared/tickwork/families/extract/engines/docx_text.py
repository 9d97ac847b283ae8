"""The text of a Word part: paragraphs, list items, headings and tables, with the pages that breaks tell of."""

from dataclasses import dataclass, field
from xml.parsers.expat import XMLParserType

from tickwork.families.extract.engines.docx_styles import Styles, depth_of, is_on, plain_name, value_of
from tickwork.families.extract.engines.outline import Outline
from tickwork.families.extract.engines.refusals import MAX_ELEMENTS, MAX_TEXT, Refused

MAX_BOLD_HEADING_LENGTH = 120
# A document as long as may be has a million or two. Each is a call of Python, however small it was packed.
MAX_TAGS = 5_000_000
# What is there a second time, for older readers, and what somebody has deleted or moved away.
UNSEEN = ("http://schemas.openxmlformats.org/markup-compatibility/2006 Fallback", "del", "moveFrom")


@dataclass
class Pages:
    """Counted twice: by breaks that somebody set, and by those where Word last saw a page end."""

    broken: int = 1
    rendered: int = 1


@dataclass
class Block:
    broken: int
    rendered: int
    text: list[str] = field(default_factory=list)
    depth: int | None = None
    is_item: bool = False
    bold: list[bool] = field(default_factory=list)
    is_bold_by_style: bool = False
    has_text: bool = False
    # Of a table: of each cell, its paragraphs.
    rows: list[list[list[str]]] | None = None


class Body:
    """Listens to the parser; holds all blocks, since only the end tells how pages are to be counted."""

    def __init__(self, styles: Styles) -> None:
        self.styles = styles
        self.blocks: list[Block] = []
        self.pages = Pages()
        self.paragraphs: list[Block] = []
        # The outermost: what a table in a cell says is the text of the cell.
        self.table: Block | None = None
        self.tables = 0
        self.tags = 0
        self.unseen = 0
        self.is_text = False
        self.is_bold = False
        self.in_run_properties = False
        self.size = 0

    def listen(self, parser: XMLParserType) -> None:
        parser.StartElementHandler = self.start
        parser.EndElementHandler = self.end
        parser.CharacterDataHandler = self.data

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        name = plain_name(tag)
        self.tags += 1
        if self.tags > MAX_TAGS:
            raise Refused("too demanding")
        if self.unseen or tag in UNSEEN or name in UNSEEN:
            self.unseen += 1
            return
        match name:
            case "p":
                self.paragraphs.append(Block(self.pages.broken, self.pages.rendered))
            case "tbl" | "tr" | "tc":
                self._table(name)
            case "t":
                self.is_text = True
            case "tab" | "br" | "cr" | "noBreakHyphen" | "lastRenderedPageBreak" | "pageBreakBefore":
                self._sign(name, attributes)
            case "r":
                self.is_bold = bool(self.paragraphs) and self.paragraphs[-1].is_bold_by_style
            case "rPr":
                self.in_run_properties = True
            case "b" if self.in_run_properties:
                self.is_bold = is_on(attributes)
            case "pStyle" | "numPr" | "outlineLvl" if self.paragraphs:
                self._property(name, value_of(attributes))

    def end(self, tag: str) -> None:
        if self.unseen:
            self.unseen -= 1
            return
        match plain_name(tag):
            case "t":
                self.is_text = False
            case "rPr":
                self.in_run_properties = False
            case "p" if self.paragraphs:
                self._end_paragraph(self.paragraphs.pop())
            case "tbl":
                self._end_table()

    def data(self, text: str) -> None:
        if self.is_text and not self.unseen and self.paragraphs:
            self.size += len(text)
            if self.size > MAX_TEXT:
                raise Refused("too much text")
            self.paragraphs[-1].text.append(text)
            if text.strip():
                self.paragraphs[-1].has_text = True
                self.paragraphs[-1].bold.append(self.is_bold)

    def write(self, outline: Outline, type: str | None) -> None:
        """All that was heard; `type` is for parts that are neither headings nor text, as headers of pages."""
        has_rendered = self.pages.rendered > 1
        for block in self.blocks:
            page = block.rendered if has_rendered else block.broken
            text = "".join(block.text)
            if block.rows is not None:
                outline.table([[" ".join(cell) for cell in row] for row in block.rows], page)
            elif type:
                outline.text(text, page, type)
            elif block.depth is not None:
                outline.title(text, min(block.depth, 5), page)
            elif block.is_item:
                outline.item(text, page)
            elif is_bold_heading(block, text):
                outline.title(text, 5, page)
            else:
                outline.text(text, page)
        if type is None:
            outline.turn_to(self.pages.rendered if has_rendered else self.pages.broken)

    def _table(self, name: str) -> None:
        if name == "tbl":
            self.tables += 1
            self.table = self.table or Block(self.pages.broken, self.pages.rendered, rows=[])
        elif self.tables == 1 and self.table and self.table.rows is not None:
            if name == "tr":
                self.table.rows.append([])
            elif self.table.rows:
                self.table.rows[-1].append([])

    def _sign(self, name: str, attributes: dict[str, str]) -> None:
        if name == "lastRenderedPageBreak":
            self.pages.rendered += 1
        elif is_page_break(name, attributes):
            self.pages.broken += 1
        elif self.paragraphs and name != "pageBreakBefore":
            self.paragraphs[-1].text.append({"tab": "\t", "noBreakHyphen": "-"}.get(name, "\n"))
            return
        # A break at the start of a paragraph takes all of it to the next page.
        if self.paragraphs and not self.paragraphs[-1].has_text:
            self.paragraphs[-1].broken, self.paragraphs[-1].rendered = self.pages.broken, self.pages.rendered

    def _property(self, name: str, value: str) -> None:
        paragraph = self.paragraphs[-1]
        if name == "numPr":
            paragraph.is_item = True
        elif name == "outlineLvl":
            paragraph.depth = depth_of(value)
        elif style := self.styles.get(value):
            paragraph.depth, paragraph.is_item = style.depth, paragraph.is_item or style.is_item
            paragraph.is_bold_by_style = style.is_bold

    def _end_paragraph(self, paragraph: Block) -> None:
        if not paragraph.has_text:
            return
        if self.table is None:
            self._keep(paragraph)
        elif self.table.rows and self.table.rows[-1]:
            self.table.rows[-1][-1].append("".join(paragraph.text).strip())

    def _end_table(self) -> None:
        self.tables -= 1
        if self.tables == 0 and self.table:
            table, self.table = self.table, None
            table.rows = [row for row in table.rows or [] if any(row)]
            if table.rows:
                self._keep(table)

    def _keep(self, block: Block) -> None:
        if len(self.blocks) >= MAX_ELEMENTS:
            raise Refused("too much text")
        self.blocks.append(block)


def is_page_break(name: str, attributes: dict[str, str]) -> bool:
    return value_of(attributes, "type") == "page" if name == "br" else name == "pageBreakBefore" and is_on(attributes)


def is_bold_heading(block: Block, text: str) -> bool:
    """Many a heading was never told that it is one."""
    is_short = len(text) <= MAX_BOLD_HEADING_LENGTH and not text.rstrip().endswith((".", ",", ";", ":"))
    return is_short and bool(block.bold) and all(block.bold)
