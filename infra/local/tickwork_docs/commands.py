"""The page on commands: what `tickwork --help` and the help of every command say."""

from collections.abc import Iterator
from importlib import import_module
from typing import Any

from typer import Context
from typer.main import get_group

from tickwork_docs.markdown import table

HEAD = """\
# Commands

`tickwork COMMAND --help` says the same. `--debug` before or after any command shows tracebacks. A command exits with 0
if all went well, 1 if it could not do what was asked, and 2 if it was called wrongly; errors go to standard error, with
what to do next. Without `--database-url`, a command uses `TICKWORK_DATABASE_URL`, or else the running local stack.

"""


def page() -> str:
    found = list(commands(command_line(), "tickwork"))
    rows = [(f"[`{name}`](#{name.replace(' ', '-')})", help_of(command)) for name, command in found]
    return HEAD + table(["command", "what it does"], rows) + "".join(described(*each) for each in found)


def command_line() -> Any:
    """The group of all commands, loaded."""
    main = import_module("tickwork.cli.main")
    group = get_group(main.app)
    group.commands = main.all_commands()
    return group


def commands(group: Any, path: str) -> Iterator[tuple[str, Any]]:
    """Every command with its full name, those of a group after the group itself."""
    for name, command in sorted(group.commands.items()):
        is_group = hasattr(command, "commands")
        if not is_group or command.invoke_without_command:
            yield f"{path} {name}", command
        if is_group:
            yield from commands(command, f"{path} {name}")


def described(name: str, command: Any) -> str:
    context = Context(command, info_name=name)
    usage = " ".join(command.get_usage(context).removeprefix("Usage: ").split())
    text = f"\n## {name}\n\n{help_of(command)}\n\n```\n{usage.replace('{', '').replace('}', '')}\n```\n"
    records = [option.get_help_record(context) for option in command.get_params(context) if option.name != "help"]
    rows = [(f"`{name}`", " ".join(meaning.split())) for name, meaning in filter(None, records)]
    return text + ("\n" + table(["option", "meaning"], rows) if rows else "")


def help_of(command: Any) -> str:
    return " ".join((command.help or "").split())
