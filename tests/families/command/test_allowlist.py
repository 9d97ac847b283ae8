"""The operator's file: what it may say, and what stops a worker from starting."""

from pathlib import Path
from typing import Any

import pytest

from tickwork.errors import BadSetting
from tickwork.families.command.allowlist import Command, read_commands
from tickwork.families.command.run_command import handlers_of_file

SYNC = """
[commands.sync-dropbox]
description = "Reads a tenant's Dropbox"
argv = ["zoltag", "sync-dropbox", "--tenant-id", "{job.tenant_id}", ["--limit", "{limit}"], "--", "{folder}"]
folder = "/"
environment = { MODE = "fast" }
secrets = ["ZOLTAG_KEY"]
exit_codes = { permanent = [64, 65], not_yet = [75] }

[commands.sync-dropbox.payload]
folder = { max_length = 200, leading_dash = true }
limit = { type = "integer", minimum = 1, maximum = 100, optional = true }
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "commands.toml"
    path.write_text(SYNC)
    path.chmod(0o600)
    return path


def test_a_file_of_commands_is_read_with_careful_defaults(file: Path) -> None:
    (command,) = read_commands(file).values()

    assert (command.timeout_seconds, command.max_attempts, command.enqueued_by) == (3600, 3, "service")
    assert (command.memory_mb, command.exit_codes.done) == (1024, [0])


@pytest.mark.parametrize(
    ("instead", "of", "complaint"),
    [
        ("{nobody}", "{job.tenant_id}", "argv has {nobody}, and payload does not"),
        ("{job.payload}", "{job.tenant_id}", "argv has {job.payload}"),
        ("{", "{job.tenant_id}", "write {{ for a brace"),
        ("{folder!r}", "{folder}", "write {{ for a brace"),
        ("none", "{folder}", "payload.folder is not used in argv"),
        ("{folder}", "zoltag", "begin with the program itself"),
        ("./zoltag", "zoltag", "a name or an absolute path"),
        ('"{limit}"', '["--limit", "{limit}"]', "limit is optional"),
        ('"{folder}"', '"--", "{folder}"', 'put "--" before it'),
        ('["--"], "{folder}"', '"--", "{folder}"', 'put "--" before it'),
        ('pattern = "[a-z]+"', "max_length = 200", "must begin with ^ and end with $"),
        ('pattern = "^(?=a)$"', "max_length = 200", "has lookaround"),
        ("TICKWORK_SECRET_KEY", "ZOLTAG_KEY", "is a setting of the worker"),
        ('"A B"', "MODE", "is not the name of a variable"),
        ("srv", "/", "must be an absolute path"),
        ("shell = true\nfolder = ", "folder = ", "shell"),
        ("300", "75", "exit_codes.not_yet"),
        ("[commands.'rm -rf']", "[commands.sync-dropbox]", "commands"),
        ("[[[", "[commands.sync-dropbox]", "commands.toml"),
    ],
)
def test_a_file_that_says_something_unsafe_is_refused(file: Path, instead: str, of: str, complaint: str) -> None:
    assert of in SYNC
    file.write_text(SYNC.replace(of, instead, 1))

    with pytest.raises(BadSetting) as refused:
        read_commands(file)

    assert complaint in str(refused.value)


def test_a_file_that_others_may_write_is_refused(file: Path) -> None:
    file.chmod(0o620)

    with pytest.raises(BadSetting, match="chmod go-w"):
        read_commands(file)


def test_a_worker_starts_only_if_all_commands_can_run(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TICKWORK_DATABASE_URL", "postgresql://nobody@127.0.0.1/none")
    with pytest.raises(BadSetting, match="TICKWORK_COMMANDS_FILE is not set"):
        handlers_of_file()

    monkeypatch.setenv("TICKWORK_COMMANDS_FILE", str(file))
    with pytest.raises(BadSetting, match="ZOLTAG_KEY is not set"):
        handlers_of_file()

    monkeypatch.setenv("ZOLTAG_KEY", "k")
    with pytest.raises(BadSetting, match="there is no program zoltag"):
        handlers_of_file()

    file.write_text(SYNC.replace("zoltag", "true").replace('folder = "/"', 'folder = "/nowhere"'))
    with pytest.raises(BadSetting, match="there is no folder /nowhere"):
        handlers_of_file()

    file.write_text(SYNC.replace("zoltag", "true"))
    assert handlers_of_file().keys() == {"sync-dropbox"}


@pytest.mark.parametrize("argv", [["a\0b"], [""], [["echo"]], []])
def test_a_program_is_named(argv: list[Any]) -> None:
    with pytest.raises(ValueError):
        Command(argv=argv, folder="/")
