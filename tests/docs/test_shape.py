"""What the documents promise about themselves: how long they are, and that nothing is left out."""

import re
import subprocess

from tests.docs.pages import PAGES, ROOT, name

README = (ROOT / "README.md").read_text()


def test_the_readme_has_at_most_150_lines() -> None:
    assert len(README.splitlines()) <= 150


def test_a_jobs_life_passes_at_most_twelve_files() -> None:
    life = README.partition("## A job's life\n")[2].partition("\n## ")[0]
    steps = re.findall(r"^\d+\. \[[^]]+\]\(([^)]+)\)", life, re.MULTILINE)

    assert 0 < len(steps) <= 12
    assert len(set(steps)) == len(steps)
    assert [step for step in steps if not (ROOT / step).is_file()] == []


def test_the_glossary_has_at_most_25_words() -> None:
    words = re.findall(r"\*\*(.+?)\*\*", (ROOT / "docs/glossary.md").read_text())

    assert 0 < len(words) <= 25


def test_every_decision_is_one_dated_paragraph_the_newest_first() -> None:
    head, _, rest = (ROOT / "docs/decisions.md").read_text().partition("\n**")
    dates = [re.match(r"\*\*(\d{4}-\d\d-\d\d) · [^*]+\.\*\* ", each) for each in f"**{rest}".strip().split("\n\n")]

    assert head.startswith("# Decisions\n")
    assert None not in dates
    assert dates == sorted(dates, key=lambda found: str(found and found[1]), reverse=True)


def test_make_help_lists_every_target() -> None:
    targets = re.search(r"^\.PHONY: (.*)$", (ROOT / "Makefile").read_text(), re.MULTILINE)
    listed = subprocess.run(["make", "-s", "help"], cwd=ROOT, capture_output=True, text=True, check=True).stdout

    assert targets
    assert sorted(re.findall(r"^(\S+) +\S", listed, re.MULTILINE)) == sorted(targets[1].split())


def test_no_document_knows_a_machine_or_a_registry() -> None:
    of_a_machine = re.compile(r"/root/|/tmp/|/home/\w|pypi\.org|registry\.npmjs|crates\.io|localhost:\d{5}")

    assert [name(page) for page in PAGES if of_a_machine.search(page.read_text())] == []


def test_the_systemd_recipe_names_every_file_that_the_unit_needs() -> None:
    unit = (ROOT / "infra/worker/tickwork@.service").read_text()
    guide = (ROOT / "docs/guide/deploy-anywhere.md").read_text()
    files = re.findall(r"^(?:EnvironmentFile|ExecStart|Environment)=(?:\w+=)?(/\S+)", unit, re.MULTILINE)

    assert len(files) == 3
    assert [file for file in files if f"`{file}`" not in guide] == []
