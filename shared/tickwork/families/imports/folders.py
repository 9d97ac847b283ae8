"""Which folders a file is in, if a provider only names its parent."""

from collections.abc import Callable
from dataclasses import dataclass

# Deeper than any provider allows.
MAX_LEVELS = 200


@dataclass(frozen=True)
class Folder:
    name: str
    parent: str | None


class Folders:
    """The known folders of a drive; others are asked for, each once. None means that a folder cannot be found."""

    def __init__(self, ask: Callable[[str], Folder | None]) -> None:
        self._ask = ask
        self._known: dict[str, Folder | None] = {}

    def learn(self, id: str, folder: Folder) -> None:
        self._known[id] = folder

    def above(self, id: str | None) -> list[tuple[str, Folder]]:
        """The folder of this id and all above it, the topmost last."""
        chain: list[tuple[str, Folder]] = []
        while id is not None and len(chain) < MAX_LEVELS:
            if id not in self._known:
                self._known[id] = self._ask(id)
            folder = self._known[id]
            if folder is None:
                break
            chain.append((id, folder))
            id = folder.parent
        return chain


def path_of(chain: list[tuple[str, Folder]], name: str) -> str:
    """For display: the topmost folder is the drive itself, and has no name."""
    names = [folder.name for _, folder in reversed(chain) if folder.parent is not None]
    return "".join(f"/{each}" for each in [*names, name])
