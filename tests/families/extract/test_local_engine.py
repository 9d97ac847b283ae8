"""The local engine: files become elements, in a process that knows nothing of ours and leaves nothing behind."""

import re
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterable
from email.message import EmailMessage
from pathlib import Path

import pypdfium2  # type: ignore[import-untyped]
import pytest

from sample_paper import Paper
from tests.world.engine_files import (
    DOCX,
    PDF,
    W,
    docx,
    docx_paragraph,
    own_children,
    pdf_form,
    pdf_with_content,
    put_lines,
    report_of,
)
from tests.world.waiting import until
from tickwork.errors import Permanent
from tickwork.families.extract.elements import Element, Extracted
from tickwork.families.extract.engines.local import extract

Read = Callable[[bytes | str, str], Extracted]

LEFT = [
    "Die linke Spalte beginnt hier und",
    "geht über mehrere Zeilen, wie es in",
    "Zeitungen üblich ist, bis an ihren",
    "Rand. Dann folgt die letzte Zeile",
    "der linken Spalte mit ihrem Ende.",
]
RIGHT = [
    "Die rechte Spalte wird danach erst",
    "gelesen, obwohl sie auf derselben",
    "Höhe steht. Auch sie besteht aus",
    "einigen Zeilen, die den Rand fast",
    "erreichen, und hört dann hier auf.",
]


@pytest.fixture
def read(tmp_path: Path) -> Read:
    def read(content: bytes | str, mime_type: str) -> Extracted:
        file = tmp_path / "file"
        file.write_bytes(content if isinstance(content, bytes) else content.encode())
        return extract(file, mime_type, 60, lambda share, message: None)

    return read


def outline(extracted: Extracted) -> list[tuple[str, str]]:
    return [(element["type"], element["text"]) for element in extracted.elements]


def of_type(elements: Iterable[Element], type: str) -> list[str]:
    return [element["text"] for element in elements if element["type"] == type]


def words(text: str) -> Counter[str]:
    return Counter(text.replace("•", " ").split())


@pytest.fixture(scope="module")
def hundred(tmp_path_factory: pytest.TempPathFactory) -> tuple[bytes, Extracted]:
    data = report_of(100)
    file = tmp_path_factory.mktemp("report") / "report.pdf"
    file.write_bytes(data)
    return data, extract(file, PDF, 60, lambda share, message: None)


def test_a_hundred_pages_are_read_with_their_numbers_headings_lists_and_tables(
    hundred: tuple[bytes, Extracted],
) -> None:
    _, extracted = hundred

    assert extracted.page_count == 100
    for number in range(1, 101):
        page = [element for element in extracted.elements if element["metadata"]["page_number"] == number]
        assert of_type(page, "Title") == [f"Bericht {number}", f"Prüfung der Anlage {number}"]
        assert [text.partition(":")[0] for text in of_type(page, "NarrativeText")] == [
            *(f"Absatz {number}.{part}" for part in range(4)),
            f"Ende {number}.",
        ]
        assert of_type(page, "ListItem") == [f"Schlüssel {number}.{part} wurde übergeben" for part in range(3)]
        assert of_type(page, "Table") == [
            f"Pos\tBezeichnung\tBetrag\n1\tHeizung {number}\t100,00\n2\tWasser\t50,00",
        ]


def test_the_text_of_each_page_is_that_of_pdfium(hundred: tuple[bytes, Extracted]) -> None:
    data, extracted = hundred

    for number, page in enumerate(pypdfium2.PdfDocument(data), 1):
        own = " ".join(each["text"] for each in extracted.elements if each["metadata"]["page_number"] == number)
        assert words(own) == words(page.get_textpage().get_text_range())


def test_elements_know_the_heading_they_stand_under(hundred: tuple[bytes, Extracted]) -> None:
    _, extracted = hundred
    first, second, below, *_ = extracted.elements

    assert first["metadata"].get("category_depth") == 0
    assert "parent_id" not in first["metadata"]
    assert second["metadata"].get("category_depth") == 1
    assert second["metadata"]["parent_id"] == first["element_id"]
    assert below["metadata"]["parent_id"] == second["element_id"]
    assert len({element["element_id"] for element in extracted.elements}) == len(extracted.elements)


