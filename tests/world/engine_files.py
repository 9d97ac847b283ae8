"""Files for the local engine, made on the spot: good ones, and those that mean harm."""

import io
import threading
import zipfile
import zlib
from collections.abc import Sequence
from pathlib import Path

from sample_paper import Paper, pdf, stream

DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
PDF = "application/pdf"

W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'


def report_of(pages: int) -> bytes:
    """A text PDF: on each page headings, paragraphs, a list and a table."""
    paper = Paper()
    for number in range(1, pages + 1):
        if number > 1:
            paper.turn_page()
        paper.heading(f"Bericht {number}", 18)
        paper.heading(f"Prüfung der Anlage {number}", 13)
        for part in range(4):
            paper.paragraph(
                f"Absatz {number}.{part}: Die Wohnung liegt im Erdgeschoss und hat schöne Türen. Der Mieter zahlt "
                "die Miete monatlich im Voraus auf das Konto der Verwaltung. Die Nebenkosten werden abgerechnet."
            )
        paper.items([f"Schlüssel {number}.{part} wurde übergeben" for part in range(3)])
        paper.table(
            [["Pos", "Bezeichnung", "Betrag"], ["1", f"Heizung {number}", "100,00"], ["2", "Wasser", "50,00"]],
            [60, 200, 100],
            is_ruled=number % 2 == 0,
        )
        paper.paragraph(f"Ende {number}.")
    return paper.bytes()


def put_lines(paper: Paper, x: float, y: float, lines: Sequence[str], size: float = 10) -> None:
    for number, line in enumerate(lines):
        paper.put(x, y - number * size * 1.3, line, size)


def pdf_with_content(content: bytes, entries: bytes = b"") -> bytes:
    """One page with this content stream."""
    return pdf(
        [
            b"<< /Type /Catalog /Pages 2 0 R >>",
            b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R "
            b"/Resources << /Font << /F1 5 0 R >> >> >>",
            stream(content, entries),
            b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
        ]
    )


def docx(body: str, head: str = "", **more: str) -> bytes:
    document = f'<?xml version="1.0" encoding="UTF-8"?>{head}<w:document {W}><w:body>{body}</w:body></w:document>'
    return packed({"[Content_Types].xml": "<Types/>", "word/document.xml": document, **more})


def packed(parts: dict[str, str]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in parts.items():
            archive.writestr(name, text)
    return out.getvalue()


def docx_paragraph(text: str, properties: str = "") -> str:
    return f"<w:p><w:pPr>{properties}</w:pPr><w:r><w:t>{text}</w:t></w:r></w:p>"


def docx_bomb(unpacked: int, told: int | None = None) -> bytes:
    """A DOCX whose text is this large when unpacked; `told` is the size that its list of contents gives."""
    start = f'<w:document {W}><w:body><w:p><w:r><w:rPr><w:lang w:val="'.encode()
    data = repeated(start, b" ", unpacked, -15)
    name = b"word/document.xml"
    common = (8).to_bytes(2, "little") + bytes(8) + len(data).to_bytes(4, "little")
    common += (told or unpacked).to_bytes(4, "little") + len(name).to_bytes(2, "little") + bytes(2)
    local = b"PK\x03\x04" + (20).to_bytes(2, "little") + bytes(2) + common + name + data
    central = b"PK\x01\x02" + (20).to_bytes(2, "little") * 2 + bytes(2) + common + bytes(14) + name
    end = b"PK\x05\x06" + bytes(4) + (1).to_bytes(2, "little") * 2
    return local + central + end + len(central).to_bytes(4, "little") + len(local).to_bytes(4, "little") + bytes(2)


def repeated(start: bytes, sign: bytes, size: int, format: int = 15) -> bytes:
    """`start` and so many signs, packed: each million of them to the same bytes, so that it takes no time to make."""
    packer = zlib.compressobj(9, zlib.DEFLATED, format)
    head = packer.compress(start) + packer.flush(zlib.Z_FULL_FLUSH)
    million = packer.compress(sign * 1_000_000) + packer.flush(zlib.Z_FULL_FLUSH)
    return head + million * (size // 1_000_000)


def nested_mail(depth: int) -> bytes:
    lines = [b"Subject: nested", b"MIME-Version: 1.0"]
    for number in range(depth):
        lines += [b'Content-Type: multipart/mixed; boundary="b%d"' % number, b"", b"--b%d" % number]
    return b"\r\n".join([*lines, b"Content-Type: text/plain", b"", b"deep inside"])


# Of the test run: databases, and the process that commands are forked from.
SERVERS = ("postgres", "pgbouncer", "multiprocessing.")


def own_children() -> list[int]:
    """The processes that this thread has started, but for the servers of the test run."""
    started = Path(f"/proc/self/task/{threading.get_native_id()}/children").read_text().split()
    commands = {int(each): Path(f"/proc/{each}/cmdline").read_text(errors="replace") for each in started}
    return [each for each, command in commands.items() if not any(server in command for server in SERVERS)]


LAUGHS = (
    "<!DOCTYPE lolz ["
    + '<!ENTITY l0 "lolololololololololol">'
    + "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 12))
    + "]>"
)


def pdf_form(*fields: bytes, text: bytes = b"BT /F1 12 Tf 50 700 Td (Selbstauskunft) Tj ET") -> bytes:
    """A page with this text and a form; each field is the inside of a dictionary."""
    references = b" ".join(b"%d 0 R" % number for number in range(6, 6 + len(fields)))
    widget = b"/Type /Annot /Subtype /Widget /P 3 0 R /Rect [50 600 250 620] /F 4"
    return pdf(
        [
            b"<< /Type /Catalog /Pages 2 0 R /AcroForm << /Fields [%s] >> >>" % references,
            b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R /Annots [%s] "
            b"/Resources << /Font << /F1 5 0 R >> >> >>" % references,
            stream(text),
            b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
            *(b"<< %s %s >>" % (widget, field) for field in fields),
        ]
    )
