"""`tickwork --help` knows the commands from contents.py, which says what their files say."""

import ast
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from typer import Context
from typer.main import get_group

from tests.docs.pages import ROOT
from tickwork.cli import main
from tickwork.cli.contents import CONTENTS
from tickwork_docs import contents
from tickwork_docs.commands import command_line

CLI = ROOT / "shared/tickwork/cli"


def test_the_contents_are_up_to_date() -> None:
    assert (CLI / "contents.py").read_text() == contents.module(), "run `make docs`"


def test_every_file_of_commands_is_listed() -> None:
    files = [file.stem for file in CLI.glob("*.py") if "commands" in names_assigned_in(file)]

    assert sorted(main.RESOURCES) == sorted(files)


def names_assigned_in(file: Path) -> set[str]:
    targets = [each.targets for each in ast.parse(file.read_text()).body if isinstance(each, ast.Assign)]
    return {target.id for each in targets for target in each if isinstance(target, ast.Name)}


@pytest.mark.parametrize("width", [30, 50, 78, 200])
def test_help_is_that_of_the_commands_themselves(width: int) -> None:
    shown, meant = (help_of(group, width) for group in (main.GROUP, command_line()))

    assert shown == meant


def help_of(group: Any, width: int) -> str:
    with Context(group, info_name="tickwork", terminal_width=width) as context:
        text: str = group.get_help(context)
    return text


def test_help_and_version_load_neither_the_commands_nor_what_they_need() -> None:
    for argument in ("--help", "--version"):
        loaded = modules_after(argument)

        assert "typer" in loaded
        assert not loaded & {"psycopg", "pydantic", "rich", *(f"tickwork.cli.{file}" for file in main.RESOURCES)}


def test_a_command_loads_its_own_file_only() -> None:
    loaded = modules_after("tenants", "--help")

    assert {file for file in main.RESOURCES if f"tickwork.cli.{file}" in loaded} == {"tenants"}


def modules_after(*arguments: str) -> set[str]:
    code = (
        f"import sys; sys.argv = ['tickwork', *{arguments!r}]\n"
        "from tickwork.cli.start import main\n"
        "try: main()\n"
        "finally: print('modules:', *sys.modules)"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(ran.stdout.split("modules:")[1].split())


def test_a_command_that_the_contents_lack_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(CONTENTS, "tenants")
    monkeypatch.setitem(CONTENTS, "keys", ("jobs", "It was moved."))
    group = get_group(main.app)

    for name in ("tenants", "keys"):
        found, command, rest = group.resolve_command(Context(group), [name, "--json"])

        assert (found, command, rest) == (name, main.all_commands()[name], ["--json"])
