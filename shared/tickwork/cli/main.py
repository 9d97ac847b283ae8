"""The command line. Each command does what its name says, and says what to do next when it cannot.

Each file of this folder has the commands for one resource in its `commands`, and is listed in RESOURCES. It is loaded
when one of its commands is used: `tickwork --help` has what it says from contents.py, which `make docs` writes.
"""

import sys
from collections.abc import MutableMapping
from functools import cache
from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup
from typer.exceptions import TyperException
from typer.main import get_group

from tickwork.cli.contents import CONTENTS
from tickwork.errors import Error, InvalidRequest, NoSuchJob, NotAllowed, QueueError, Unavailable

RESOURCES = (
    *("stack", "logs", "database", "jobs", "job_changes", "job_types", "pauses", "schedules", "maintenance"),
    *("metrics", "alerts", "worker", "workers", "commands", "relay", "doctor"),
    *("tenants", "members", "admins", "keys", "audit", "documents", "connectors", "imports", "classifier", "reports"),
    *("passports", "webhooks", "triggers", "secrets"),
    *("cron", "new", "bundles", "deploy"),
)

# They add their commands to those of `passports`.
MORE = {"passports": ("passport_inputs", "passport_rules", "passport_checks", "passport_commands", "passport_links")}


class LazyCommands(TyperGroup):
    """Knows of a command what CONTENTS says, until it is used."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        name = args[0]
        found = commands_of(CONTENTS[name][0]) if name in CONTENTS else {}
        if name in found:
            self.commands.update(found)
        else:
            # It is mistyped, or new: CONTENTS is only right after `make docs`.
            self.commands = all_commands()
        return super().resolve_command(ctx, args)


def all_commands() -> MutableMapping[str, Any]:
    return {name: command for file in RESOURCES for name, command in commands_of(file).items()}


@cache
def commands_of(file: str) -> MutableMapping[str, Any]:
    resource = typer.Typer(rich_markup_mode=None)
    resource.add_typer(import_module(f"tickwork.cli.{file}").commands)
    for more in MORE.get(file, ()):
        import_module(f"tickwork.cli.{more}")
    return get_group(resource).commands


app = typer.Typer(cls=LazyCommands, add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)


def main() -> None:
    """Prints our own errors as one line and a hint; a traceback only with --debug."""
    is_debugging = "--debug" in sys.argv
    arguments = [argument for argument in sys.argv[1:] if argument != "--debug"]
    sys.stdout.reconfigure(errors="replace")  # type: ignore[union-attr]
    try:
        check_encoding(arguments)
        sys.exit(GROUP(args=arguments or ["--help"], prog_name="tickwork", standalone_mode=False))
    except Exception as error:
        if is_debugging:
            raise
        from tickwork.cli.output import print_error

        print_error(*explained(error))
        sys.exit(getattr(error, "exit_code", 1))


def check_encoding(arguments: list[str]) -> None:
    try:
        "".join(arguments).encode()
    except UnicodeEncodeError:
        raise InvalidRequest("an argument is not UTF-8") from None


def explained(error: Exception) -> tuple[str, str | None]:
    match error:
        case Unavailable():
            return f"the database cannot be reached: {str(error).splitlines()[0]}", error.hint
        case NoSuchJob():
            return str(error), "`tickwork jobs` lists them."
        case NotAllowed(sqlstate="42501"):
            hint = "Pass a --database-url with the role that ran the migrations; workers use a different one."
            return str(error), hint
        case QueueError(sqlstate="42P01" | "42883" | "3F000"):
            hint = "Run `tickwork migrate URL`. Documents, webhooks and imports are modules: --with adds one."
            return f"this database lacks what the command needs: {error}", hint
        case Error():
            return str(error), getattr(error, "hint", None)
        case TyperException():
            context = getattr(error, "ctx", None)
            return error.format_message(), f"See `{context.command_path if context else 'tickwork'} --help`."
        case OSError():
            return str(error), None
        case _:
            return f"{type(error).__name__}: {error}", "This is a bug in tickwork. --debug shows the traceback."


def print_version(is_wanted: bool) -> None:
    if is_wanted:
        from importlib.metadata import version

        print(f"tickwork {version('tickwork')}")
        raise typer.Exit


@app.callback()
def options(
    debug: Annotated[bool, typer.Option("--debug", help="Show tracebacks.")] = False,
    version: Annotated[
        bool, typer.Option("--version", callback=print_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Durable background jobs on Postgres."""


GROUP = get_group(app)
GROUP.commands.update({name: TyperCommand(name, help=help) for name, (_, help) in CONTENTS.items()})
