"""Exports as PDF: they verify themselves, show each audience its part, and no text breaks out of the page."""

import io
from typing import Any

import pypdf
import pypdfium2  # type: ignore[import-untyped]
import pytest
import zxingcpp
from pypdf.generic import StreamObject

from tests.passports.exports.sample import ATTRIBUTES, SECRET, Sample, evidence_of, sample
from tickwork.passports.exports import typesetting
from tickwork.passports.exports.pdf import Codes, File, pdf, printable
from tickwork.passports.exports.typesetting import NotTypeset, TemplateMissing, TooDemanding, run_typst
from tickwork.passports.exports.view import view_of

QR_TEXT = f"BPC1|pv={'0' * 36}|ph={'A' * 52}|pr={'B' * 51}A|rh={'C' * 51}Q"
LINK = "https://id.example.com/01/09506000134352/21/BAT-2027_0001"
HOSTILE = [
    "#panic()",
    '") #read("/etc/passwd")',
    "$ #sys.inputs $ ] #eval(\"1\") `raw` <label> @ref *b* _i_ // -- ",
    "电池 🔋 \x00\x01 \u202e\u200d\ufdfa\ue000\uffff e\u0301",
    "W" * 5000,
    "\n\n= heading\n- item",
]  # fmt: skip


def files_of(version: Sample) -> list[File]:
    return [
        File("passport.json", evidence_of(version).decode(), "application/json", "Verifies this file"),
        File("signature.bin", version.signature, "application/octet-stream", "Ed25519", "supplement"),
    ]


def exported(audience: Any = "public", link: str | None = None, **changes: Any) -> bytes:
    version = sample(**changes)
    payload = [File("payload.json", version.payload.decode(), "application/json", "All of it")]
    files = [*files_of(version), *(payload if audience == "owner" else [])]
    return pdf(view_of(version.payload, version.receipt, audience), Codes(QR_TEXT, link), files)


@pytest.fixture(scope="module")
def public() -> bytes:
    return exported()


def text_of(content: bytes) -> str:
    with pypdfium2.PdfDocument(content) as document:
        return "\n".join(page.get_textpage().get_text_range() for page in document)


def all_of(content: bytes) -> bytes:
    """Every stream of the file, decompressed, and every other object."""
    reader = pypdf.PdfReader(io.BytesIO(content))
    found = [content]
    for number in range(1, len(reader.xref[0]) + len(reader.xref_objStm) + 1):
        each = reader.get_object(number)
        found.append(each.get_data() if isinstance(each, StreamObject) else repr(each).encode())
    return b"\n".join(found)


def test_the_attached_files_come_back_as_they_were(public: bytes) -> None:
    version = sample()

    attached = pypdf.PdfReader(io.BytesIO(public)).attachments

    assert attached == {"passport.json": [evidence_of(version)], "signature.bin": [version.signature]}


def test_it_says_that_it_is_pdf_a_3b_and_accessible(public: bytes) -> None:
    reader = pypdf.PdfReader(io.BytesIO(public))
    metadata = reader.trailer["/Root"]["/Metadata"].get_data().decode()  # type: ignore[index]

    assert "<pdfaid:part>3</pdfaid:part><pdfaid:conformance>B</pdfaid:conformance>" in metadata
    assert "<pdfuaid:part>1</pdfuaid:part>" in metadata
    assert reader.metadata
    assert reader.metadata.creation_date_raw == "D:20270218000000Z"


def test_the_same_version_gives_the_same_bytes(public: bytes) -> None:
    assert exported() == public


def test_the_page_shows_groups_values_and_units(public: bytes) -> None:
    text = text_of(public)

    for part in ("Zellwerk Süd GmbH & Co. KG", "Carbon footprint", "Rated capacity", "Ah", "nominal: 355", "Li⁺"):
        assert part in text


def test_restricted_values_are_nowhere_in_a_public_file(public: bytes) -> None:
    whole = exported("owner")

    assert SECRET in text_of(whole)
    assert SECRET not in text_of(public)
    for part in (SECRET.encode(), b"materials.composition", b"Materials"):
        assert part in all_of(whole)
        assert part not in all_of(public)


def codes_of(content: bytes) -> list[str]:
    """As they are read from the first page when it is printed, from left to right."""
    with pypdfium2.PdfDocument(content) as document:
        codes = zxingcpp.read_barcodes(document[0].render(scale=300 / 72).to_numpy())
    return [code.text for code in sorted(codes, key=lambda code: code.position.top_left.x)]


def test_the_qr_code_can_be_read_from_the_printed_page(public: bytes) -> None:
    assert codes_of(public) == [QR_TEXT]
    assert "Proof:" not in text_of(public)


def test_a_link_is_beside_the_proof_and_the_page_says_which_is_which() -> None:
    content = exported(link=LINK)

    assert codes_of(content) == [QR_TEXT, LINK]
    text = " ".join(text_of(content).split())
    assert "Proof: verifies this passport" in text
    assert "Link: opens its web page" in text


def test_hostile_texts_are_printed_and_nothing_else() -> None:
    attributes = [(f"a.b{number}", text, text, "public") for number, text in enumerate(HOSTILE)]

    text = text_of(exported(attributes=attributes, battery_identifier=HOSTILE[2], model=HOSTILE[3], issuer=HOSTILE[1]))

    assert "#panic()" in text
    assert "root:" not in text
    assert "[U+7535][U+6C60]" in text.replace("\r", "").replace("\n", "").replace("\ufffe", "")


def test_every_printable_character_can_be_printed() -> None:
    kept = "".join(
        chr(code) for code in range(0x10000) if not 0xD800 <= code < 0xE000 and printable(chr(code)) == chr(code)
    )

    content = exported(attributes=[("a.b", kept, None, "public")])

    assert len(kept) > 1000
    assert content.startswith(b"%PDF-1.7")


def test_an_unknown_template_is_missing() -> None:
    version = sample()

    with pytest.raises(TemplateMissing, match="standard"):
        pdf(view_of(version.payload, version.receipt, "public"), Codes(QR_TEXT), [], "../standard")


@pytest.mark.parametrize("source", ['#read("/etc/passwd")', '#import "@preview/cetz:0.3.4"', "#panic()"])
def test_a_template_reaches_no_file_and_no_network(source: str) -> None:
    with pytest.raises(NotTypeset):
        run_typst(source, b"{}", "2027-02-18T00:00:00Z")


def test_a_template_that_needs_too_long_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(typesetting, "SECONDS", 1)

    with pytest.raises(TooDemanding):
        run_typst(
            "#for a in range(9000) { for b in range(9000) { let c = calc.pow(a, 2) } }", b"{}", "2027-02-18T00:00:00Z"
        )


def test_a_passport_of_hundreds_of_attributes_has_many_pages() -> None:
    attributes = [(f"group_{number // 50}.attribute_{number}", number, "KGM", "public") for number in range(400)]

    content = exported(attributes=[*ATTRIBUTES, *attributes])

    assert len(pypdf.PdfReader(io.BytesIO(content)).pages) > 8
