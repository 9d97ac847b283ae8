"""How fast the local engine reads a PDF, with its child process and all, against PDFium's text alone."""

from pathlib import Path
from tempfile import TemporaryDirectory

from sample_paper import Paper
from tickwork.families.extract.engines import local
from tickwork_bench.measure import Bench, Measurement, Result, Target, interleaved, median_figure, seconds_of

PAGES = 100
PARAGRAPH = (
    "Die Abrechnung der Betriebskosten wird dem Mieter spätestens zum Ablauf des zwölften Monats nach dem Ende des "
    "Abrechnungszeitraums mitgeteilt. Einwendungen sind innerhalb eines Jahres nach Zugang geltend zu machen. "
)


def run(bench: Bench) -> Result:
    with TemporaryDirectory() as folder:
        file = Path(folder, "long.pdf")
        file.write_bytes(document())
        check(file)
        runs = {
            "local engine": lambda: PAGES / seconds_of(lambda: extract(file)),
            "text of PDFium alone": lambda: PAGES / seconds_of(lambda: bare_text(file)),
        }
        samples = interleaved(bench, runs, bench.size(15, 5))
    return Result(
        [median_figure(name, each, "pages/s", "text of PDFium alone") for name, each in samples.items()],
        [Target("local engine", ["text of PDFium alone"], at_least=0.1)],
    )


def document() -> bytes:
    paper = Paper()
    for number in range(1, PAGES + 1):
        paper.heading(f"{number}. Abschnitt")
        paper.paragraph(PARAGRAPH * 3)
        paper.items(["Heizung und Warmwasser", "Grundsteuer", "Hausmeister"])
        paper.table([["Position", "Betrag"], ["Wasser", "312,40"], ["Müll", "98,10"]], [120, 80])
        if number < PAGES:
            paper.turn_page()
    return paper.bytes()


def check(file: Path) -> None:
    """Only what reads the same text is worth comparing."""
    found = local.extract(file, "application/pdf", 60, lambda share, message: None)
    letters = sorted("".join(each["text"] for each in found.elements).replace("-", "").replace("•", ""))
    bare = sorted(bare_text(file).replace("-", "").replace("•", ""))
    assert found.page_count == PAGES
    assert [each for each in letters if not each.isspace()] == [each for each in bare if not each.isspace()]


def extract(file: Path) -> None:
    local.extract(file, "application/pdf", 60, lambda share, message: None)


def bare_text(file: Path) -> str:
    import pypdfium2  # type: ignore[import-untyped]

    with pypdfium2.PdfDocument(file) as pdf:
        return "".join(page.get_textpage().get_text_bounded() for page in pdf)


PAGES_READ = Measurement("pages", "pages of a text PDF read by the local engine", run)
