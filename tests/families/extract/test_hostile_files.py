"""Files that mean harm end in an error with a name, in little memory, and harm nobody else."""

import os
import signal
import subprocess
import sys
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest

from sample_paper import pdf, stream
from tests.world.engine_files import (
    DOCX,
    LAUGHS,
    PDF,
    docx,
    docx_bomb,
    docx_paragraph,
    nested_mail,
    own_children,
    packed,
    pdf_with_content,
    repeated,
    report_of,
)
from tickwork.errors import Permanent
from tickwork.families.extract.elements import Extracted
from tickwork.families.extract.engines.local import extract
from tickwork.families.extract.engines.refusals import REFUSALS
from tickwork.tools.confined.confinement import MEMORY

Read = Callable[..., Extracted]

CATALOG = b"<< /Type /Catalog /Pages 2 0 R >>"
PAGE = b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] >>"


@pytest.fixture
def read(tmp_path: Path) -> Read:
    def read(content: bytes, mime_type: str, seconds: float = 60) -> Extracted:
        file = tmp_path / "geheimer-name"
        file.write_bytes(content)
        return extract(file, mime_type, seconds, lambda share, message: None)

    return read


def external_entity(file: str) -> str:
    return f'<!DOCTYPE d [<!ENTITY x SYSTEM "file://{file}">]>'


