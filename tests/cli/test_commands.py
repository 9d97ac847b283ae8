"""`tickwork commands`: what the operator's file says, whether it can run, and what its types are."""

import json
from pathlib import Path

import pytest

from tests.world import World
from tests.world.command_line import run_all

FILE = """
[commands.greet]
description = "Greets somebody"
argv = ["sh", "-c", 'echo "hello $1"; echo careful >&2; exit "$2"', "sh", "{name}", "{code}"]
folder = "/"
exit_codes = { permanent = [64] }
payload = { name = { max_length = 20 }, code = { type = "integer" } }
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "commands.toml"
    path.write_text(FILE)
    path.chmod(0o600)
    return path


def test_the_commands_of_a_file_are_listed_checked_and_run(file: Path, tmp_path: Path) -> None:
    listed, checked, shown, ran, failed, refused, unknown = run_all(
        [
            ["commands", "list"],
            ["commands", "check"],
            ["commands", "run", "greet", '{"name": "Ann; id", "code": 0}', "--dry-run"],
            ["commands", "run", "greet", '{"name": "Ann; id", "code": 0}'],
            ["commands", "run", "greet", '{"name": "Ann", "code": 64}'],
            ["commands", "run", "greet", '{"name": "-n", "code": 0}'],
            ["commands", "run", "rm"],
        ],
        home=tmp_path,
        TICKWORK_COMMANDS_FILE=str(file),
    )

    assert "greet" in listed.stdout
    assert "3600 s" in listed.stdout
    assert checked.stdout == "No problems.\n"
    assert json.loads(shown.stdout)[3:] == ["sh", "Ann; id", "0"]
    assert (ran.returncode, ran.stdout) == (0, "hello Ann; id\n")
    assert ran.stderr == "careful\nIt ended with the exit code 0.\n"
    assert (failed.returncode, failed.stdout) == (1, "hello Ann\n")
    assert failed.stderr.endswith("EXIT_64: The command ended with the exit code 64: careful\n")
    assert (refused.returncode, refused.stdout) == (1, "")
    assert "INVALID_PAYLOAD: name: " in refused.stderr
    assert (unknown.returncode, "there is no command 'rm'" in unknown.stderr) == (1, True)


def test_the_types_of_commands_follow_the_file(world: World, file: Path, tmp_path: Path) -> None:
    settings = {"TICKWORK_COMMANDS_FILE": str(file), "TICKWORK_DATABASE_URL": world.url}
    missing, first, second, fine = run_all(
        [["commands", "check"], ["commands", "apply"], ["commands", "apply"], ["commands", "check"]],
        home=tmp_path,
        **settings,
    )
    file.write_text(FILE.replace("Greets somebody", "Greets"))
    differs, changed = run_all([["commands", "check"], ["commands", "apply"]], home=tmp_path, **settings)

    assert (missing.returncode, "run `tickwork commands apply`" in missing.stdout) == (1, True)
    assert (first.stdout, second.stdout, fine.returncode) == ("greet is a type now.\n", "", 0)
    assert (differs.returncode, "differs in description" in differs.stdout) == (1, True)
    assert changed.stdout == "greet has changed: description.\n"
    row = world.row("select * from job_types where key = 'greet'")
    assert (row["family"], row["timeout_seconds"], row["max_attempts"], row["enqueued_by"]) == (
        *("command", 3600, 3),
        "service",
    )
    with pytest.raises(Exception, match="payload"):
        world.job("greet", payload={"name": "Ann", "more": "x"})


def test_a_command_takes_no_type_of_another_family(world: World, file: Path, tmp_path: Path) -> None:
    world.type("greet", "test")

    (refused,) = run_all([["commands", "apply", "--file", str(file), "--database-url", world.url]], home=tmp_path)

    assert refused.returncode == 1
    assert "there is such a type of the family test" in refused.stderr