def test_the_same_file_gives_the_same_elements(read: Read) -> None:
    assert list(read(report_of(2), PDF).elements) == list(read(report_of(2), PDF).elements)


@pytest.mark.parametrize("shift", [0, 6], ids=["on the same height", "between the lines"])
def test_columns_are_read_one_after_the_other(read: Read, shift: float) -> None:
    paper = Paper()
    paper.heading("Zwei Spalten", 18)
    # Line by line across the page, as some programs write it.
    for number, (left, right) in enumerate(zip(LEFT, RIGHT, strict=True)):
        paper.put(64, 700 - 13 * number, left, 10)
        paper.put(310, 700 - shift - 13 * number, right, 10)
    put_lines(
        paper, 64, 600, ["Ein Absatz über die ganze Breite steht darunter und gehört zu keiner der beiden Spalten."]
    )

    assert outline(read(paper.bytes(), PDF)) == [
        ("Title", "Zwei Spalten"),
        ("NarrativeText", " ".join(LEFT)),
        ("NarrativeText", " ".join(RIGHT)),
        ("NarrativeText", "Ein Absatz über die ganze Breite steht darunter und gehört zu keiner der beiden Spalten."),
    ]


def test_a_paragraph_goes_on_in_the_next_column(read: Read) -> None:
    paper = Paper()
    put_lines(paper, 64, 700, [*LEFT[:-1], "der linken Spalte, die noch nicht"])
    put_lines(paper, 310, 700, ["zu Ende ist, sondern hier weiter", *RIGHT[1:]])

    assert len(read(paper.bytes(), PDF).elements) == 1


def test_words_parted_at_the_end_of_a_line_are_whole_again(read: Read) -> None:
    paper = Paper()
    put_lines(
        paper,
        64,
        700,
        [
            "Die Abrechnung der Neben-",
            "kosten liegt bei. Schreiben Sie an die E-Mail-",
            "Adresse der Verwaltung. Für Haus-",
            "und Grundbesitzer gilt die Größen-",
            "ordnung von 5 Prozent.",
        ],
    )

    (paragraph,) = read(paper.bytes(), PDF).elements
    assert paragraph["text"] == (
        "Die Abrechnung der Nebenkosten liegt bei. Schreiben Sie an die E-Mail-Adresse der Verwaltung. "
        "Für Haus- und Grundbesitzer gilt die Größenordnung von 5 Prozent."
    )


def test_ligatures_and_umlauts_are_letters(read: Read) -> None:
    paper = Paper()
    paper.put(64, 700, "Pﬂicht zur ﬁnanziellen Prüfung: Ä Ö Ü ä ö ü ß § €")

    assert of_type(read(paper.bytes(), PDF).elements, "NarrativeText") == [
        "Pflicht zur finanziellen Prüfung: Ä Ö Ü ä ö ü ß § €"
    ]


def test_a_cell_over_several_columns_stays_whole(read: Read) -> None:
    paper = Paper()
    for row, widths in enumerate([(100, 100, 100), (100, 100, 100), (200, 100)]):
        x = 64.0
        for column, width in enumerate(widths):
            paper.frame(x, 700 - 20 * row, width, 20)
            paper.put(
                x + 4,
                705 - 20 * row,
                "Summe aller Kosten des Hauses im Jahr" if (row, column) == (2, 0) else f"z{row}s{column}",
                9,
            )
            x += width

    (table,) = read(paper.bytes(), PDF).elements
    assert table["text"] == "z0s0\tz0s1\tz0s2\nz1s0\tz1s1\tz1s2\nSumme aller Kosten des Hauses im Jahr\t\tz2s1"
    assert (
        "<tr><td>Summe aller Kosten des Hauses im Jahr</td><td></td><td>z2s1</td></tr>"
        in table["metadata"]["text_as_html"]
    )


