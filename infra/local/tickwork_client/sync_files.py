"""The files of the client that need no event loop, from those in `aio`: the same without async and await."""

import re
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).parents[3]
CLIENT = ROOT / "shared" / "tickwork" / "client"
# What differs by more than that is written by hand.
BY_HAND = ("__init__.py", "database_way.py")
HEAD = "# Written by `make client` from aio/{name}: change that one.\n"

WORDS = (
    (r"\basync (def|with|for)\b", r"\1"),
    (r"\bawait ", ""),
    (r"\btickwork\.client\.aio\b", "tickwork.client"),
    (r"\bAsync(?=(Iterator|Client)\b)", ""),
    (r"\bAbstractAsyncContextManager\b", "AbstractContextManager"),
    (r"\basynccontextmanager\b", "contextmanager"),
    (r"\baclose\b", "close"),
    (r"\basyncio\b", "time"),
    (r"for (\w+) in (\w+):\n +yield \1\n", r"yield from \2\n"),
)


def sync_files() -> dict[str, str]:
    """The contents by file name."""
    sources = [file for file in sorted((CLIENT / "aio").glob("*.py")) if file.name not in BY_HAND]
    return formatted({file.name: HEAD.format(name=file.name) + without_waiting(file.read_text()) for file in sources})


def without_waiting(text: str) -> str:
    for pattern, replacement in WORDS:
        text = re.sub(pattern, replacement, text)
    return text


def formatted(files: dict[str, str]) -> dict[str, str]:
    """Shorter lines are broken less often, and names sorted differently."""
    with TemporaryDirectory(prefix="tickwork-client-") as name:
        folder = Path(name)
        for file, text in files.items():
            (folder / file).write_text(text)
        for command in (["check", "--fix", "--select", "I"], ["format"]):
            given = ["--quiet", "--no-cache", "--config", str(ROOT / "pyproject.toml"), name]
            subprocess.run([sys.executable, "-m", "ruff", *command, *given], check=True)
        return {file: (folder / file).read_text() for file in files}
