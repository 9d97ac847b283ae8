"""Every code that a job on passports can fail with, or that a finding can have, is in a test."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCES = [ROOT / "shared/tickwork" / folder for folder in ("passports", "families/passport", "families/sign")]
CODE = "[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+"


def codes_in(source: str) -> Iterator[str]:
    """What is given to a call, such as an error, and looks like a code."""
    for call in ast.walk(ast.parse(source)):
        if isinstance(call, ast.Call):
            for given in (*call.args, *(each.value for each in call.keywords)):
                if isinstance(given, ast.Constant) and re.fullmatch(CODE, str(given.value)):
                    yield str(given.value)


def texts(folders: list[Path]) -> list[str]:
    return [file.read_text() for folder in folders for file in sorted(folder.rglob("*.py"))]


def codes_in_tests() -> set[str]:
    return {code for text in texts([ROOT / "tests"]) for code in re.findall(rf"\b{CODE}\b", text)}


def test_every_code_is_in_a_test() -> None:
    problems = (ROOT / "supabase/migrations/20261116005130_seal_snapshot.sql").read_text()
    codes = {*re.findall(f"'({CODE})'", problems), *(code for text in texts(SOURCES) for code in codes_in(text))}

    assert len(codes) > 50
    assert codes - codes_in_tests() == set()


def test_every_error_of_the_source_documents_is_in_a_test() -> None:
    """Those of the two documents on job processing, by the names that they have here."""
    page = (ROOT / "docs/source-names.md").read_text()
    rows = page.partition("\n## Errors\n")[2].partition("\n## ")[0].splitlines()
    ours = {
        code
        for row in rows
        if re.search(r"\((?:M|R|M, R)\)", row)
        for code in re.findall(f"`({CODE})`", row.split("|")[2])
    }

    assert len(ours) > 20
    assert ours - codes_in_tests() == set()
