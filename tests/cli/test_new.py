"""`tickwork new`: what it writes passes every check and its own tests, and it never overwrites."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from tests.world import World
from tests.world.command_line import COMMAND, environment_for, open_folder, run_all
from tests.world.waiting import PATIENCE
from tickwork.cli.handlers_edit import add_handler
from tickwork.cli.project import BUILT_IN, families_in, find_project, missing_packages, packages_of
from tickwork.database.adoption import tenants_in
from tickwork.errors import BadSetting
from tickwork.shipped import FUNCTIONS
from tickwork.testing.database import cloned
from tickwork_local.postgres import Server
from tickwork_local.project_database import without_password

ROOT = Path(__file__).parents[2]
APPLICATION = """
    create table companies (id uuid primary key default gen_random_uuid(), title text not null);
    create table documents (id bigint primary key);
"""


@pytest.fixture
def folder() -> Iterator[Path]:
    with open_folder() as folder:
        yield folder


def run(folder: Path, *command: str, **settings: str) -> "subprocess.CompletedProcess[str]":
    environment = environment_for(folder / ".tickwork", settings)
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=2 * PATIENCE)


def new(folder: Path, *arguments: str) -> str:
    asked = run(folder, *COMMAND, "new", *arguments)
    assert asked.returncode == 0, asked.stderr
    return asked.stdout


def refused(folder: Path, *arguments: str) -> str:
    asked = run(folder, *COMMAND, "new", *arguments)
    assert asked.returncode == 1, asked.stdout + asked.stderr
    assert "Traceback" not in asked.stderr
    return asked.stderr


@pytest.fixture
def project(folder: Path) -> Path:
    new(folder, "project")
    new(folder, "family", "billing")
    new(folder, "type", "write_invoice", "--family", "billing", "--table", "invoices")
    return folder


def contents(folder: Path) -> dict[str, str]:
    """By path, without the bytecode of what has been run."""
    files = [path for path in folder.rglob("*") if path.is_file() and path.suffix != ".pyc"]
    return {str(path.relative_to(folder)): path.read_text() for path in files}


def test_a_project_has_a_family_and_types_whose_tests_pass(project: Path) -> None:
    new(project / "functions" / "billing", "type", "send_letter", "--family", "billing")

    tested = run(project, sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider")

    assert tested.returncode == 0, tested.stdout + tested.stderr
    assert "6 passed" in tested.stdout
    assert {re.sub("[0-9]{14}", "…", path) for path in contents(project)} == {
        *(".gitignore", "requirements.txt", "tickwork.toml"),
        *("functions/billing/main.py", "functions/billing/requirements.txt"),
        *("functions/billing/write_invoice.py", "functions/billing/send_letter.py"),
        *("migrations/…_write_invoice.sql", "migrations/…_send_letter.sql"),
        *("tests/test_write_invoice.py", "tests/test_send_letter.py"),
    }


def test_what_is_written_passes_ruff_and_mypy(project: Path) -> None:
    config = ["--config", str(ROOT / "pyproject.toml")]
    python = [sys.executable, "-m"]

    checks = [
        run(project, *python, "ruff", "check", *config, "--ignore", "I", "."),
        run(project, *python, "ruff", "format", *config, "--check", "."),
        run(project, *python, "mypy", "--strict", "functions/billing"),
        run(project, *python, "mypy", "--strict", "tests", MYPYPATH="functions/billing"),
    ]

    assert [check.stdout for check in checks if check.returncode] == []


def test_each_step_names_the_next_command(folder: Path) -> None:
    said = [
        new(folder, "project", "shop"),
        new(folder / "shop", "family", "billing"),
        new(folder / "shop", "type", "write_invoice", "--family", "billing"),
    ]

    assert said[0].endswith("Next:\n  cd shop\n  tickwork new family billing\n")
    assert said[1].endswith("Next:\n  tickwork new type write_invoice --family billing\n")
    assert """\n  tickwork enqueue write_invoice '{"text": "Hello"}' --tenant acme\n""" in said[2]


REFUSALS = {
    ("family", "Billing"): "'Billing' is not a name for a family",
    ("family", "../up"): "'../up' is not a name for a family",
    ("family", "extract"): "tickwork has a family extract of its own",
    ("family", "billing"): "functions/billing/main.py exists: nothing was written",
    ("type", "write-invoice", "--family", "billing"): "'write-invoice' is not a name for a type",
    ("type", "import", "--family", "billing"): "'import' is not a name for a type",
    ("type", "main", "--family", "billing"): "'main' is not a name for a type",
    ("type", "email", "--family", "billing"): "email is a module of Python",
    ("type", "http_request", "--family", "billing"): "tickwork has a type http_request of its own",
    ("type", "write_invoice", "--family", "billing"): "functions/billing/write_invoice.py exists",
    ("type", "send_letter", "--family", "post"): "Create it: tickwork new family post",
    ("type", "send_letter", "--family", "billing", "--table", "a b"): "'a b' is not a name for a table",
    ("project",): "tickwork.toml exists: nothing was written",
    ("project", "x", "--with", "nothing"): "there is no module 'nothing'",
    ("project", "x", "--members", "members"): "--members: needs --tenants",
}


def test_what_cannot_be_created_is_refused_and_nothing_is_written(project: Path) -> None:
    before = contents(project)

    asked = run_all([("new", *arguments) for arguments in REFUSALS], home=project / ".tickwork", cwd=project)

    said = {arguments: each.stderr for arguments, each in zip(REFUSALS, asked, strict=True)}
    assert {arguments: said[arguments] for arguments, words in REFUSALS.items() if words not in said[arguments]} == {}
    assert {each.returncode for each in asked} == {1}
    assert contents(project) == before


def test_outside_of_a_project_it_says_how_to_create_one(folder: Path) -> None:
    assert "tickwork new project" in refused(folder, "family", "billing")


def test_files_that_any_folder_may_have_are_kept(folder: Path) -> None:
    (folder / ".gitignore").write_text("mine\n")

    said = new(folder, "project")

    assert (folder / ".gitignore").read_text() == "mine\n"
    assert "kept .gitignore, which was there; add what it lacks of .tickwork/ .venv/ __pycache__/ dist/\n" in said


def test_an_existing_database_lends_its_tables(folder: Path, server: Server) -> None:
    options = ["--with", "queue", "--tenants", "public.companies(id, title)"]
    with cloned(server, "template0") as name:
        url = server.url(name)
        with psycopg.connect(url) as connection:
            connection.execute(APPLICATION)
        new(folder, "project", *options, "--database-url", url.replace("postgres@", "postgres:secret@"))
    new(folder, "family", "billing")
    new(folder, "type", "write_invoice", "--family", "billing")

    found = find_project(folder / "functions" / "billing")
    tested = run(folder, sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider")

    assert (found.modules, found.tenants, found.database) == (["queue"], tenants_in("companies(id,title)"), url)
    assert "secret" not in "".join(contents(folder).values())
    assert tested.returncode == 0, tested.stdout + tested.stderr


def test_a_password_stays_out_of_the_project() -> None:
    urls = {
        "postgresql://ada:s%40cret@db.example/app": "postgresql://ada@db.example/app",
        "postgresql://db.example/app?user=ada&password=secret": "postgresql://db.example/app?user=ada&",
        "postgresql://ada@[::1]:5432/app?sslmode=require": "postgresql://ada@[::1]:5432/app?sslmode=require",
    }

    assert {url: without_password(url) for url in urls} == urls


MAINS = {
    'import os\nHANDLERS = {}\nmain = "ä"\n': True,
    'from a import A\n\nHANDLERS: dict = {"a": A}\n': True,
    'from a import (\n    A,\n)\n\nHANDLERS = {\n    "a": A,  # the first\n}\n': True,
    'import os\nHANDLERS = {\n    "a": 1  # no comma\n}\n': False,
    "import os\nHANDLERS = dict(a=1)\n": False,
    "HANDLERS = {}\n": False,
}


@pytest.mark.parametrize("text", MAINS)
def test_a_handler_is_added_where_that_is_certain_to_work(text: str, tmp_path: Path) -> None:
    main = tmp_path / "main.py"
    main.write_text(text)

    is_added = add_handler(main, "write_invoice")

    lines = main.read_text().splitlines()
    assert is_added == MAINS[text]
    assert ("from write_invoice import WRITE_INVOICE" in lines) == is_added
    assert ('    "write_invoice": WRITE_INVOICE,' in lines) == is_added
    assert is_added or main.read_text() == text


def test_the_built_in_families_are_known(world: World) -> None:
    rows = world.rows("select family, array_agg(key order by key) as types from job_types group by family")

    assert {row["family"]: row["types"] for row in rows} == {
        family: sorted(types) for family, (_, types) in BUILT_IN.items()
    }
    assert families_in(FUNCTIONS).keys() == BUILT_IN.keys()
    assert "cryptography" in packages_of("import")
    assert missing_packages("extract") == []


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[stack]\nprot = 1", "stack.prot: Extra inputs are not permitted"),
        ("[stack]\nport = '1'", "stack.port: Input should be a valid integer"),
        ("[project", "tickwork.toml: Expected"),
        (f"[stack]\nport = {'9' * 5000}", "tickwork.toml: Exceeds the limit"),
        (f"[project]\nmodules = {'[' * 2000}", "tickwork.toml: maximum recursion depth"),
        ("[project]\ntenants = 'a b c('", "[project]"),
    ],
)
def test_a_mistake_in_the_file_of_a_project_is_named(folder: Path, text: str, words: str) -> None:
    (folder / "tickwork.toml").write_text(text)

    with pytest.raises(BadSetting, match=re.escape(words)):
        find_project(folder)


def test_a_family_of_ones_own_comes_before_a_built_in_one(project: Path) -> None:
    os.rename(project / "functions/billing", project / "functions/extract")

    families = find_project(project).families()

    assert families["extract"] == project / "functions/extract"
    assert families["webhook"] == FUNCTIONS / "webhook"
