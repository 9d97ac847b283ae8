"""Which compiler made a passport: its version, and a hash of the source files that its bytes depend on."""

import hashlib
from importlib.metadata import version
from pathlib import Path

PACKAGE = Path(__file__).parent
SOURCES = (
    "canonical.py",
    "compiler.py",
    "fact.py",
    "leaves.py",
    "receipt.py",
    "snapshot.py",
    "tree.py",
    "rules/**/*.py",
)
HASH_LENGTH = 16


def build_id(commit: str | None = None) -> str:
    """Such as 0.9.0+3f9a1c52b7d4e608, followed by a commit if there is one."""
    return ".".join(part for part in (OWN_BUILD_ID, commit) if part)


def own_build_id() -> str:
    content = hashlib.sha256()
    for path in sorted({path for pattern in SOURCES for path in PACKAGE.glob(pattern)}):
        name, source = str(path.relative_to(PACKAGE)), path.read_bytes()
        content.update(f"{name} {len(source)}\n".encode() + source)
    return f"{version('tickwork')}+{content.hexdigest()[:HASH_LENGTH]}"


# At import: a file that is changed afterwards is not the one that runs.
OWN_BUILD_ID = own_build_id()
