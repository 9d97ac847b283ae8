"""A report opened in a real browser, on screen and printed. It has no script that could add anything to it."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.families.report.test_generate_report import OCTOBER, Bureau, bureau, fill

__all__ = ["bureau"]

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
OPTIONS = ("--headless", "--no-sandbox", "--disable-gpu")

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="there is no chromium: apt-get install chromium")


def browse(folder: Path, *options: str) -> "subprocess.CompletedProcess[str]":
    profile = f"--user-data-dir={folder / 'profile'}"
    command = [str(CHROMIUM), *OPTIONS, profile, "--enable-logging=stderr", *options, (folder / "report.html").as_uri()]
    return subprocess.run(command, check=True, capture_output=True, text=True, timeout=170)


@pytest.fixture
def folder(bureau: Bureau, tmp_path: Path) -> Path:
    fill(bureau)
    (text,) = bureau.files(**OCTOBER).values()
    (tmp_path / "report.html").write_text(text)
    return tmp_path


def test_a_browser_shows_all_of_it_and_finds_nothing_to_complain_about(folder: Path) -> None:
    shown = browse(folder, "--dump-dom")

    assert "CONSOLE" not in shown.stderr
    assert shown.stdout.count("<section>") == 6
    assert len(re.findall("<svg[^>]*>.*?<rect", shown.stdout)) == 4
    assert "<h2>Verbrauch und Kosten</h2>" in shown.stdout
    assert "<script" not in shown.stdout


def test_it_has_a_picture_and_can_be_printed(folder: Path) -> None:
    browse(folder, f"--screenshot={folder / 'page.png'}", "--window-size=1000,2400")
    browse(folder, f"--print-to-pdf={folder / 'page.pdf'}", "--no-pdf-header-footer")

    assert (folder / "page.png").read_bytes().startswith(b"\x89PNG")
    assert (folder / "page.pdf").read_bytes().startswith(b"%PDF")
