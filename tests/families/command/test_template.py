"""Forty hostile payloads: the program gets exactly what was meant, or the payload is refused."""

import hashlib
import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from tickwork.cli.commands import no_transaction, pretended_job
from tickwork.errors import InvalidPayload
from tickwork.families.command.allowlist import Command
from tickwork.families.command.process import Process
from tickwork.families.command.run_command import argv_of, handler_of
from tickwork.families.command.template import filled
from tickwork.jobs.handler import Tools

# All of them would be longer than a tail.
SHOW = """
import hashlib, json, sys
print(json.dumps([len(sys.argv[1:]), hashlib.sha256(json.dumps(sys.argv[1:]).encode()).hexdigest()]))
"""
SHOW_ARGUMENTS = [sys.executable, "-c", SHOW]

EXACT = [
    "plain",
    "",
    " ",
    "two words",
    "  around  ",
    "'single'",
    '"double"',
    "`id`",
    "$(id)",
    "${HOME}",
    "$HOME",
    "; id",
    "a && id",
    "a || id",
    "a | id",
    "> /tmp/x",
    "< /etc/passwd",
    "*",
    "~root",
    "!!",
    "#comment",
    "back\\slash",
    "%s%n",
    "{name}",
    "{{name}}",
    "{job.id}",
    "@/etc/passwd",
    "../../etc/passwd",
    " --leading space",
    "a--b",
    "é ü 漢字 🙂",
    "\N{RIGHT-TO-LEFT OVERRIDE}txt.exe",
    "x" * 1000,
]
REFUSED = [
    "-",
    "-rf",
    "--help",
    "--",
    "\N{HYPHEN}rf",
    "\N{NON-BREAKING HYPHEN}rf",
    "\N{EN DASH}rf",
    "\N{EM DASH}-rf",
    "\N{MINUS SIGN}rf",
    "\N{FULLWIDTH HYPHEN-MINUS}rf",
    "\N{SMALL HYPHEN-MINUS}rf",
    "\N{SUPERSCRIPT MINUS}1",
    "line\nbreak",
    "carriage\rreturn",
    "nul\0byte",
    "\x1b[2J",
    "tab\there",
    "\N{LINE SEPARATOR}",
    "half \ud800",
    "x" * 1001,
    7,
    True,
    None,
    ["-rf"],
    {"name": "x"},
]


def command(**fields: Any) -> Command:
    return Command.model_validate({"argv": ["echo", "{name}"], "payload": {"name": {}}, "folder": "/", **fields})


def tools_for(command: Command) -> Tools:
    return Tools(pretended_job("show", command, {}, uuid4()), no_transaction)


def printed_by(command: Command, argv: list[str], workers: Mapping[str, str]) -> Any:
    """What a real program says that it got."""
    with Process(command, argv, command.own_environment(workers)) as process:
        while process.read(1):
            pass
    return json.loads(process.stdout.text({}))


def test_a_program_gets_exactly_the_values() -> None:
    values = {f"v{number}": value for number, value in enumerate(EXACT)}
    places = [each.format(name) for name in values for each in ("{{{}}}", "--set={{{}}}")]
    all_of_them = command(argv=[*SHOW_ARGUMENTS, *places], payload={name: {} for name in values})

    argv = argv_of(all_of_them, all_of_them.payload_model().model_validate(values), tools_for(all_of_them))

    meant = [argument for value in EXACT for argument in (value, f"--set={value}")]
    assert printed_by(all_of_them, argv, {}) == [len(meant), digest_of(meant)]


def digest_of(arguments: list[str]) -> str:
    return hashlib.sha256(json.dumps(arguments).encode()).hexdigest()


@pytest.mark.parametrize("value", REFUSED, ids=ascii)
def test_what_no_program_should_get_is_refused(value: object, tmp_path: Path) -> None:
    witness = tmp_path / "it-ran"
    harmful = command(argv=["touch", str(witness), "{name}"])

    with pytest.raises(InvalidPayload, match="name: ") as refused:
        handler_of(harmful)({"name": value}, tools_for(harmful))

    assert not witness.exists()
    assert str(value) not in str(refused.value) or len(str(value)) < 5


