"""What runs the programs of Node for the TypeScript client."""

import subprocess
from pathlib import Path

from tests.world import node
from tickwork.shipped import ROOT

PACKAGE = ROOT / "shared/tickwork-js"
PATIENCE = 300


def node_modules() -> Path:
    """TypeScript, installed once per machine. Raises CannotInstall."""
    return node.installed(PACKAGE, "tickwork-js")


def run(folder: Path, *command: str, **settings: str) -> str:
    """What a program prints, which must succeed."""
    done = attempt(folder, *command, **settings)
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    return done.stdout


def attempt(folder: Path, program: str, *arguments: str, **settings: str) -> "subprocess.CompletedProcess[str]":
    local = folder / "node_modules" / ".bin" / program
    return subprocess.run(
        [str(local) if local.exists() else program, *arguments],
        cwd=folder,
        env={**node.environment(), **settings},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
