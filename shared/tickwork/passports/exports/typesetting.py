"""Runs typst in a process of its own: with little memory and time, and without files, network or environment."""

import json
import os
import subprocess
import sys
from pathlib import Path

CHILD = "tickwork.passports.exports.typst_child"
TEMPLATES = Path(__file__).with_name("templates")
SECONDS = 30
# Its threads would each need memory of their own, and one is fast enough.
ENVIRONMENT = {"RAYON_NUM_THREADS": "1"}


class TemplateMissing(ValueError):
    """There is no template of that name."""


class TooDemanding(ValueError):
    """Typesetting needs more memory or time than it may have."""


class NotTypeset(RuntimeError):
    """Typst refused the template: a defect of ours."""


def templates() -> list[str]:
    return sorted(path.stem for path in TEMPLATES.glob("*.typ"))


def typeset(template: str, data: bytes, issued_at: str) -> bytes:
    """A PDF from a template and JSON, the same bytes each time."""
    if template not in templates():
        raise TemplateMissing(f"{template}: there are {', '.join(templates())}")
    return run_typst((TEMPLATES / f"{template}.typ").read_text(), data, issued_at)


def run_typst(source: str, data: bytes, issued_at: str) -> bytes:
    environment = {"PYTHONPATH": os.pathsep.join(os.path.abspath(place) for place in sys.path), **ENVIRONMENT}
    # -S: what site would find is in the path already.
    command = [sys.executable, "-S", "-s", "-P", "-Xutf8", "-m", CHILD, str(SECONDS)]
    task = json.dumps({"source": source, "data": data.decode(), "issued_at": issued_at}).encode()
    try:
        ended = subprocess.run(command, input=task, capture_output=True, cwd="/", env=environment, timeout=SECONDS)
    except subprocess.TimeoutExpired:
        raise TooDemanding(f"It took more than {SECONDS} seconds") from None
    if ended.returncode < 0:
        raise TooDemanding(f"It was stopped by signal {-ended.returncode}")
    if ended.returncode:
        raise NotTypeset(ended.stderr.decode(errors="replace")[-500:])
    return ended.stdout