def test_lines_of_a_cell_are_one_but_rows_are_not(read: Read) -> None:
    paper = Paper()
    rows = [(0, ("Pos", "Leistung", "Betrag")), (20, ("1", "Wartung der", "50,00")), (31, ("", "Anlage", ""))]
    rows += [(51, ("2", "Anfahrt", "9,00")), (71, ("", "Summe", "59,00"))]
    for y, cells in rows:
        for x, cell in zip((64, 100, 300), cells, strict=True):
            paper.put(x, 700 - y, cell)

    assert outline(read(paper.bytes(), PDF)) == [
        ("Table", "Pos\tLeistung\tBetrag\n1\tWartung der Anlage\t50,00\n2\tAnfahrt\t9,00\n\tSumme\t59,00")
    ]


def test_a_page_that_lies_on_its_side_is_read_upright(read: Read) -> None:
    cells = b"".join(
        b"BT /F1 10 Tf 0 1 -1 0 %d %d Tm (z%ds%d) Tj ET " % (100 + 13 * row, 100 + 200 * column, row, column)
        for row in range(3)
        for column in range(2)
    )
    turned = pdf_with_content(cells).replace(b"/Type /Page /", b"/Type /Page /Rotate 90 /")

    assert outline(read(turned, PDF)) == [("Table", "z0s0\tz0s1\nz1s0\tz1s1\nz2s0\tz2s1")]


def test_type_that_is_scaled_counts_as_large_as_it_looks(read: Read) -> None:
    body = b"".join(
        b"BT /F1 1 Tf 10 0 0 10 64 %d Tm (Der Text ist klein gesetzt.) Tj ET " % (600 - 40 * n) for n in range(3)
    )
    extracted = read(pdf_with_content(b"BT /F1 1 Tf 24 0 0 24 64 700 Tm (Gross) Tj ET " + body), PDF)

    assert outline(extracted)[0] == ("Title", "Gross")
    assert of_type(extracted.elements, "Title") == ["Gross"]


def test_a_pdf_without_text_has_pages_but_no_elements(read: Read) -> None:
    extracted = read(pdf_with_content(b""), PDF)

    assert (len(extracted.elements), extracted.page_count) == (0, 1)


def test_a_word_document_tells_headings_lists_tables_and_pages(read: Read) -> None:
    styles = (
        f'<w:styles {W}><w:style w:styleId="berschrift1"><w:name w:val="heading 1"/></w:style>'
        '<w:style w:styleId="Eigene"><w:basedOn w:val="berschrift1"/></w:style>'
        '<w:style w:styleId="Kreis"><w:basedOn w:val="Kreis"/></w:style></w:styles>'
    )
    cell = "<w:tc><w:p><w:r><w:t>{}</w:t></w:r></w:p></w:tc>"
    body = (
        docx_paragraph("Mietvertrag", '<w:pStyle w:val="berschrift1"/>')
        + docx_paragraph("Erster Absatz", '<w:pStyle w:val="Kreis"/>')
        + docx_paragraph("Punkt", "<w:numPr/>")
        + f"<w:tbl><w:tr>{cell.format('a')}{cell.format('b &amp; c')}</w:tr></w:tbl>"
        + '<w:p><w:r><w:br w:type="page"/></w:r></w:p>'
        + docx_paragraph("Auf Seite zwei", '<w:pStyle w:val="Eigene"/>')
        + "<w:p><w:r><w:rPr><w:b/></w:rPr><w:t>Fett</w:t></w:r></w:p>"
        + "<w:p><w:del><w:r><w:delText>weg</w:delText></w:r></w:del><w:r><w:t>bleibt</w:t></w:r></w:p>"
    )

    extracted = read(docx(body, **{"word/styles.xml": styles}), DOCX)

    assert extracted.page_count == 2
    assert [
        (*each, element["metadata"]["page_number"])
        for each, element in zip(outline(extracted), extracted.elements, strict=True)
    ] == [
        ("Title", "Mietvertrag", 1),
        ("NarrativeText", "Erster Absatz", 1),
        ("ListItem", "Punkt", 1),
        ("Table", "a\tb & c", 1),
        ("Title", "Auf Seite zwei", 2),
        ("Title", "Fett", 2),
        ("NarrativeText", "bleibt", 2),
    ]
    assert (
        list(extracted.elements)[3]["metadata"]["text_as_html"]
        == "<table><tr><td>a</td><td>b &amp; c</td></tr></table>"
    )


