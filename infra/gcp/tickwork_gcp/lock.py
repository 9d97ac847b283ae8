"""Writes the lock of a family: exact versions and hashes of all that its requirements need, for every system."""

import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

from tickwork.errors import InvalidRequest
from tickwork_gcp.requirements import LOCK, extras_of, is_tickwork, needs_of_tickwork, read_lock, read_requirements

# The oldest Python that tickwork runs on. Versions hold for all later ones.
PYTHON = "3.11"
HEAD = "# Written by `tickwork lock` from requirements.txt and what tickwork itself needs.\n"


def write_lock(family: Path, is_upgrade: bool = False) -> int:
    """Lock the family's requirements and return how many packages that are; what is locked stays, unless upgraded."""
    requirements = read_requirements(family / "requirements.txt")
    wanted = [*needs_of_tickwork(extras_of(requirements)), *(each for each in requirements if not is_tickwork(each))]
    with TemporaryDirectory() as name:
        asked, lock = Path(name, "requirements.in"), Path(name, LOCK)
        asked.write_text("".join(f"{each}\n" for each in wanted))
        if (family / LOCK).exists():
            shutil.copy(family / LOCK, lock)
        compile_with_uv(asked, lock, family, is_upgrade)
        (family / LOCK).write_text(HEAD + lock.read_text())
    return len(read_lock(family / LOCK))


def compile_with_uv(asked: Path, lock: Path, family: Path, is_upgrade: bool) -> None:
    command = [*uv(), "pip", "compile", "--quiet", "--universal", "--generate-hashes", "--no-annotate", "--no-header"]
    command += ["--no-strip-extras", "--python-version", PYTHON, str(asked), "--output-file", str(lock)]
    done = subprocess.run([*command, *(["--upgrade"] if is_upgrade else [])], capture_output=True, text=True)
    if done.returncode != 0:
        words = " ".join(done.stderr.split())
        raise InvalidRequest(f"{family}: uv cannot lock this: {words[-600:]}")


def uv() -> list[str]:
    if find_spec("uv"):
        return [sys.executable, "-m", "uv"]
    program = shutil.which("uv")
    if program is None:
        raise InvalidRequest("locking needs uv, which is not installed", hint="Run `pip install uv`.")
    return [program]
