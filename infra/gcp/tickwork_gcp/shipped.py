"""Where the files are that come with tickwork: the built-in functions, and the lock of what they need."""

from pathlib import Path

import tickwork

PACKAGE = Path(tickwork.__file__).parent


def shipped(name: str) -> Path:
    """`functions`, `requirements.lock`, `requirements-extras.toml`: in the installed package, or in the repository."""
    packaged = PACKAGE / "shipped" / name
    return packaged if packaged.exists() else PACKAGE.parents[1] / name