def test_breaks_that_word_has_seen_count_once(read: Read) -> None:
    seen = '<w:p><w:r><w:br w:type="page"/></w:r></w:p><w:p><w:r><w:lastRenderedPageBreak/><w:t>zwei</w:t></w:r></w:p>'

    extracted = read(docx(docx_paragraph("eins") + seen), DOCX)

    assert [element["metadata"]["page_number"] for element in extracted.elements] == [1, 2]


def test_html_tells_headings_lists_and_tables_and_hides_scripts(read: Read) -> None:
    page = """<!DOCTYPE html><html><head><title>Name der Seite</title><style>p {}</style></head><body>
      <h1>Name der Seite</h1><h2>Kosten &amp; Fristen</h2><p>Erste<br>Zweite   Zeile</p><script>alert("x")</script>
      <ul><li>eins<li><p>zwei</p></ul>
      <table><tr><th>A<th>B<tr><td>1<td>2</table>
      <table><tr><td>Rahmen<table><tr><td>x</td><td>y</td></tr></table></td></tr></table>
      <div>Ende"""

    assert outline(read(page, "text/html")) == [
        ("Title", "Name der Seite"),
        ("Title", "Kosten & Fristen"),
        ("NarrativeText", "Erste\nZweite Zeile"),
        ("ListItem", "eins"),
        ("ListItem", "zwei"),
        ("Table", "A\tB\n1\t2"),
        ("NarrativeText", "Rahmen"),
        ("Table", "x\ty"),
        ("NarrativeText", "Ende"),
    ]


def test_markdown_is_read_without_its_marks(read: Read) -> None:
    text = (
        "# Haus *ordnung*\n\nEin **fetter** Satz mit [Verweis](https://example.org)\nauf zwei Zeilen.\n\n"
        "- eins\n- zwei\n  geht weiter\n\nUnter\n-----\n\n| A | B |\n|---|:-:|\n| 1 | 2 |\n\n"
        "```\ncode_bleibt *so*\n```\n> Zitat\n"
    )

    extracted = read(text, "text/markdown")

    assert outline(extracted) == [
        ("Title", "Haus ordnung"),
        ("NarrativeText", "Ein fetter Satz mit Verweis auf zwei Zeilen."),
        ("ListItem", "eins"),
        ("ListItem", "zwei geht weiter"),
        ("Title", "Unter"),
        ("Table", "A\tB\n1\t2"),
        ("CodeSnippet", "code_bleibt *so*"),
        ("NarrativeText", "Zitat"),
    ]
    assert [each["metadata"].get("category_depth") for each in extracted.elements if each["type"] == "Title"] == [0, 1]


def test_plain_text_falls_into_headings_paragraphs_and_items(read: Read) -> None:
    text = "HAUSORDNUNG\n\n1. Ruhezeiten\n\nVon 22 bis 6 Uhr ist Ruhe.\nAuch sonntags.\n\n- eins\n- zwei\n"

    assert outline(read(text, "text/plain; charset=utf-8")) == [
        ("Title", "HAUSORDNUNG"),
        ("Title", "1. Ruhezeiten"),
        ("NarrativeText", "Von 22 bis 6 Uhr ist Ruhe.\nAuch sonntags."),
        ("ListItem", "eins"),
        ("ListItem", "zwei"),
    ]


