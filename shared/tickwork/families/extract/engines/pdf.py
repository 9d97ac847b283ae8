"""PDF, by PDFium: words with their places and fonts, and the lines that are drawn around them."""

import re
from array import array
from collections.abc import Callable, Iterator
from ctypes import POINTER, addressof, byref, c_float, c_int, c_ulong, c_ushort, cast, create_string_buffer
from math import hypot
from typing import Any

import pypdfium2_raw as pdfium  # type: ignore[import-untyped]

from tickwork.families.extract.engines.grids import Rule
from tickwork.families.extract.engines.headings import write_pages
from tickwork.families.extract.engines.layout import arranged
from tickwork.families.extract.engines.lines import Item, Table, Word
from tickwork.families.extract.engines.outline import Outline
from tickwork.families.extract.engines.pdf_forms import Form
from tickwork.families.extract.engines.refusals import MAX_PAGES, MAX_TEXT, Refused

# PDFium's mark for a hyphen at the end of a line, where it also leaves out the line break.
HYPHEN = "\ufffe"
LINE = re.compile(rf"[^\s{HYPHEN}](?:[^\r\n{HYPHEN}]*[^\s{HYPHEN}])?{HYPHEN}?|{HYPHEN}")
WORD = re.compile(rf"[^\s{HYPHEN}]+{HYPHEN}?|{HYPHEN}")
BOLD = re.compile(rb"(?i)bold|black|heavy|-semib|cmbx")
# Wider than any type, in sizes of it for each letter.
WIDE = 0.8
# More lines than a table needs make a drawing.
MAX_RULES = 2_000
MAX_OBJECTS = 20_000


def read(data: bytes, outline: Outline) -> None:
    # Others put a few bytes of their own in front.
    if b"%PDF-" not in data[:1024]:
        raise Refused("not that type")
    pdfium.FPDF_InitLibrary()
    document = pdfium.FPDF_LoadMemDocument64(data, len(data), None)
    if not document:
        is_locked = pdfium.FPDF_GetLastError() in (pdfium.FPDF_ERR_PASSWORD, pdfium.FPDF_ERR_SECURITY)
        raise Refused("encrypted" if is_locked else "corrupt")
    count = pdfium.FPDF_GetPageCount(document)
    if count > MAX_PAGES:
        raise Refused("too many pages")
    if count < 1:
        raise Refused("corrupt")
    outline.turn_to(count)
    write_pages(_pages(document, count, outline), outline)


def _pages(document: Any, count: int, outline: Outline) -> Iterator[list[Item]]:
    letters = 0
    form = Form(document)
    for number in range(count):
        outline.progress(0.9 * number / count, f"reading page {number + 1} of {count}")
        page = pdfium.FPDF_LoadPage(document, number)
        if not page:
            raise Refused("corrupt")
        text = pdfium.FPDFText_LoadPage(page)
        try:
            letters += max(pdfium.FPDFText_CountChars(text), 0)
            # Refused before it fills the memory; the exact count is the outline's.
            if letters > 2 * MAX_TEXT:
                raise Refused("too much text")
            turned = pdfium.FPDFPage_GetRotation(page)
            fields = form.rows(page)
            yield [*arranged(_words(text, turned), _rules(page, turned)), *([_below(fields)] if fields else [])]
        finally:
            pdfium.FPDFText_ClosePage(text)
            pdfium.FPDF_ClosePage(page)


def _below(fields: list[list[str]]) -> Table:
    """The fields of a form: a table at the end of its page."""
    return Table(fields, 0.0, 0.0, 0.0, 0.0)


def _words(text: Any, turned: int) -> Iterator[Word]:
    units, places = _letters(text)
    place, font = _placing(text, turned), _fonts(text)
    for match in LINE.finditer(units):
        start, end = match.start(), match.end()
        drawn, size, is_bold = font(places(start))
        if drawn == font(places(end - 1))[0] and _has_real_spaces(text, units, places, start, end):
            box = place(places(start), places(end - 1))
            # Drawn at once, and as wide as letters are: no need to look at each word, which takes most of the time.
            if box[2] - box[0] <= WIDE * size * (end - start):
                yield Word(*box, size, is_bold, _joined(units[start:end]))
                continue
        for word in WORD.finditer(units, start, end):
            _, size, is_bold = font(places(word.start()))
            box = place(places(word.start()), places(word.end() - 1))
            yield Word(*box, size, is_bold, _joined(word[0]))


def _has_real_spaces(text: Any, units: str, places: Callable[[int], int], start: int, end: int) -> bool:
    """Where a program moves on instead of writing spaces, a move may also lead to the next column."""
    space = units.find(" ", start, end)
    return space < 0 or pdfium.FPDFText_IsGenerated(text, places(space)) == 0


