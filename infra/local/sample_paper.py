"""A small writer of text PDFs, for samples and tests: the same bytes each time, on every machine."""

from collections.abc import Sequence
from dataclasses import dataclass, field

WIDTH, HEIGHT, MARGIN = 595.0, 842.0, 64.0

# Of Helvetica, in thousandths of the size, from the space on; what follows are letters beyond ASCII.
ASCII_WIDTHS = (
    "278 278 355 556 556 889 667 191 333 333 389 584 278 333 278 278 556 556 556 556 556 556 556 556 556 556 278 278 "
    "584 584 584 556 1015 667 667 722 722 667 611 778 722 278 500 667 556 833 722 778 667 778 722 667 611 722 667 944 "
    "667 667 611 278 278 278 469 556 333 556 556 500 556 556 278 556 556 222 222 500 222 833 556 556 556 556 333 500 "
    "278 556 500 722 500 500 500 334 260 334 584"
)
WIDTHS = {chr(32 + index): int(width) for index, width in enumerate(ASCII_WIDTHS.split())}
WIDTHS |= {"ß": 611, "•": 350, "–": 556, "Ä": 667, "Ö": 778, "Ü": 722, "ﬁ": 500, "ﬂ": 500}

# Codes that cp1252 leaves free.
LIGATURES = {"ﬁ": b"\x81", "ﬂ": b"\x8d"}

HELVETICA = (
    b"<< /Type /Font /Subtype /Type1 /BaseFont /%s /Encoding << /Type /Encoding /BaseEncoding /WinAnsiEncoding "
    b"/Differences [129 /fi 141 /fl] >> >>"
)


@dataclass
class Paper:
    """Pages that fill from top to bottom; `put` and `rule` draw anywhere."""

    left: float = MARGIN
    right: float = WIDTH - MARGIN
    y: float = 0.0
    pages: list[list[bytes]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.turn_page()

    def turn_page(self) -> None:
        self.pages.append([])
        self.y = HEIGHT - MARGIN

    def heading(self, text: str, size: float = 16) -> None:
        self._make_room(size * 4)
        self._lines(text, size, is_bold=True)
        self.y -= size * 0.5

    def paragraph(self, text: str, size: float = 10.5) -> None:
        self._lines(text, size)
        self.y -= size * 0.8

    def items(self, texts: Sequence[str], bullet: str = "•", size: float = 10.5) -> None:
        for text in texts:
            self._make_room(size * 1.3)
            self.put(self.left + 8, self.y - size, bullet, size)
            self._lines(text, size, indent=24)
            self.y -= size * 0.25
        self.y -= size * 0.6

    def table(self, rows: Sequence[Sequence[str]], widths: Sequence[float], is_ruled: bool = True) -> None:
        height = 17.0
        self._make_room(height * min(len(rows), 6))
        for number, row in enumerate(rows):
            self._make_room(height)
            x = self.left
            for text, width in zip(row, widths, strict=True):
                self.put(x + 4, self.y - 12, text, 9.5, is_bold=number == 0)
                if is_ruled:
                    self.frame(x, self.y - height, width, height)
                x += width
            self.y -= height
        self.y -= 12

    def put(self, x: float, y: float, text: str, size: float = 10.5, is_bold: bool = False) -> None:
        name = b"F2" if is_bold else b"F1"
        self.pages[-1].append(b"BT /%s %g Tf %g %g Td (%s) Tj ET" % (name, size, x, y, escaped(text)))

    def frame(self, x: float, y: float, width: float, height: float) -> None:
        self.pages[-1].append(b"0.5 w %g %g %g %g re S" % (x, y, width, height))

    def bytes(self) -> bytes:
        kids = b" ".join(b"%d 0 R" % (5 + 2 * number) for number in range(len(self.pages)))
        objects = [
            b"<< /Type /Catalog /Pages 2 0 R >>",
            b"<< /Type /Pages /Kids [%s] /Count %d >>" % (kids, len(self.pages)),
            HELVETICA % b"Helvetica",
            HELVETICA % b"Helvetica-Bold",
        ]
        for number, page in enumerate(self.pages):
            objects += [
                b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 %g %g] /Contents %d 0 R "
                b"/Resources << /Font << /F1 3 0 R /F2 4 0 R >> >> >>" % (WIDTH, HEIGHT, 6 + 2 * number),
                stream(b"\n".join(page)),
            ]
        return pdf(objects)

    def _lines(self, text: str, size: float, indent: float = 0, is_bold: bool = False) -> None:
        for line in wrapped(text, self.right - self.left - indent, size * (1.07 if is_bold else 1)):
            self._make_room(size * 1.3)
            self.put(self.left + indent, self.y - size, line, size, is_bold)
            self.y -= size * 1.3

    def _make_room(self, height: float) -> None:
        if self.y - height < MARGIN:
            self.turn_page()


def pdf(objects: Sequence[bytes], trailer: bytes = b"") -> bytes:
    """A whole file of these objects, the first of which is the catalog."""
    out = b"%PDF-1.7\n"
    places = []
    for number, content in enumerate(objects, 1):
        places.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, content)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    size = len(objects) + 1
    head = b"xref\n0 %d\n0000000000 65535 f \n%s" % (size, table)
    return b"%s%strailer << /Size %d /Root 1 0 R %s >>\nstartxref\n%d\n%%%%EOF\n" % (out, head, size, trailer, len(out))


def stream(content: bytes, entries: bytes = b"") -> bytes:
    return b"<< /Length %d %s >>\nstream\n%s\nendstream" % (len(content), entries, content)


def escaped(text: str) -> bytes:
    data = b"".join(LIGATURES.get(each) or each.encode("cp1252") for each in text)
    return data.replace(b"\\", b"\\\\").replace(b"(", b"\\(").replace(b")", b"\\)")


def wrapped(text: str, width: float, size: float) -> list[str]:
    lines = [""]
    for word in text.split():
        longer = f"{lines[-1]} {word}".strip()
        if lines[-1] and width_of(longer, size) > width:
            lines.append(word)
        else:
            lines[-1] = longer
    return lines


def width_of(text: str, size: float) -> float:
    return sum(WIDTHS.get(each, 556) for each in text) * size / 1000
