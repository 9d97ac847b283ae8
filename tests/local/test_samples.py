"""The committed PDF and Word samples are what their script makes, and the local engine reads all samples."""

import subprocess
import sys
from pathlib import Path

import pytest

from tickwork.families.extract.engines.local import extract
from tickwork.tools.file_names import mime_type_of

SCRIPT = Path(__file__).parents[2] / "infra" / "local" / "make_samples.py"
SAMPLES = SCRIPT.parent / "samples"

ONLY_THERE = {
    "energieausweis-ahornweg.html": "Primärenergiebedarf",
    "insurance-policy.pdf": "underwriter",
    "kontoauszug-2026-03.csv": "Kontoführungsentgelt",
    "lease-harbour-view.docx": "maisonette",
    "mahnung-wohnung-12.eml": "Zahlungserinnerung",
    "mietvertrag-hauptstrasse-17.pdf": "Kleinreparaturen",
    "nebenkostenabrechnung-2025.pdf": "Umlageschlüssel",
    "protokoll-eigentuemerversammlung.docx": "beschlussfähig",
    "rechnung-2026-0417.pdf": "Zündelektrode",
    "uebergabeprotokoll-rosenstrasse.txt": "Haustürschlüssel",
}


def text_of(file: Path) -> str:
    extracted = extract(file, mime_type_of(file.name), 60, lambda share, message: None)
    return "\n".join(element["text"] for element in extracted.elements)


def test_the_script_makes_the_committed_samples_byte_for_byte(tmp_path: Path) -> None:
    subprocess.run([sys.executable, SCRIPT, tmp_path], check=True)

    made = {file.name: file.read_bytes() for file in tmp_path.iterdir()}
    binary = [file for file in SAMPLES.iterdir() if file.suffix in (".pdf", ".docx")]
    assert made == {file.name: file.read_bytes() for file in binary}


def test_every_sample_is_listed_here() -> None:
    assert {file.name for file in SAMPLES.iterdir()} == set(ONLY_THERE)


@pytest.fixture(scope="module")
def texts() -> dict[str, str]:
    return {file.name: text_of(file) for file in SAMPLES.iterdir()}


@pytest.mark.parametrize("name", ONLY_THERE)
def test_a_sample_is_read_and_has_a_word_of_its_own(texts: dict[str, str], name: str) -> None:
    assert [each for each, text in texts.items() if ONLY_THERE[name] in text] == [name]