@pytest.mark.parametrize("separator", [";", ",", "\t", "|"])
def test_a_csv_is_a_table_whatever_parts_its_cells(read: Read, separator: str) -> None:
    rows = [["Tag", "Zweck", "Betrag"], ["1.2.", f'"Miete{separator} ""warm"""', "12.50"], ["2.2.", "Müll", "3.10"]]

    (table,) = read("\r\n".join(separator.join(row) for row in rows), "text/csv").elements

    zweck = "Miete" + ("" if separator == "\t" else separator) + ' "warm"'
    assert table["type"] == "Table"
    assert table["text"] == f"Tag\tZweck\tBetrag\n1.2.\t{zweck}\t12.50\n2.2.\tMüll\t3.10"


def test_a_long_csv_is_several_tables(read: Read) -> None:
    extracted = read("\n".join(f"{number};x" for number in range(250)), "text/csv")

    assert [len(element["text"].splitlines()) for element in extracted.elements] == [100, 100, 50]


def test_a_mail_tells_who_and_when_its_text_and_its_attachments(read: Read) -> None:
    mail = (
        "From: =?utf-8?q?J=C3=BCrgen?= <j@example.org>\r\nTo: b@example.org\r\nSubject: =?utf-8?b?R3LDvMOfZQ==?=\r\n"
        "Date: Mon, 1 Jun 2026 10:00:00 +0200\r\nContent-Type: multipart/mixed; boundary=m\r\n\r\n"
        "--m\r\nContent-Type: multipart/alternative; boundary=a\r\n\r\n"
        "--a\r\nContent-Type: text/plain; charset=iso-8859-1\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n"
        "Sch=F6ne Gr=FC=DFe.\r\n"
        "--a\r\nContent-Type: text/html\r\n\r\n<p>Nicht dies</p>\r\n--a--\r\n"
        "--m\r\nContent-Type: application/pdf\r\n"
        "Content-Disposition: attachment; filename*=utf-8''Pr%C3%BCfung.pdf\r\n\r\nx\r\n"
        "--m\r\nContent-Type: message/rfc822\r\n\r\nSubject: Angeheftet\r\n\r\nText\r\n--m--\r\n"
    )

    extracted = read(mail, "message/rfc822")

    assert outline(extracted) == [
        ("Title", "Grüße"),
        ("EmailMessage", "From: Jürgen <j@example.org>\nTo: b@example.org\nDate: Mon, 1 Jun 2026 10:00:00 +0200"),
        ("NarrativeText", "Schöne Grüße."),
        ("UncategorizedText", "Attachments:\nPrüfung.pdf\nAngeheftet"),
        ("Title", "Angeheftet"),
        ("Title", "Angeheftet"),
        ("Title", "Text"),
    ]
    assert extracted.left_out == ("Prüfung.pdf",)


def mail_with(*attached: tuple[str, str, bytes], subject: str = "Unterlagen") -> bytes:
    mail = EmailMessage()
    mail["Subject"], mail["From"] = subject, "a@example.org"
    mail.set_content("Anbei die Unterlagen, wie besprochen.")
    for name, mime_type, content in attached:
        main, _, sub = mime_type.partition("/")
        mail.add_attachment(content, maintype=main, subtype=sub, filename=name)
    return mail.as_bytes()


def test_what_is_attached_to_a_mail_is_read_on_pages_of_its_own_or_named(read: Read) -> None:
    extracted = read(
        mail_with(
            ("Bericht.pdf", PDF, report_of(2)),
            ("Vertrag.docx", "application/octet-stream", docx(docx_paragraph("Die Miete beträgt 700 Euro."))),
            ("Foto.png", "image/png", b"\x89PNG"),
            ("leer.pdf", PDF, pdf_with_content(b"")),
            ("kaputt.pdf", PDF, b"%PDF-1.4 und dann nichts"),
            ("weiter.eml", "application/octet-stream", mail_with(("Notiz.txt", "text/plain", b"Ganz innen."))),
        ),
        "message/rfc822",
    )

    pages = {each["text"]: each["metadata"]["page_number"] for each in extracted.elements}
    assert (pages["Bericht 1"], pages["Bericht 2"]) == (2, 3)
    assert pages["Die Miete beträgt 700 Euro."] == 4
    assert extracted.left_out == ("Foto.png", "leer.pdf", "kaputt.pdf")
    assert "Ganz innen." in pages
    headed = {each["metadata"].get("parent_id"): each["text"] for each in extracted.elements}
    titles = {each["element_id"]: each["text"] for each in extracted.elements if each["type"] == "Title"}
    assert {titles[id]: text for id, text in headed.items() if id}["Vertrag.docx"] == "Die Miete beträgt 700 Euro."


