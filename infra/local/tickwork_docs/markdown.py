"""Tables in Markdown."""

from collections.abc import Iterable, Sequence


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "".join("| " + " | ".join(map(escaped, line)) + " |\n" for line in lines)


def escaped(cell: str) -> str:
    """Without a `|` that would end the cell, and outside of code without a `<` that would begin a tag."""
    parts = cell.replace("|", "\\|").split("`")
    return "`".join(part if number % 2 else part.replace("<", "&lt;") for number, part in enumerate(parts)) or " "
