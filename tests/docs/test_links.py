"""Every link of the documents leads somewhere: to a file or folder that is there, and to a heading that it has."""

import re
from pathlib import Path

import pytest

from tests.docs.pages import PAGES, ROOT, name, without_blocks

LINK = re.compile(r"\[(?:[^\]\[]|\[[^\]]*\])*\]\(([^)\s]+)\)")

# A path from the root of the repository, such as `tests/database`, without a part that stands for something else.
PATH = re.compile(r"`((?:docs|functions|infra|shared|supabase|tests)/[\w./@-]+)`")
# What the guides have a reader write.
MADE = "functions/billing"


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_every_link_leads_somewhere(page: Path) -> None:
    links = LINK.findall(without_blocks(page.read_text()))

    assert [link for link in links if not leads_somewhere(page, link)] == []


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_every_path_that_is_named_exists(page: Path) -> None:
    lines = [line for line in without_blocks(page.read_text()).splitlines() if "planned" not in line]
    paths = [path for line in lines for path in PATH.findall(line) if not path.startswith(MADE)]

    assert [path for path in paths if not (ROOT / path).exists()] == []


def leads_somewhere(page: Path, link: str) -> bool:
    if link.startswith("https://"):
        return True
    path, _, anchor = link.partition("#")
    target = (page.parent / path).resolve() if path else page
    return target.is_relative_to(ROOT) and target.exists() and (not anchor or anchor in anchors(target))


def anchors(page: Path) -> set[str]:
    """As GitHub makes them: lowercase, without punctuation, with a hyphen for each space."""
    headings = re.findall(r"^#+ (.+)$", without_blocks(page.read_text()), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_every_page_can_be_reached_from_the_readme() -> None:
    reached, waiting = set[Path](), [ROOT / "README.md"]
    while waiting:
        page = waiting.pop()
        reached.add(page)
        linked = [(page.parent / link.partition("#")[0]).resolve() for link in LINK.findall(page.read_text())]
        waiting += [each for each in linked if each in PAGES and each not in reached]

    assert [name(page) for page in PAGES if page not in reached] == []
