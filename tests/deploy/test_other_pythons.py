"""The golden passports on other Pythons: the same inputs give the same bytes."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.gcp.test_bundles import install
from tests.passports.golden_passports import NAMES
from tests.world.wheel import ROOT
from tickwork.shipped import FUNCTIONS
from tickwork_gcp.bundles import build
from tickwork_local.node import CannotInstall, run

# Of every passport, which of its files have other bytes than those that are committed.
COMPARE = """
import json, sys
from tests.passports.golden_passports import FOLDER, NAMES, files_of

differences = {
    name: [file for file, content in files_of(name).items() if (FOLDER / file).read_bytes() != content]
    for name in NAMES
}
json.dump(["%s.%s" % sys.version_info[:2], differences], sys.stdout)
"""


@pytest.mark.parametrize("version", ["3.12", "3.13", "3.14"])
def test_golden_passports_have_the_same_bytes(version: str, tmp_path: Path) -> None:
    base = python_of(version)
    bundle = build(FUNCTIONS / "passport", tmp_path)
    python = install(bundle, tmp_path / "environment", base)

    compared = subprocess.run(
        [python, "-c", COMPARE],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(bundle)},
        capture_output=True,
        text=True,
    )

    assert compared.returncode == 0, compared.stderr
    assert json.loads(compared.stdout) == [version, {name: [] for name in NAMES}]


def python_of(version: str) -> str:
    """One of the path or of pyenv, or else one that uv downloads."""
    pyenv = Path(os.environ.get("PYENV_ROOT", "~/.pyenv")).expanduser()
    path = [*map(str, pyenv.glob(f"versions/{version}.*/bin")), os.environ["PATH"]]
    environment = {**os.environ, "PATH": os.pathsep.join(path)}
    uv = [sys.executable, "-m", "uv", "python"]
    try:
        try:
            return run([*uv, "find", "--no-project", version], ROOT, environment).strip()
        except CannotInstall:
            run([*uv, "install", version], ROOT)
            return run([*uv, "find", "--no-project", version], ROOT).strip()
    except CannotInstall as error:
        pytest.skip(f"there is no Python {version}: {error}")