def test_an_attachment_with_too_much_text_costs_the_mail_nothing(read: Read) -> None:
    huge = ("riesig.txt", "text/plain", b"word " * 1_100_000)

    extracted = read(mail_with(huge, ("danach.txt", "text/plain", b"Danach.")), "message/rfc822")

    assert extracted.left_out == ("riesig.txt", "danach.txt")
    assert ("NarrativeText", "Anbei die Unterlagen, wie besprochen.") in outline(extracted)


def test_of_many_attachments_the_first_are_read_and_all_are_named(read: Read) -> None:
    many = [(f"{number}.txt", "text/plain", f"Inhalt {number} steht da.".encode()) for number in range(60)]

    extracted = read(mail_with(*many), "message/rfc822")

    assert extracted.left_out == tuple(f"{number}.txt" for number in range(50, 60))
    assert ("NarrativeText", "Inhalt 49 steht da.") in outline(extracted)


def test_what_is_cut_of_a_field_is_counted(read: Read) -> None:
    extracted = read("Subject: " + "x" * 1_500 + "\r\n\r\nText.", "message/rfc822")

    assert (len(outline(extracted)[0][1]), extracted.cut) == (1_000, 500)


def test_a_mail_with_nothing_but_html_is_read_as_such(read: Read) -> None:
    mail = "Subject: Angebot\r\nContent-Type: text/html; charset=utf-8\r\n\r\n<h2>Preise</h2><ul><li>gut</ul>"

    assert outline(read(mail, "message/rfc822"))[1:] == [("Title", "Preise"), ("ListItem", "gut")]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
def test_text_is_decoded_by_its_mark_or_by_trying(read: Read, encoding: str) -> None:
    extracted = read("Größe: 5 €, schöne Grüße.".encode(encoding), "text/plain")

    assert of_type(extracted.elements, "NarrativeText") == ["Größe: 5 €, schöne Grüße."]


@pytest.mark.parametrize(
    "content",
    [
        "Schöne Grüße".encode("utf-16-le"),
        "Schöne Grüße".encode("utf-16-be"),
        "Schöne Grüße".encode() + bytes(1000),
        b"\0".join(each.encode() for each in ("Sch", "ö", "ne ", "Grü", "ße")),
    ],
    ids=["UTF-16-LE", "UTF-16-BE", "filled up", "strewn"],
)
def test_a_text_with_many_nuls_is_read(read: Read, content: bytes) -> None:
    assert outline(read(content, "text/plain")) == [("Title", "Schöne Grüße")]


def test_a_program_is_no_text(read: Read) -> None:
    with pytest.raises(Permanent) as refusal:
        read(b"MZ" + bytes(range(32)) * 20 + bytes(1000), "text/plain")

    assert refusal.value.code == "CORRUPT_FILE"


@pytest.mark.parametrize(
    ("content", "mime_type"),
    [
        ("Ein\0 Wort.", "text/plain"),
        ("<p>Ein&#0;&#xD800;\ufffe Wort.</p>", "text/html"),
        ("\ufeffEin\ud83d Wort.".encode("utf-16-le", "surrogatepass"), "text/plain"),
        (pdf_with_content(b"BT /F1 12 Tf 50 700 Td (Ein\\000\\001 Wort.) Tj ET"), PDF),
    ],
    ids=["NUL", "HTML", "UTF-16", "PDF"],
)
def test_what_no_database_stores_is_gone(read: Read, content: bytes | str, mime_type: str) -> None:
    (element,) = read(content, mime_type).elements

    assert re.sub("\ufffd", "", element["text"]) == "Ein Wort."
    element["text"].encode()


