"""What readers write into: elements under their headings, within the limits."""

import html
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from tickwork.families.extract.elements import Element, cleaned, element
from tickwork.families.extract.engines.refusals import MAX_ELEMENTS, MAX_PAGES, MAX_TEXT, Refused

# A table's text is there twice; of a huge one, the plain text is enough.
MAX_HTML_LENGTH = 100_000
# Steps of progress that are worth a line.
STEP = 0.01


class Outline:
    """Elements go out as they come; what is added under a heading carries its id."""

    def __init__(self, write: Callable[[dict[str, Any]], None]) -> None:
        self.page_count = 1
        self.left_out: list[str] = []
        self.cut = 0
        self._write = write
        self._pages_before = 0
        self._due: str | None = None
        self._headings: list[tuple[int, str]] = []
        self._position = 0
        self._size = 0
        self._told = -1.0

    def title(self, text: str, depth: int = 0, page: int = 1) -> None:
        while self._headings and self._headings[-1][0] >= depth:
            self._headings.pop()
        if added := self._add("Title", text, page, category_depth=depth):
            self._headings.append((depth, added["element_id"]))

    def text(self, text: str, page: int = 1, type: str = "NarrativeText") -> None:
        self._add(type, text, page)

    def item(self, text: str, page: int = 1) -> None:
        self._add("ListItem", text, page)

    def table(self, rows: Iterable[Sequence[str]], page: int = 1) -> None:
        """Rows of cells. Tabs and line feeds inside a cell become spaces: in the text they part cells and rows."""
        cells = [[" ".join(cleaned(cell).split()) for cell in row] for row in rows]
        text = "\n".join("\t".join(row).rstrip() for row in cells)
        self._add("Table", text, page, text_as_html=as_html(cells) if len(text) <= MAX_HTML_LENGTH else None)

    def progress(self, share: float, message: str) -> None:
        if share >= self._told + STEP:
            self._told = share
            self._write({"progress": share, "message": message})

    def turn_to(self, page: int) -> None:
        page += self._pages_before
        if page > MAX_PAGES:
            raise Refused("too many pages")
        self.page_count = max(self.page_count, page)

    @contextmanager
    def attachment(self, name: str) -> Iterator[None]:
        """For another file, with pages of its own behind those that were read; noted if no text comes of it."""
        self._pages_before, self._due = self.page_count, name
        yield
        if self._due is not None:
            self.leave_out(name)

    def leave_out(self, name: str) -> None:
        """Note a file that is attached and not read, or not to its end."""
        self.left_out.append(name)
        self._due = None

    def _add(self, type: str, text: str, page: int, **metadata: object) -> Element | None:
        if not (text := cleaned(text)):
            return None
        if (due := self._due) is not None:
            self._due = None
            self.title(due, page=page)
        self.turn_to(page)
        self._size += len(text.encode())
        self._position += 1
        if self._size > MAX_TEXT or self._position > MAX_ELEMENTS:
            raise Refused("too much text")
        parent = self._headings[-1][1] if self._headings else None
        number = page + self._pages_before
        made = element(type, text, self._position, page_number=number, parent_id=parent, **metadata)
        self._write({"element": made})
        return made


def as_html(rows: Sequence[Sequence[str]]) -> str | None:
    lines = ("".join(f"<td>{html.escape(cell)}</td>" for cell in row) for row in rows)
    table = f"<table>{''.join(f'<tr>{line}</tr>' for line in lines)}</table>"
    return table if len(table) <= 10 * MAX_HTML_LENGTH else None