@pytest.mark.parametrize("payload", [{}, {"name": "x", "more": "y"}, {"Name": "x"}, {"name": "x", "job.id": "y"}])
def test_a_payload_has_exactly_the_fields_of_the_file(payload: dict[str, str]) -> None:
    with pytest.raises(InvalidPayload):
        handler_of(command())(payload, tools_for(command()))


def test_the_tenant_is_that_of_the_job_and_never_of_the_payload() -> None:
    own = command(argv=["zoltag", "sync-dropbox", "--tenant-id", "{job.tenant_id}", "{job.id}", "{name}"])
    tools = tools_for(own)

    argv = argv_of(own, own.payload_model().model_validate({"name": "{job.tenant_id}"}), tools)

    assert argv == ["zoltag", "sync-dropbox", "--tenant-id", str(tools.tenant_id), str(tools.job_id), "{job.tenant_id}"]


def test_arguments_in_brackets_are_left_out_together() -> None:
    template = ["run", ["--limit", "{limit}"], "{{x}}", ["--all"], "{name}"]

    assert filled(template, {"name": "n"}) == ["run", "{x}", "--all", "n"]
    assert filled(template, {"name": "n", "limit": "5"}) == ["run", "--limit", "5", "{x}", "--all", "n"]


@pytest.mark.parametrize(
    ("argument", "value", "meant"),
    [
        ({"leading_dash": True}, "-rf", "-rf"),
        ({"type": "integer", "leading_dash": True}, -5, "-5"),
        ({"type": "integer"}, 2**53, str(2**53)),
        ({"type": "boolean"}, True, "true"),
        ({"choices": ["-v", "quiet"]}, "-v", "-v"),
        ({"type": "uuid"}, "0193b3a0-5ef1-75be-bf23-e06d56c74b9c", "0193b3a0-5ef1-75be-bf23-e06d56c74b9c"),
        ({"optional": True}, None, None),
    ],
)
def test_what_is_declared_is_allowed(argument: dict[str, Any], value: Any, meant: str | None) -> None:
    declared = command(argv=["echo", "--", ["{name}"]], payload={"name": argument})
    payload = {} if value is None else {"name": value}

    argv = argv_of(declared, declared.payload_model().model_validate(payload), tools_for(declared))

    assert argv == ["echo", "--", *([] if meant is None else [meant])]


@pytest.mark.parametrize(
    ("argument", "value"),
    [
        ({"type": "integer"}, -5),
        ({"type": "integer"}, "5"),
        ({"type": "integer"}, 5.5),
        ({"type": "integer"}, True),
        ({"type": "integer", "maximum": 9}, 10),
        ({"type": "boolean"}, "true"),
        ({"choices": ["fast"]}, "fast;"),
        ({"type": "uuid"}, "0193b3a0-5ef1-75be-bf23-e06d56c74b9c\n"),
        ({"type": "uuid"}, "{0193b3a0-5ef1-75be-bf23-e06d56c74b9c}"),
        ({"pattern": "^[a-z]+$"}, "abc\n"),
        ({"pattern": "^[a-z]+$"}, "abc;"),
        ({"leading_dash": True}, "-\n"),
    ],
)
def test_what_is_not_declared_is_refused(argument: dict[str, Any], value: Any) -> None:
    declared = command(argv=["echo", "--", "{name}"], payload={"name": argument})

    with pytest.raises(InvalidPayload, match="name: "):
        handler_of(declared)({"name": value}, tools_for(declared))


def test_nothing_of_the_workers_environment_reaches_a_program() -> None:
    show = [sys.executable, "-c", "import json, os; print(json.dumps(sorted(os.environ)))"]
    own = command(argv=show, payload={}, environment={"MODE": "fast"}, secrets=["OWN_KEY"])
    workers = {**os.environ, "OWN_KEY": "k", "TICKWORK_DATABASE_URL": "postgresql://x"}

    assert set(printed_by(own, show, workers)) - {"LC_CTYPE"} == {"PATH", "LANG", "MODE", "OWN_KEY"}
