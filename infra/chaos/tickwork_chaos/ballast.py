"""A small disk of its own, and a file that fills it up."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


class Ballast:
    def __init__(self, folder: Path) -> None:
        self._file = folder / "ballast"

    def fill(self) -> None:
        """Take whatever is free."""
        with self._file.open("ab", buffering=0) as file, suppress(OSError):
            while True:
                file.write(bytes(2**16))

    def drop(self) -> None:
        self._file.unlink(missing_ok=True)


@contextmanager
def small_disk(folder: Path, megabytes: int) -> Iterator[Ballast | None]:
    """A tmpfs in the folder; None where this machine lets nobody mount one."""
    command = ["mount", "-t", "tmpfs", "-o", f"size={megabytes}m,mode=755", "tmpfs", str(folder)]
    if os.geteuid() != 0 or subprocess.run(command, capture_output=True).returncode:
        yield None
        return
    try:
        yield Ballast(folder)
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)  # noqa: S607
