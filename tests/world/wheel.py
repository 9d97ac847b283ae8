"""tickwork as others install it: from a wheel, in an environment of its own, far from the repository."""

import os
import subprocess
import sys
import sysconfig
from pathlib import Path

ROOT = Path(__file__).parents[2]
UV = [sys.executable, "-m", "uv"]


def build_wheel(folder: Path) -> Path:
    command = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    (wheel,) = folder.glob("*.whl")
    return wheel


def install_wheel(wheel: Path, place: Path) -> Path:
    """The folder of programs of a new environment with this wheel.

    The packages that it needs are those of the tests, so that nothing has to be downloaded: a path in a .pth file
    makes them importable, but not the repository, which is only named in a .pth file among them.
    """
    programs = new_environment(place)
    command = [*UV, "pip", "install", "--quiet", "--no-deps", "--python", str(programs / "python"), str(wheel)]
    subprocess.run(command, check=True)
    return programs


def new_environment(place: Path) -> Path:
    """One with the packages of the tests, but without tickwork."""
    subprocess.run([*UV, "venv", "--quiet", "--python", sys.executable, str(place)], check=True)
    (packages,) = place.glob("lib/python*/site-packages")
    (packages / "beside.pth").write_text(sysconfig.get_paths()["purelib"])
    return place / "bin"


def environment_of(programs: Path) -> dict[str, str]:
    """The environment of someone who has activated it, and set nothing else."""
    ours = {name: value for name, value in os.environ.items() if not name.startswith(("TICKWORK_", "PYTEST_"))}
    return {**ours, "PATH": f"{programs}{os.pathsep}{ours['PATH']}", "TICKWORK_PORT": "0", "COLUMNS": "80"}
