"""tickwork without a clone: the installed wheel in an empty folder."""

import subprocess
from collections.abc import Iterator
from pathlib import Path
from zipfile import ZipFile

import pytest

from tests.serve.test_wake_up import SECRET, running_function
from tests.world import World
from tests.world.command_line import open_folder
from tests.world.waiting import PATIENCE, until
from tests.world.wheel import ROOT, build_wheel, environment_of, install_wheel, new_environment
from tickwork.database.migrate import migrate
from tickwork_local.launch import ends_with_parent
from tickwork_local.stack import find_stack


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
        *(ROOT / "infra/local/supabase_lite").iterdir(),
        *(ROOT / "infra/templates").rglob("*.*"),
        *(ROOT / "requirements.lock", ROOT / "infra/local/stand_ins.sql"),
    ]

    assert [path for path in wanted if "tickwork/files" / path.relative_to(ROOT) not in shipped] == []
    assert [path for path in shipped if "__pycache__" in path.parts] == []


def test_it_knows_nothing_of_the_repository(programs: Path, folder: Path) -> None:
    code = "import tickwork, tickwork_local, tickwork.shipped as s; print(tickwork.__file__, s.ROOT, s.FUNCTIONS)"

    asked = run(folder, programs, "python", "-c", code)

    assert asked.returncode == 0, asked.stderr
    assert all(path.startswith(str(programs.parent)) for path in asked.stdout.split())


@pytest.fixture
def project(programs: Path, folder: Path) -> Path:
    for command in (
        ["tickwork", "new", "project", "--with", "queue"],
        ["tickwork", "new", "family", "billing"],
        ["tickwork", "new", "type", "write_invoice", "--family", "billing"],
    ):
        made = run(folder, programs, *command)
        assert made.returncode == 0, made.stderr
    return folder


def test_a_new_project_runs(programs: Path, project: Path) -> None:
    log = project / "up.log"
    with log.open("wb") as output:
        command = [str(programs / "tickwork"), "up"]
        environment = environment_of(programs)
        up = subprocess.Popen(
            ends_with_parent(command), cwd=project, env=environment, stdout=output, stderr=subprocess.STDOUT
        )
    try:
        until(lambda: find_stack(project / ".tickwork") or up.poll() is not None, "the stack does not start")
        assert up.poll() is None, log.read_text()
        job = ["write_invoice", '{"text": "Hello"}', "--tenant", "acme"]
        enqueued = run(project, programs, "tickwork", "enqueue", *job)
        assert enqueued.returncode == 0, enqueued.stderr
        until(lambda: '"done"' in run(project, programs, "tickwork", "jobs", "--json").stdout, "nobody works")
    finally:
        up.terminate()
        up.wait(PATIENCE)


def test_a_bundle_of_ones_own_family_needs_no_tickwork_beside_it(
    programs: Path, project: Path, world: World, tmp_path: Path
) -> None:
    built = run(project, programs, "tickwork", "build", "billing")
    assert built.returncode == 0, built.stderr
    migrate(world.url, own=project / "migrations")
    job = world.job("write_invoice", payload={"text": "Hello"})
    bare = new_environment(tmp_path / "bare") / "python"
    settings = {"TICKWORK_DATABASE_URL": world.worker_url, "TICKWORK_BEARER_SECRET": SECRET}

    with running_function(project / "dist/billing/main.py", tmp_path / "run", python=str(bare), **settings) as function:
        answer = function.wake()

    assert (answer.status, answer.body) == (200, {"family": "billing", "claimed": 1, "done": 1})
    assert world.reload(job).result == {"text": "Hello"}
    assert subprocess.run([bare, "-c", "import tickwork.serve"], cwd=tmp_path, capture_output=True).returncode != 0


def test_a_bundle_of_a_built_in_function_is_built(programs: Path, folder: Path) -> None:
    built = run(folder, programs, "tickwork", "build", "extract")

    assert built.returncode == 0, built.stdout + built.stderr
    assert (folder / "dist/extract/main.py").exists()
    assert (folder / "dist/extract/tickwork/serve").exists()
    assert not (folder / "dist/extract/tickwork/files").exists()
