"""What the schema is made of: the queue, and the parts that can be left out."""

from collections.abc import Iterable, Mapping
from pathlib import Path

from tickwork.errors import InvalidRequest

# The chapters of each module, by number, and the modules that it needs.
CHAPTERS = {
    "queue": range(0, 2000),
    "documents": range(2000, 2400),
    "webhooks": range(2400, 3000),
    "imports": range(3000, 4000),
    "reports": range(4500, 4600),
    "passports": range(5000, 5600),
}
NEEDS: Mapping[str, tuple[str, ...]] = {
    "imports": ("documents", "webhooks"),
    "reports": ("documents", "webhooks"),
    "passports": ("documents", "webhooks"),
}


def module_of(file: Path) -> str:
    # 20261116002400_secrets: a date, and then the number of the chapter.
    number = int(file.stem.partition("_")[0][8:])
    return next(module for module, numbers in CHAPTERS.items() if number in numbers)


def with_needs(modules: Iterable[str]) -> list[str]:
    """These modules, the queue and whatever else they need, in the order of their chapters."""
    wanted = {"queue"}
    for module in modules:
        if module not in CHAPTERS:
            raise InvalidRequest(f"--with: there is no module {module!r}", hint=f"There are {', '.join(CHAPTERS)}.")
        wanted |= {module, *NEEDS.get(module, ())}
    return [module for module in CHAPTERS if module in wanted]