def _placing(text: Any, turned: int) -> Callable[[int, int], tuple[float, float, float, float]]:
    """A function that returns the box around a word, from its first to its last letter."""
    box = pdfium.FS_RECTF()
    pointer = byref(box)
    box_of = pdfium.FPDFText_GetLooseCharBox

    def place(first: int, last: int) -> tuple[float, float, float, float]:
        box_of(text, first, pointer)
        left, bottom, right, top = box.left, box.bottom, box.right, box.top
        if last != first:
            box_of(text, last, pointer)
            if turned == 0 and box.left >= left:
                # By far the most frequent case, and there are hundreds of words on a page.
                return left, -top, box.right, -bottom
            left, right = min(left, box.left), max(right, box.right)
            bottom, top = min(bottom, box.bottom), max(top, box.top)
        (x0, y0), (x1, y1) = _upright(left, top, turned), _upright(right, bottom, turned)
        return min(x0, x1), min(y0, y1), max(x0, x1), max(y0, y1)

    return place


def _letters(text: Any) -> tuple[str, Callable[[int], int]]:
    """The page's text, and where each of its letters is among PDFium's own."""
    count = max(pdfium.FPDFText_CountChars(text), 0)
    buffer = create_string_buffer(2 * (count + 1))
    pdfium.FPDFText_GetText(text, 0, count, cast(buffer, POINTER(c_ushort)))
    units = "".join(map(chr, array("H", buffer.raw))).rstrip("\0")
    # PDFium leaves letters without a Unicode value out of the text, but counts them.
    if len(units) == count:
        return units, int
    return units, lambda index: pdfium.FPDFText_GetCharIndexFromTextIndex(text, index)


def _joined(units: str) -> str:
    """Letters beyond the first 65,536 come as pairs."""
    if units.isascii() or max(units) < "\ud800":
        return units
    return units.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "ignore").replace(HYPHEN, "-\n")


def _upright(x: float, y: float, turned: int) -> tuple[float, float]:
    """From the page as it is written, upwards, to the page as it is shown, downwards."""
    return ((x, -y), (y, x), (-x, y), (-y, -x))[turned]


def _fonts(text: Any) -> Callable[[int], tuple[int, float, bool]]:
    """A function that returns for a letter: what it was drawn with, the size as it is seen, and whether it is bold."""
    known: dict[int, tuple[int, float, bool]] = {}
    drawn_with = pdfium.FPDFText_GetTextObject

    def font(letter: int) -> tuple[int, float, bool]:
        drawn = drawn_with(text, letter)
        key = addressof(drawn.contents) if drawn else 0
        if key not in known:
            known[key] = (key, *_new_font(text, letter))
        return known[key]

    return font


def _new_font(text: Any, letter: int) -> tuple[float, bool]:
    matrix = pdfium.FS_MATRIX()
    pdfium.FPDFText_GetMatrix(text, letter, byref(matrix))
    name = create_string_buffer(128)
    flags = c_int()
    pdfium.FPDFText_GetFontInfo(text, letter, name, c_ulong(128), byref(flags))
    is_bold = pdfium.FPDFText_GetFontWeight(text, letter) >= 600 or BOLD.search(name.value) is not None
    return pdfium.FPDFText_GetFontSize(text, letter) * (hypot(matrix.c, matrix.d) or 1.0), is_bold


def _rules(page: Any, turned: int) -> list[Rule]:
    """The level and upright lines of a page: what tables are made of."""
    rules: list[Rule] = []
    for index in range(min(pdfium.FPDFPage_CountObjects(page), MAX_OBJECTS)):
        drawn = pdfium.FPDFPage_GetObject(page, index)
        if pdfium.FPDFPageObj_GetType(drawn) == pdfium.FPDF_PAGEOBJ_PATH and _is_visible(drawn):
            rules += _strokes(drawn, turned)
        if len(rules) > MAX_RULES:
            return []
    return rules


def _is_visible(path: Any) -> bool:
    fill, is_stroked = c_int(), c_int()
    pdfium.FPDFPath_GetDrawMode(path, byref(fill), byref(is_stroked))
    return bool(fill.value or is_stroked.value)


def _strokes(path: Any, turned: int) -> Iterator[Rule]:
    """The edges of a path. A thin filled box has two that matter, next to each other: they count as one."""
    count = pdfium.FPDFPath_CountSegments(path)
    if count > MAX_RULES:
        return
    matrix = pdfium.FS_MATRIX()
    pdfium.FPDFPageObj_GetMatrix(path, byref(matrix))
    x, y = c_float(), c_float()
    start = last = (0.0, 0.0)
    for index in range(count):
        piece = pdfium.FPDFPath_GetPathSegment(path, index)
        pdfium.FPDFPathSegment_GetPoint(piece, byref(x), byref(y))
        point = _upright(
            matrix.a * x.value + matrix.c * y.value + matrix.e,
            matrix.b * x.value + matrix.d * y.value + matrix.f,
            turned,
        )
        kind = pdfium.FPDFPathSegment_GetType(piece)
        if kind == pdfium.FPDF_SEGMENT_MOVETO:
            start = point
        elif kind == pdfium.FPDF_SEGMENT_LINETO:
            yield from _level_or_upright(last, point)
        if pdfium.FPDFPathSegment_GetClose(piece):
            yield from _level_or_upright(point, start)
        last = point


def _level_or_upright(a: tuple[float, float], b: tuple[float, float]) -> Iterator[Rule]:
    width, height = abs(a[0] - b[0]), abs(a[1] - b[1])
    if min(width, height) < 1 and max(width, height) > 4:
        yield Rule(min(a[0], b[0]), min(a[1], b[1]), max(a[0], b[0]), max(a[1], b[1]))
