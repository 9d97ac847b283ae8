"""The commands for the operator's file of commands: list them, check them, write their types, run one."""

import json
import os
import sys
from pathlib import Path
from typing import Annotated, Any
from uuid import UUID, uuid4

import typer
from pydantic import ValidationError

from tickwork.cli import arguments, connect
from tickwork.cli.options import AsJson, DatabaseUrl
from tickwork.cli.output import print_rows, printable
from tickwork.client import Tickwork
from tickwork.errors import BadSetting, InvalidRequest, JobError
from tickwork.families.command.allowlist import Command, read_commands
from tickwork.families.command.run_command import Result, argv_of, handler_of
from tickwork.jobs.handler import Tools
from tickwork.jobs.payload_schema import payload_schema_of, result_schema_of
from tickwork.jobs.worked_job import WorkedJob

FAMILY = "command"

commands = typer.Typer()
group = typer.Typer(help="List the commands that jobs may run, or check them.", rich_markup_mode=None)
commands.add_typer(group, name="commands")

File = Annotated[
    Path | None,
    typer.Option("--file", envvar="TICKWORK_COMMANDS_FILE", show_envvar=False, help="The file of commands."),
]
Key = Annotated[str, typer.Argument(help="As `tickwork commands list` shows it.", metavar="COMMAND")]


@group.command("list")
def show_all(file: File = None, as_json: AsJson = False) -> None:
    """List the commands of the file."""
    rows = [{"command": key, **command.model_dump(mode="json")} for key, command in commands_of(file).items()]
    columns = {
        "command": lambda row: row["command"],
        "argv": lambda row: json.dumps(row["argv"], ensure_ascii=False),
        "timeout": lambda row: f"{row['timeout_seconds']} s",
        "attempts": lambda row: str(row["max_attempts"]),
        "enqueued by": lambda row: row["enqueued_by"],
        "description": lambda row: row["description"],
    }
    print_rows(rows, as_json, columns, "No commands. Each is a table [commands.NAME] of the file.")


@group.command("check")
def check(file: File = None, database_url: DatabaseUrl = None, as_json: AsJson = False) -> None:
    """Check that all commands can run on this machine and, where a database is configured, that their types fit."""
    found = commands_of(file)
    types = types_of(client_if_any(database_url))
    rows = [
        {"command": key, "problem": problem}
        for key, command in found.items()
        for problem in [*command.problems(os.environ), *type_problems(key, command, types)]
    ]
    columns = {"command": lambda row: row["command"], "problem": lambda row: row["problem"]}
    print_rows(rows, as_json, columns, "No problems.")
    if rows:
        raise typer.Exit(1)


@group.command("apply")
def apply(file: File = None, database_url: DatabaseUrl = None) -> None:
    """Write the type of each command into the database, so that jobs of it can be enqueued."""
    client = connect.client(database_url)
    types = types_of(client)
    for key, command in commands_of(file).items():
        wanted = type_of(command)
        if key not in types:
            client.job_types.create_job_type(key, **wanted)
            print(f"{key} is a type now.")
        elif types[key]["family"] != FAMILY:
            family = types[key]["family"]
            raise InvalidRequest(f"{key}: there is such a type of the family {family}", hint="Rename the command.")
        elif changes := differences(wanted, types[key]):
            client.job_types.change_job_type(key, changes)
            print(f"{key} has changed: {', '.join(changes)}.")


@group.command("run")
def run(
    key: Key,
    payload: Annotated[str, typer.Argument(help="Payload as JSON.", metavar="PAYLOAD")] = "{}",
    tenant: Annotated[UUID | None, typer.Option(help="Id that stands for {job.tenant_id}.")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only show the arguments.")] = False,
    file: File = None,
) -> None:
    """Run a command here and now, as a worker would, without a job."""
    command = commands_of(file).get(key)
    if command is None:
        raise InvalidRequest(f"COMMAND: there is no command {key!r}", hint="`tickwork commands list` shows them.")
    given = arguments.payload(payload)
    tools = Tools(pretended_job(key, command, given, tenant or uuid4()), no_transaction)
    if dry_run:
        print(json.dumps(argv_of(command, validated(command, given), tools), ensure_ascii=False))
        return
    for problem in command.problems(os.environ):
        raise BadSetting(f"{key}: {problem}")
    try:
        ended = handler_of(command)(given, tools).result
        assert isinstance(ended, Result)
        words, code = f"It ended with the exit code {ended.exit_code}.", 0
    except JobError as error:
        words, code = f"{error.code}: {error}", 1
    if tools.output:
        print(printable_lines(tools.output.stdout_tail), end="")
        print(printable_lines(tools.output.stderr_tail), end="", file=sys.stderr)
    print(printable(words), file=sys.stderr)
    raise typer.Exit(code)


def commands_of(file: Path | None) -> dict[str, Command]:
    if file is None:
        raise BadSetting("no file of commands: set TICKWORK_COMMANDS_FILE, or pass --file")
    return read_commands(file)


def client_if_any(database_url: str | None) -> Tickwork | None:
    try:
        return connect.client(database_url)
    except BadSetting:
        if database_url is not None:
            raise
        return None


def types_of(client: Tickwork | None) -> dict[str, Any]:
    return {row["key"]: row for row in client.job_types.list_job_types()} if client else {}


def type_of(command: Command) -> dict[str, Any]:
    return {
        "family": FAMILY,
        "description": command.description,
        "payload_schema": payload_schema_of(command.payload_model()),
        "result_schema": result_schema_of(Result),
        "timeout_seconds": command.timeout_seconds,
        "max_attempts": command.max_attempts,
        "enqueued_by": command.enqueued_by,
    }


def differences(wanted: dict[str, Any], row: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in wanted.items() if row[name] != value}


def type_problems(key: str, command: Command, types: dict[str, Any]) -> list[str]:
    if not types:
        return []
    if key not in types:
        return ["it is no type of the database: run `tickwork commands apply`"]
    changes = differences(type_of(command), types[key])
    return [f"its type differs in {', '.join(changes)}: run `tickwork commands apply`"] if changes else []


def validated(command: Command, payload: dict[str, Any]) -> Any:
    try:
        return command.payload_model().model_validate(payload)
    except ValidationError as error:
        problem = error.errors(include_input=False, include_url=False)[0]
        raise InvalidRequest(f"PAYLOAD: {'.'.join(map(str, problem['loc']))}: {problem['msg']}") from None


def pretended_job(key: str, command: Command, payload: dict[str, Any], tenant: UUID) -> WorkedJob:
    return WorkedJob(
        id=str(uuid4()),
        tenant_id=str(tenant),
        type=key,
        family=FAMILY,
        lane=None,
        payload=json.dumps(payload),
        attempts=1,
        max_attempts=command.max_attempts,
        lease_seconds=None,
        timeout_seconds=command.timeout_seconds,
        correlation_id=None,
        lease_token=str(uuid4()),
        trace=None,
        wait_ms=None,
    )


def no_transaction(work: object) -> None:
    raise NotImplementedError("a command has no database")


def printable_lines(text: str) -> str:
    return "".join(f"{printable(line)}\n" for line in text.splitlines())
