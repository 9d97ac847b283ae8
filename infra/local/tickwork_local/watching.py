"""Notices that files changed, and applies the migrations of a project as they come."""

import threading
from collections.abc import Callable
from pathlib import Path
from types import TracebackType

from tickwork.errors import Error

LOOK_SECONDS = 0.5

Say = Callable[[str], None]
Snapshot = dict[Path, tuple[int, int]]


def say_nothing(line: str) -> None:
    pass


def snapshot(folder: Path) -> Snapshot:
    """The files of a folder, each with what changes when it is written; without what programs leave there."""
    found: Snapshot = {}
    for path in folder.rglob("*"):
        if path.name.startswith(".") or path.name.endswith("~") or "__pycache__" in path.parts:
            continue
        try:
            status = path.stat()
        except OSError:
            continue
        if path.is_file():
            found[path] = (status.st_mtime_ns, status.st_size)
    return found


class Watch:
    """Whether a folder changed since the last time somebody asked."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._known = snapshot(folder)

    def has_changed(self) -> bool:
        known, self._known = self._known, snapshot(self._folder)
        return known != self._known


class WatchedMigrations:
    """Calls `bring_up_to_date` when a file of the folder changes, inside the block, and says what it returns."""

    def __init__(self, folder: Path, bring_up_to_date: Callable[[], list[str]], say: Say) -> None:
        self._watch = Watch(folder)
        self._bring_up_to_date = bring_up_to_date
        self._say = say
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> "WatchedMigrations":
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._stopped.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._stopped.wait(LOOK_SECONDS):
            if self._watch.has_changed():
                self._look()

    def _look(self) -> None:
        try:
            for line in self._bring_up_to_date():
                self._say(line)
        except Error as error:
            hint = getattr(error, "hint", None)
            self._say(f"{error}. {hint}" if hint else str(error))
