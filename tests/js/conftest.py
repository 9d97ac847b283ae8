"""The TypeScript client, built as it is published, and what checks and runs it."""

import shutil
from pathlib import Path

import pytest

from tests.js.npm import PACKAGE, node_modules, run
from tickwork_local.node import CannotInstall


@pytest.fixture(scope="session")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the package with its dist."""
    try:
        modules = node_modules()
    except CannotInstall as error:
        pytest.skip(str(error))
    copy = tmp_path_factory.mktemp("npm") / "package"
    shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("node_modules", "dist"))
    (copy / "node_modules").symlink_to(modules)
    run(copy, "tsc", "-p", ".")
    return copy