def test_progress_rises_from_page_to_page(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(report_of(5))
    heard: list[tuple[float, str]] = []

    extract(file, PDF, 60, lambda share, message: heard.append((share, message)))

    shares = [share for share, _ in heard]
    assert shares == sorted(shares)
    assert 0 <= shares[0] <= shares[-1] <= 1
    assert [message for _, message in heard if "page" in message] == [f"reading page {n} of 5" for n in range(1, 6)]


class Stop(Exception):
    pass


def test_whoever_listens_can_stop_it(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(report_of(50))

    def stop(share: float, message: str) -> None:
        raise Stop

    with pytest.raises(Stop):
        extract(file, PDF, 60, stop)

    assert own_children() == []


def test_the_child_gets_no_secrets_and_no_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TICKWORK_DATABASE_URL", "postgresql://a:geheim@b/c")
    file = tmp_path / "file"
    file.write_bytes(b"Guten Tag.")
    seen: list[bytes] = []

    def look(share: float, message: str) -> None:
        (child,) = own_children()
        seen.extend(Path(f"/proc/{child}/{name}").read_bytes() for name in ("environ", "cmdline"))
        raise Stop

    with pytest.raises(Stop):
        extract(file, "text/plain", 60, look)

    environment, command = seen
    assert {each.partition(b"=")[0] for each in environment.split(b"\0") if each} <= {b"PYTHONPATH", b"LD_LIBRARY_PATH"}
    assert str(tmp_path).encode() not in command


PARENT = """
import os, sys
from pathlib import Path
from tickwork.families.extract.engines.local import extract

def report(share, message):
    print(Path(f"/proc/self/task/{os.getpid()}/children").read_text(), flush=True)

extract(Path(sys.argv[1]), "text/html", 300, report)
"""


def test_the_child_dies_with_its_parent(tmp_path: Path) -> None:
    file = tmp_path / "file"
    # It is read for ten seconds or more.
    file.write_bytes(b"<" * 45_000_000)
    with subprocess.Popen([sys.executable, "-c", PARENT, file], stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout
        child = int(parent.stdout.readline())
        parent.send_signal(signal.SIGKILL)

    until(lambda: is_gone(child), "the child lives on")


def is_gone(process: int) -> bool:
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return True
    return state in "ZX"


def test_the_filled_fields_of_a_form_are_read(read: Read) -> None:
    form = pdf_form(
        b"/FT /Tx /T (name) /TU (Name des Mieters) /V (Erika Muster)",
        b"/FT /Tx /T (beruf) /V <FEFF00DC006200650072007300650074007A006500720069006E>",
        b"/FT /Tx /T (leer)",
        b"/FT /Btn /T (Haustiere) /V /Ja /AS /Ja /AP << /N << /Ja 4 0 R /Off 4 0 R >> >>",
        b"/FT /Btn /T (Raucher) /V /Off /AS /Off /AP << /N << /Ja 4 0 R /Off 4 0 R >> >>",
        b"/FT /Ch /T (Familienstand) /V (ledig) /Opt [(ledig) (verheiratet)]",
        b"/FT /Tx /T (name) /TU (Name des Mieters) /V (Erika Muster)",
    )

    assert outline(read(form, PDF)) == [
        ("NarrativeText", "Selbstauskunft"),
        (
            "Table",
            "Name des Mieters\tErika Muster\nberuf\tÜbersetzerin\nHaustiere\tJa\nFamilienstand\tledig",
        ),
    ]


def test_a_form_without_any_text_beside_its_fields_is_read(read: Read) -> None:
    assert outline(read(pdf_form(b"/FT /Tx /T (Name) /V (Erika)", text=b""), PDF)) == [("Table", "Name\tErika")]
