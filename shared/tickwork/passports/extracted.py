"""Facts of files without cells, such as PDF: from the tables that an extraction has found, for people to confirm."""

import html
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from tickwork.passports.file_types import PDF, plain
from tickwork.passports.found import Found
from tickwork.passports.reading import Refused, check_text
from tickwork.passports.tables import Kind, Meaning, Numbered, facts_of_rows, has_known_heads

# In a PDF, cells are guessed from where words stand; DOCX and HTML mark them.
CONFIDENCE_OF_LAYOUT, CONFIDENCE_OF_MARKUP = 0.7, 0.9
TOKEN = re.compile(r"<(?P<close>/?)(?P<name>[a-zA-Z]*+)(?P<more>[^<>]*+)>|(?P<text>[^<]+|<)")
SPAN = re.compile(r"(?:row|col)span\s*+=\s*+[\"']?+\s*+0*([0-9]+)", re.IGNORECASE)


class Table(NamedTuple):
    """`rows` is None where cells span several rows or columns: which value belongs to which head is not guessed."""

    page: int
    number: int
    rows: list[Numbered] | None

    @property
    def name(self) -> str:
        return f"page {self.page}, table {self.number}"


class Tables(NamedTuple):
    """Those whose heads say what they are, and the names of the others."""

    known: list[Table]
    left_out: list[str]


def known_tables(elements: Any, kind: Kind, taught: Mapping[str, Meaning]) -> Tables:
    known: list[Table] = []
    left_out: list[str] = []
    for table in tables_of(elements):
        if table.rows and has_known_heads(table.rows[0].cells, kind, taught):
            known.append(table)
        else:
            left_out.append(table.name)
    if not known:
        raise Refused("SCHEMA_MISMATCH", f"none of the {len(left_out)} tables that were found has known columns")
    return Tables(known, left_out)


def tables_of(elements: Any) -> Iterator[Table]:
    """The tables of elements as extract_document stores them, numbered on each page."""
    counts: dict[int, int] = {}
    for each in elements:
        metadata = each["metadata"]
        if markup := metadata.get("text_as_html"):
            page = metadata.get("page_number", 1)
            counts[page] = counts.get(page, 0) + 1
            yield Table(page, counts[page], rows_of_html(markup))


def rows_of_html(markup: str) -> list[Numbered] | None:
    """Blank rows are left out. Where cells were merged, some rows are shorter."""
    rows: list[list[str]] = []
    is_in_cell = False
    for token in TOKEN.finditer(markup):
        name = (token["name"] or "").lower()
        if name in ("tr", "td", "th"):
            is_in_cell = name != "tr" and not token["close"]
            if is_in_cell and any(int(span[:4]) > 1 for span in SPAN.findall(token["more"])):
                return None
            if not token["close"] and (name == "tr" or not rows):
                rows.append([])
            if is_in_cell:
                rows[-1].append("")
        elif is_in_cell:
            rows[-1][-1] += token["text"] or " "
    if len({len(row) for row in rows}) > 1:
        return None
    cells = ([" ".join(html.unescape(cell).split()) for cell in row] for row in rows)
    return [Numbered(number, row) for number, row in enumerate(cells, start=1) if any(row)]


def facts_of_tables(
    tables: list[Table], mime_type: str, kind: Kind, schema_version: str, taught: Mapping[str, Meaning]
) -> Iterator[Found]:
    """With the page they are on, and a confidence: no snapshot is sealed with them before a member confirms them."""
    confidence = CONFIDENCE_OF_LAYOUT if plain(mime_type) == PDF else CONFIDENCE_OF_MARKUP
    for table in tables:
        rows = table.rows or []
        try:
            for cell in (cell for row in rows for cell in row.cells):
                check_text(str(cell))
            for found in facts_of_rows(rows, kind, schema_version, taught):
                source = {"page": table.page, "table": table.number, **found.source}
                yield replace(found, source=source, confidence=confidence)
        except Refused as refusal:
            raise Refused(refusal.code, f"{table.name}: {refusal.message}") from None
