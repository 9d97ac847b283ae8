"""The documents of the repository, and the blocks of code in them."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGES = sorted(
    [
        *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "supabase/README.md")),
        *ROOT.glob("infra/*/README.md"),
        ROOT / "shared/tickwork-js/README.md",
        *(ROOT / "docs").rglob("*.md"),
    ]
)
GUIDES = sorted((ROOT / "docs/guide").glob("*.md"))

FENCE = re.compile(r"^( *)```([^\n`]*)\n(.*?)^\1```$", re.MULTILINE | re.DOTALL)
# The first line of a block that is a file.
FILE = re.compile(r"(?:#|--) (\S+/\S+\.\w+)\n")


@dataclass(frozen=True)
class Block:
    """`words` are what stands behind its opening fence: the language, and how it is to be run."""

    words: tuple[str, ...]
    text: str

    @property
    def file(self) -> str | None:
        found = FILE.match(self.text)
        return found[1] if found else None


def name(page: Path) -> str:
    return str(page.relative_to(ROOT))


def blocks(page: Path) -> Iterator[Block]:
    for indent, words, text in FENCE.findall(page.read_text()):
        yield Block(tuple(words.split()), re.sub(f"^{indent}", "", text, flags=re.MULTILINE))


def without_blocks(text: str) -> str:
    return FENCE.sub("", text)
