"""pgbouncer between some of the workers and the proxy, where it is installed or can be."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.servers.pooler import running_pgbouncer

INSTALL = ["apt-get", "install", "-qq", "-y", "--no-install-recommends", "pgbouncer"]
# Only the program is wanted, not a service that starts by itself.
STOP = ["service", "pgbouncer", "stop"]


def is_installed() -> bool:
    return shutil.which("pgbouncer", path=f"{os.environ['PATH']}:/usr/sbin") is not None


def install() -> None:
    """On Debian, as root; elsewhere the storms do without it, and say so."""
    if not is_installed() and os.geteuid() == 0 and shutil.which("apt-get"):
        for command in (INSTALL, STOP):
            subprocess.run(command, capture_output=True)


@contextmanager
def pooler_before(port: int, folder: Path, notes: list[str]) -> Iterator[int | None]:
    if not is_installed():
        notes.append("no pooler: pgbouncer is not installed")
        yield None
        return
    with running_pgbouncer(port, folder) as pooler_port:
        yield pooler_port
