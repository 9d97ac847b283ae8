"""Readers of documents end with elements within the limits or with a reason, never with an error of another kind."""

import json
from contextlib import suppress
from functools import cache
from importlib import import_module

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.fuzz import bounded
from tests.world.engine_files import docx, docx_paragraph, report_of
from tickwork.errors import Permanent
from tickwork.families.extract.elements import UNPRINTABLE
from tickwork.families.extract.engines.local import ChildOutput
from tickwork.families.extract.engines.outline import Outline
from tickwork.families.extract.engines.refusals import MAX_TEXT, Refused

TABLE = "<w:tbl><w:tr><w:tc>{0}</w:tc><w:tc>{0}</w:tc></w:tr></w:tbl>"
MAIL = (
    b'From: a@b.c\r\nSubject: =?utf-8?q?Gr=C3=BC=C3=9Fe?=\r\nContent-Type: multipart/alternative; boundary="b"\r\n\r\n'
    b"--b\r\nContent-Type: text/plain; charset=iso-8859-15\r\n"
    b"Content-Transfer-Encoding: quoted-printable\r\n\r\n=E4=\r\n"
    b"--b\r\nContent-Type: text/html\r\nContent-Transfer-Encoding: base64\r\n\r\nPHA+YQ==\r\n"
    b"--b\r\nContent-Disposition: attachment; filename*0*=utf-8''a%20; filename*1=b\r\n\r\nx\r\n--b--\r\n"
)
PAGE = (
    b"<!DOCTYPE html><title>T</title><h1>a</h1><ul><li>b</ul><table><tr><td>c<td>d</table><script>x</script><p>&auml;"
)
PIECES = [
    b"\0",
    b"\xff",
    b"\xed\xa0\x80",
    b"<",
    b">",
    b"&#x110000;",
    b"--b",
    b"|",
    b"`",
    b"**",
    b"\r",
    b"]]>",
    b"%PDF-",
    b"=?x?q?",
]


@cache
def sample(kind: str) -> bytes:
    match kind:
        case "pdf":
            return report_of(1)
        case "docx":
            return docx(docx_paragraph("Titel", '<w:pStyle w:val="h"/>') + TABLE.format(docx_paragraph("Zelle")))
        case "html":
            return PAGE
        case "mail":
            return MAIL
        case "sheet":
            return b'a;b\n"c ""d""";e\n' * 5
        case "markdown":
            return b"# Titel\n\n> **fett** und `code`\n\n| a | b |\n|---|:-:|\n| c | [d](e) |\n\n- x\n\n```\ny\n"
        case _:
            return "ÜBERSCHRIFT\n\n- eins\n- zwei\n\n1. drei\n\nText.\n===\n".encode()


@st.composite
def mutated(draw: st.DrawFn, kind: str) -> bytes:
    """A good file with bytes cut out, doubled and put in."""
    data = bytearray(sample(kind))
    for _ in range(draw(st.integers(1, 6))):
        at = draw(st.integers(0, len(data)))
        length = draw(st.sampled_from([0, 1, 4, 50, len(data)]))
        other = draw(st.sampled_from([b"", *PIECES]) | st.binary(max_size=20))
        twice = draw(st.booleans())
        data[at : at + length] = other + (bytes(data[at : at + length]) * 2 if twice else b"")
    return bytes(data[:200_000])


@pytest.mark.parametrize("kind", ["pdf", "docx", "html", "mail", "sheet", "markdown", "plain"])
def test_a_mutated_document_is_read_or_refused(kind: str) -> None:
    read = import_module(f"tickwork.families.extract.engines.{kind}").read

    @bounded
    @given(mutated(kind))
    def check(data: bytes) -> None:
        written: list[dict[str, object]] = []
        with suppress(Refused):
            read(data, Outline(written.append))
        text = json.dumps(written, ensure_ascii=False)
        assert len(text.encode()) < 20 * MAX_TEXT
        assert not UNPRINTABLE.search(text)

    check()


VALUES = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(),
    lambda each: st.lists(each) | st.dictionaries(st.text(), each),
)
SAID = st.dictionaries(
    st.sampled_from(["element", "progress", "message", "refused", "page_count", "defect", "unconfined"]),
    VALUES | st.fixed_dictionaries(dict.fromkeys(("type", "element_id", "text", "metadata"), VALUES)),
)


@bounded
@given(st.binary() | (SAID | VALUES).map(lambda said: json.dumps(said).encode()))
def test_whatever_a_hijacked_child_says_is_understood_or_refused(line: bytes) -> None:
    output = ChildOutput(None, 0.0, lambda share, message: None)  # type: ignore[arg-type]

    with suppress(Permanent):
        output._take(line)
