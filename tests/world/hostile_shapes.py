"""Shapes of file that cost a careless reader more than their size: each can be made as large as wanted."""

import io
import zipfile
from collections.abc import Callable

from sample_paper import pdf, stream
from tests.world.engine_files import W

Shape = Callable[[int], bytes]


def repeat(piece: str | bytes, before: str | bytes = b"", after: str | bytes = b"") -> Shape:
    """So many pieces that the file has the size asked for."""
    piece, before, after = (each.encode() if isinstance(each, str) else each for each in (piece, before, after))

    def make(size: int) -> bytes:
        return before + piece * ((size - len(before) - len(after)) // len(piece)) + after

    return make


def word(piece: str, before: str = "", after: str = "") -> Shape:
    """A Word document whose body has this size, before it is packed."""

    def make(size: int) -> bytes:
        body = before + piece * (size // len(piece)) + after
        out = io.BytesIO()
        with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
            archive.writestr("word/document.xml", f"<w:document {W}><w:body>{body}</w:body></w:document>")
        return out.getvalue()

    return make


def page(piece: bytes, before: bytes = b"", after: bytes = b"") -> Shape:
    """A PDF of one page whose content has this size."""

    def make(size: int) -> bytes:
        content = before + b"".join(piece.replace(b"#", b"%d" % n) for n in range(size // len(piece))) + after
        return pdf(
            [
                b"<< /Type /Catalog /Pages 2 0 R >>",
                b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
                b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 14000 14000] /Contents 4 0 R "
                b"/Resources << /Font << /F1 5 0 R >> >> >>",
                stream(content),
                b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
            ]
        )

    return make


def nested(depth: int, line: bytes) -> Shape:
    """A mail in which every line is inside so many parts."""
    head = b"Subject: x\r\n"
    for number in range(depth):
        head += b'Content-Type: multipart/mixed; boundary="b%d"\r\n\r\n--b%d\r\n' % (number, number)
    return repeat(line, head + b"Content-Type: text/plain\r\n\r\n")


def nested_tables(size: int) -> bytes:
    opened, closed = "<w:tbl><w:tr><w:tc><w:p><w:r><w:t>a</w:t></w:r></w:p>", "</w:tc></w:tr></w:tbl>"
    depth = size // len(opened + closed)
    return word(opened, after=closed * depth)(depth * len(opened))


MARKED = "a\u0301\u0327"  # an a with two marks in the wrong order

SHAPES: dict[str, dict[str, Shape]] = {
    "markdown": {
        "heading that does not end": repeat(" ", "# x", "y"),
        "heading with closing marks": repeat("#", "# x ", "y"),
        "spaces": repeat(" ", "x", "y"),
        "quotes": repeat("> "),
        "dashes and spaces": repeat(" ", "| - ", "x |"),
        "spaces before dashes": repeat(" ", "|", "x |"),
        "rule that is none": repeat("- ", "", "x"),
        "cells": repeat("| "),
        "bars": repeat("|"),
        "open marks": repeat(" **a"),
        "open backticks": repeat(" ```a"),
        "other marks": repeat(" __a ~~b `c"),
        "open emphasis": repeat(" *a"),
        "open brackets": repeat("["),
        "open links": repeat("[](a"),
        "link with a long title": repeat(" ", "[](a"),
        "headings": repeat("# a very short heading of some 40 letters\n"),
        "short lines": repeat("a\n"),
        "underlined": repeat("a\n-\n"),
        "items": repeat("- a\n"),
        "code": repeat("```\n"),
        "indented": repeat("  ", "", "- x"),
    },
    "html": {
        "open tags": repeat("<"),
        "open names": repeat("<a "),
        "open end tags": repeat("</a"),
        "open comments": repeat("<!--"),
        "open declarations": repeat("<!"),
        "open CDATA": repeat("<![CDATA["),
        "open instructions": repeat("<?"),
        "open quotes": repeat("<a b='"),
        "attributes": repeat(" a=b", "<p", ">x"),
        "attribute without an end": repeat(" ", "<p a", "=x"),
        "equals": repeat("=", "<a ", ">x"),
        "open scripts": repeat("<script>"),
        "ends in a script": repeat("</", "<script>"),
        "nearly ends in a script": repeat("</scrip", "<script>"),
        "references": repeat("&a"),
        "numbers": repeat("&#1", "<p>"),
        "paragraphs in a cell": repeat("<p>a", "<table><tr><td>"),
        "cells": repeat("<td>", "<table><tr>"),
        "rows": repeat("<tr><td>a<td>b", "<table>"),
        "tables in tables": repeat("<table><tr><td>a"),
        "headings": repeat("<h1>a very short heading of 30 letters"),
        "breaks": repeat("<br>"),
        "titles": repeat("<title>a</title>"),
        "open titles": repeat("<title>a"),
        "svg": repeat("<svg>"),
        "divs": repeat("<div>"),
        "doctypes": repeat(" ", "<!DOCTYPE", "["),
        "doctype that does not end": repeat("]", "<!DOCTYPE x ["),
    },
    "mail": {
        "nested 15 deep": nested(15, b"a\r\n"),
        "nested 60 deep": nested(60, b"a\r\n"),
        "nested 120 deep, dashes": nested(120, b"--\n"),
        "parts": repeat(
            "\r\n--b\r\nContent-Type: text/plain\r\n\r\na",
            "Subject: x\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n",
        ),
        "alternatives": repeat(
            "\r\n--b\r\nContent-Type: text/plain\r\n\r\n ",
            "Subject: x\r\nContent-Type: multipart/alternative; boundary=b\r\n\r\n",
        ),
        "headers": repeat("a: b\r\n", "Subject: x\r\n"),
        "folded subject": repeat(" a\r\n", "Subject: x\r\n"),
        "long subject": repeat("a ", "Subject: x"),
        "encoded subject": repeat(" =?utf-8?q?a?=", "Subject: "),
        "mixed encodings": repeat(" =?utf-8?q?a?= =?latin-1?q?b?=", "Subject: "),
        "parameters": repeat(";a=b", "Subject: x\r\nContent-Type: text/plain"),
        "quoted parameters": repeat(';a="', "Subject: x\r\nContent-Type: text/plain"),
        "quotes in a parameter": repeat('"', 'Subject: x\r\nContent-Type: text/plain; name="'),
        "backslashes": repeat("\\", 'Subject: x\r\nContent-Type: text/plain; name="'),
        "continued name": repeat(";filename*0=a", "Subject: x\r\nContent-Disposition: attachment"),
        "carriage returns": repeat("\r", "Subject: x\r\n\r\n"),
        "quoted-printable": repeat("=\r\n", "Subject: x\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n"),
        "equals": repeat("=", "Subject: x\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n"),
        "base64": repeat("QQ==\r\n", "Subject: x\r\nContent-Transfer-Encoding: base64\r\n\r\n"),
        "uuencoded": repeat("begin 666 a\n", "Subject: x\r\nContent-Transfer-Encoding: uuencode\r\n\r\n"),
        "boundaries nearly": repeat("--b x\r\n", "Subject: x\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n"),
        "html of open tags": repeat("<a ", "Subject: x\r\nContent-Type: text/html\r\n\r\n"),
    },
    "plain": {
        "marks out of order": repeat("\u0301", "a", "\u0327" * 1000),
        "marks by turns": repeat("\u0301\u0327", "a"),
        "letters with marks": repeat(MARKED),
        "short lines": repeat("a\n"),
        "empty lines": repeat("\n"),
        "spaces": repeat(" ", "x", "y"),
        "bullets": repeat("- "),
        "bullet lines": repeat("- a\n"),
        "numbers": repeat("1. a\n"),
        "carriage returns": repeat("\r"),
        "ligatures": repeat("\ufb03"),
        "rules": repeat("=", "x\n", "y"),
        "headings": repeat("HEADING OF FORTY LETTERS OR NEARLY THAT\n\n"),
        "NULs": repeat("a\0"),
    },
    "sheet": {
        "rows": repeat("a;b\n"),
        "cells": repeat("a;"),
        "empty cells": repeat(";", "a"),
        "rows of empty cells": repeat("a;;;;;;;;;;;;;;;;;;;;;;;;;;;;;;;;;;;;;;\n"),
        "open quote": repeat("a", '"'),
        "quotes": repeat('"'),
        "quoted rows": repeat('"a";"b"\n'),
        "markup": repeat("<;>;&\n"),
        "newlines": repeat("\n", "a;b\n"),
        "carriage returns": repeat("\r", "a;b\n"),
    },
    "docx": {
        "paragraphs in a cell": word(
            "<w:p><w:r><w:t>a</w:t></w:r></w:p>", "<w:tbl><w:tr><w:tc>", "</w:tc></w:tr></w:tbl>"
        ),
        "page breaks in a paragraph": word("<w:t> </w:t><w:lastRenderedPageBreak/>", "<w:p><w:r>", "</w:r></w:p>"),
        "tables in tables": nested_tables,
        "empty paragraphs": word("<w:p/>"),
        "paragraphs": word("<w:p><w:r><w:t>a</w:t></w:r></w:p>"),
        "runs": word("<w:r><w:t>a</w:t></w:r>", "<w:p>", "</w:p>"),
        "cells": word("<w:tc/>", "<w:tbl><w:tr>", "</w:tr></w:tbl>"),
        "foreign elements": word("<a/>"),
        "spaces": word(" "),
    },
    "pdf": {
        "words in a row": page(b"1 0 0 1 # 100 Tm (a) Tj ", b"BT /F1 1 Tf ", b"ET"),
        "words in a column": page(b"1 0 0 1 100 # Tm (a) Tj ", b"BT /F1 1 Tf ", b"ET"),
        "two columns": page(b"1 0 0 1 100 # Tm (a) Tj 1 0 0 1 900 # Tm (b) Tj ", b"BT /F1 1 Tf ", b"ET"),
        "columns of three words": page(
            b"1 0 0 1 100 # Tm (a b c d) Tj 1 0 0 1 109 # Tm (a b c d) Tj ", b"BT /F1 1 Tf ", b"ET"
        ),
        "words far apart": page(b"1 0 0 1 # 100 Tm (a) Tj ", b"BT /F1 0.1 Tf ", b"ET"),
        "two columns above a table": page(
            b"1 0 0 1 100 # Tm (a) Tj 1 0 0 1 900 # Tm (b) Tj ",
            b"100 -9 50 4 re S 120 -9 m 120 -5 l S BT /F1 1 Tf 1 0 0 1 105 -8 Tm (c) Tj ",
            b"ET",
        ),
        "words in one place": page(b"1 0 0 1 100 100 Tm (a) Tj ", b"BT /F1 1 Tf ", b"ET"),
        "one long line": page(b"a ", b"BT /F1 1 Tf 1 0 0 1 0 100 Tm (", b") Tj ET"),
        "one letter lines": page(b"(a) Tj 0 -0.1 Td ", b"BT /F1 1 Tf 1 0 0 1 0 13000 Tm ", b"ET"),
        "lines": page(b"# 0 m # 900 l S "),
        "boxes": page(b"# 10 5 5 re S "),
        "states": page(b"q "),
        "hyphens": page(b"(a-) Tj 0 -1.2 Td ", b"BT /F1 1 Tf 1 0 0 1 0 13000 Tm ", b"ET"),
    },
}