def encrypted_pdf() -> bytes:
    """A PDF that asks for a password: its keys fit none that could be guessed."""
    lock = b"<< /Filter /Standard /V 2 /R 3 /Length 128 /P -4 /O (%s) /U (%s) >>" % (b"o" * 32, b"u" * 32)
    trailer = b"/Encrypt 4 0 R /ID [(0123456789abcdef) (0123456789abcdef)]"
    return pdf([CATALOG, b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>", PAGE, lock], trailer)


HOSTILE: dict[str, tuple[Callable[[], bytes], str, str]] = {
    "empty": (lambda: b"", "text/plain", "EMPTY_FILE"),
    "a program": (lambda: b"MZ" + bytes(100), "application/x-msdownload", "UNSUPPORTED_TYPE"),
    "text as PDF": (lambda: b"Guten Tag", PDF, "CORRUPT_FILE"),
    "PDF as text": (lambda: report_of(1), "text/plain", "CORRUPT_FILE"),
    "PDF as Word": (lambda: report_of(1), DOCX, "CORRUPT_FILE"),
    "picture as HTML": (lambda: b"\x89PNG\r\n\x1a\n" + bytes(50), "text/html", "CORRUPT_FILE"),
    "text as mail": (lambda: "Guten Tag, schönes Wetter".encode(), "message/rfc822", "CORRUPT_FILE"),
    "text as HTML": (lambda: b"Guten Tag", "text/html", "CORRUPT_FILE"),
    "ZIP as Word": (lambda: packed({"a.txt": "x"}), DOCX, "UNSUPPORTED_TYPE"),
    "old Word": (lambda: b"\xd0\xcf\x11\xe0" + bytes(600), DOCX, "UNSUPPORTED_TYPE"),
    "encrypted Word": (
        lambda: b"\xd0\xcf\x11\xe0" + bytes(600) + "EncryptedPackage".encode("utf-16-le"),
        DOCX,
        "ENCRYPTED_FILE",
    ),
    "encrypted PDF": (encrypted_pdf, PDF, "ENCRYPTED_FILE"),
    "truncated PDF": (lambda: report_of(3)[:2000], PDF, "CORRUPT_FILE"),
    "truncated Word": (lambda: docx(docx_paragraph("x"))[:-60], DOCX, "CORRUPT_FILE"),
    "Word with broken XML": (lambda: docx("<w:p>"), DOCX, "CORRUPT_FILE"),
    "pages in a circle": (
        lambda: pdf([CATALOG, b"<< /Type /Pages /Kids [2 0 R 2 0 R] /Count 5 >>"]),
        PDF,
        "CORRUPT_FILE",
    ),
    "too many pages": (
        lambda: pdf([CATALOG, b"<< /Type /Pages /Kids [%s] /Count 2001 >>" % (b"3 0 R " * 2001), PAGE]),
        PDF,
        "TOO_MANY_PAGES",
    ),
    "too many page breaks": (
        lambda: docx('<w:p><w:r><w:br w:type="page"/></w:r></w:p>' * 2001 + docx_paragraph("x")),
        DOCX,
        "TOO_MANY_PAGES",
    ),
    "bomb in Word": (lambda: docx_bomb(300_000_000), DOCX, "TOO_DEMANDING"),
    "bomb in Word that lies": (lambda: docx_bomb(300_000_000, told=1000), DOCX, "CORRUPT_FILE"),
    "laughs in Word": (lambda: docx(docx_paragraph("&l11;"), LAUGHS), DOCX, "CORRUPT_FILE"),
    "too many parts": (lambda: packed({f"{n}": "" for n in range(2001)}), DOCX, "TOO_DEMANDING"),
    "bomb in PDF": (
        lambda: pdf_with_content(
            zlib.compress(repeated(b"", b" ", 1_200_000_000)), b"/Filter [/FlateDecode /FlateDecode]"
        ),
        PDF,
        "TOO_DEMANDING",
    ),
    "a single line": (lambda: b"a" * 45_000_000, "text/plain", "TOO_MUCH_TEXT"),
    "short lines": (lambda: b"a\n\n" * 101_000, "text/plain", "TOO_MUCH_TEXT"),
    "a single row": (lambda: b"a," * 3_000_000, "text/csv", "TOO_MUCH_TEXT"),
    "nested mail": (lambda: nested_mail(10_000), "message/rfc822", "TOO_DEMANDING"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_file_ends_in_an_error_with_a_name(read: Read, name: str) -> None:
    make, mime_type, code = HOSTILE[name]

    with pytest.raises(Permanent) as refusal:
        read(make(), mime_type)

    assert refusal.value.code == code
    assert (code, str(refusal.value)) in REFUSALS.values()
    assert [each["text"] for each in read(b"<p>Der Nachbar</p>", "text/html").elements] == ["Der Nachbar"]


BOMBS = [name for name, (_, _, code) in HOSTILE.items() if code == "TOO_DEMANDING"]

# To Linux, a child has needed at least what its parent needed before: here that is little.
MEASURING = """
import resource, sys
from pathlib import Path
from tickwork.families.extract.engines.local import extract
from tickwork.errors import Permanent
try:
    extract(Path(sys.argv[1]), sys.argv[2], 60, lambda share, message: None)
except Permanent as refusal:
    print(refusal.code, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024)
"""


@pytest.mark.parametrize("name", BOMBS)
def test_a_bomb_fills_what_it_was_given_and_no_more(name: str, tmp_path: Path) -> None:
    make, mime_type, _ = HOSTILE[name]
    file = tmp_path / "bomb"
    file.write_bytes(make())

    measured = subprocess.run([sys.executable, "-c", MEASURING, file, mime_type], stdout=subprocess.PIPE, check=True)

    *_, code, size = measured.stdout.split()
    assert code == b"TOO_DEMANDING"
    assert int(size) <= MEMORY


MAX_PARENT = 256_000_000

# All that the handler does with the elements, but for the database: to find them, count, save and send them.
READING = """
import sys
from pathlib import Path
from psycopg.types.json import Jsonb
from uuid import uuid4
from tickwork.errors import Permanent
from tickwork.families.extract import extract_document
from tickwork.families.extract.chunks import CHUNKS_AT_ONCE, chunks_of, columns_of
from tickwork.families.extract.extractions import Task
from tickwork.families.extract.engines.local import extract
from tickwork.tools.vault import open_vault
from itertools import islice
tenant = uuid4()
task = Task({"id": tenant, "tenant_id": tenant}, tenant, "local", True, 0.0, [])
elements = extract(Path(sys.argv[1]), sys.argv[2], 60, lambda share, message: None).elements
extract_document.save_elements(open_vault(f"file:{sys.argv[1]}-vault", tenant), tenant, tenant, elements)
chunks = chunks_of(elements)
while some := list(islice(chunks, CHUNKS_AT_ONCE)):
    columns_of(task, some)
# Not ru_maxrss: that begins with what the process that started this one had.
peak = next(line for line in open('/proc/self/status') if line.startswith('VmHWM'))
print(len(elements), int(peak.split()[1]) * 1024)
"""

LARGE: dict[str, tuple[Callable[[], bytes], str]] = {
    # Python gives every letter of a text four bytes if one of them needs so many.
    "rows of a CSV": (lambda: ("a;b\n" * 99 + "😀;b\n").encode() * 12_000, "text/csv"),
    "rows of empty cells": (lambda: b"a;;;;;;;;;;;;;;;;;;;;;;;\n" * 190_000, "text/csv"),
    "headings": (lambda: b"# a very short heading of some 40 letters\n" * 99_000, "text/markdown"),
    "one paragraph": (lambda: "ä ".encode() * 1_600_000, "text/plain"),
}


@pytest.mark.parametrize("name", LARGE)
def test_a_large_file_takes_the_parent_little_memory(name: str, tmp_path: Path) -> None:
    make, mime_type = LARGE[name]
    file = tmp_path / "large"
    file.write_bytes(make())

    measured = subprocess.run([sys.executable, "-c", READING, file, mime_type], stdout=subprocess.PIPE, check=True)

    count, size = map(int, measured.stdout.split())
    assert count >= 1
    assert size < MAX_PARENT


def test_a_file_over_the_limit_is_refused_before_a_process_starts(tmp_path: Path) -> None:
    file = tmp_path / "line"
    with file.open("wb") as sparse:
        sparse.truncate(100_000_000)
    heard: list[float] = []

    with pytest.raises(Permanent, match="50 MB") as refusal:
        extract(file, "text/plain", 60, lambda share, message: heard.append(share))

    assert refusal.value.code == "FILE_TOO_LARGE"
    assert heard == []


def test_a_file_that_takes_forever_is_given_up(read: Read) -> None:
    with pytest.raises(Permanent) as refusal:
        read(b"<" * 20_000_000, "text/html", seconds=1)

    assert refusal.value.code == "TOO_DEMANDING"


def test_a_child_that_hangs_is_given_up(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(report_of(1))

    def hold(share: float, message: str) -> None:
        (child,) = own_children()
        os.kill(child, signal.SIGSTOP)

    with pytest.raises(Permanent) as refusal:
        extract(file, PDF, 0.1, hold)

    assert refusal.value.code == "TOO_DEMANDING"
    assert own_children() == []


def test_a_file_that_is_all_tags_is_read(read: Read) -> None:
    deep = b"<div>" * 100_000 + b"tief" + b"</div>" * 100_000

    assert [each["text"] for each in read(deep, "text/html").elements] == ["tief"]


def test_entities_of_html_are_text(read: Read) -> None:
    laughing = (LAUGHS + "<p>&l11;</p><p>Ende</p>").encode()

    assert [each["text"] for each in read(laughing, "text/html").elements] == ["&l11;", "Ende"]


@pytest.mark.parametrize("mime_type", ["text/html", DOCX])
def test_no_entity_opens_a_file(read: Read, tmp_path: Path, mime_type: str) -> None:
    secret = tmp_path / "secret"
    secret.write_text("streng geheim")
    head = external_entity(str(secret))
    file = docx(docx_paragraph("&x;"), head) if mime_type == DOCX else f"{head}<p>&x;</p>".encode()

    try:
        text = str(read(file, mime_type).elements)
    except Permanent as refusal:
        text = str(refusal)

    assert "geheim" not in text


def test_a_page_count_that_lies_is_not_believed(read: Read) -> None:
    lying = pdf([CATALOG, b"<< /Type /Pages /Kids [3 0 R] /Count 2000000000 >>", PAGE])

    assert read(lying, PDF).page_count == 1


def test_a_form_that_draws_itself_ends(read: Read) -> None:
    form = b"/Type /XObject /Subtype /Form /BBox [0 0 9 9] /Resources << /XObject << /X 4 0 R >> >>"
    page = PAGE.replace(b">>", b"/Contents 5 0 R /Resources << /XObject << /X 4 0 R >> >> >>")
    pages = b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>"

    assert read(pdf([CATALOG, pages, page, stream(b"/X Do", form), stream(b"/X Do")]), PDF).page_count == 1


def test_every_limit_is_said_in_its_error() -> None:
    limits = {"FILE_TOO_LARGE": "50 MB", "TOO_MANY_PAGES": "2,000 pages", "TOO_MUCH_TEXT": "5 MB"}

    for code, message in REFUSALS.values():
        assert limits.get(code, "") in message
