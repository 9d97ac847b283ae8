"""tickwork without a clone: the installed wheel in an empty folder."""

import subprocess
from collections.abc import Iterator
from pathlib import Path
from zipfile import ZipFile

import pytest

from tests.world.command_line import open_folder
from tests.world.waiting import PATIENCE
from tests.world.wheel import ROOT, build_wheel, environment_of, install_wheel


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_wheel(tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def programs(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return install_wheel(wheel, tmp_path_factory.mktemp("environment") / "venv")


@pytest.fixture
def folder() -> Iterator[Path]:
    with open_folder() as folder:
        yield folder


def run(folder: Path, programs: Path, *command: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        command, cwd=folder, env=environment_of(programs), capture_output=True, text=True, timeout=2 * PATIENCE
    )


def test_the_wheel_holds_what_works_without_a_clone(wheel: Path) -> None:
    shipped = {Path(name) for name in ZipFile(wheel).namelist()}
    wanted = [
        *(ROOT / "functions").glob("*/*.*"),
        *(ROOT / "supabase").rglob("*.sql"),
        *(ROOT / "infra/local/samples").iterdir(),
        *(ROOT / "infra/local/demo").glob("*.*"),
        *(ROOT / "requirements.lock", ROOT / "infra/local/stand_ins.sql"),
    ]

    assert [path for path in wanted if "tickwork/files" / path.relative_to(ROOT) not in shipped] == []
    assert [path for path in shipped if "__pycache__" in path.parts] == []


def test_it_knows_nothing_of_the_repository(programs: Path, folder: Path) -> None:
    code = "import tickwork, tickwork_local, tickwork.shipped as s; print(tickwork.__file__, s.ROOT, s.FUNCTIONS)"

    asked = run(folder, programs, "python", "-c", code)

    assert asked.returncode == 0, asked.stderr
    assert all(path.startswith(str(programs.parent)) for path in asked.stdout.split())


def test_the_demo_runs(programs: Path, folder: Path) -> None:
    demo = run(folder, programs, "tickwork", "demo")

    assert demo.returncode == 0, demo.stdout + demo.stderr
    assert "\nEvery job ended as it should.\n" in demo.stdout
    assert "\nEvery document was extracted and classified.\n" in demo.stdout


def test_a_bundle_of_a_built_in_function_is_built(programs: Path, folder: Path) -> None:
    built = run(folder, programs, "tickwork", "build", "extract")

    assert built.returncode == 0, built.stdout + built.stderr
    assert (folder / "dist/extract/main.py").exists()
    assert (folder / "dist/extract/tickwork/serve").exists()
    assert not (folder / "dist/extract/tickwork/files").exists()
