"""The commands for the local stack: up, demo, status, tick."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tickwork.cli import arguments, connect
from tickwork.cli.connect import stack_home
from tickwork.cli.options import AsJson, DatabaseUrl, Functions
from tickwork.cli.output import print_json
from tickwork.cli.project import API, BUILT_IN, FIRST_PORT, Project, find_project, missing_packages
from tickwork.database.migrate import installed_modules
from tickwork.database.modules import CHAPTERS, with_needs
from tickwork.errors import BadSetting, InvalidRequest
from tickwork.shipped import FUNCTIONS

if TYPE_CHECKING:
    from tickwork_local.functions import Function

commands = typer.Typer()

OF_SUPABASE = ("supabase_url", "supabase_anon_key", "supabase_service_key", "supabase_user", "supabase_token")
PRINTABLE = ("database_url", "worker_database_url", "vault_url", "logs", "api_url", "api_key", *OF_SUPABASE)


Port = Annotated[
    int | None,
    typer.Option(
        envvar="TICKWORK_PORT",
        show_envvar=False,
        min=0,
        max=65_000,
        help="Of the database; that of the Supabase server is one above, that of the API two above, "
        "those of the functions are from ten above. "
        "0 takes any that are free. "
        f"By default the port of the project, or {FIRST_PORT}.",
    ),
]


@commands.command()
def up(
    reset: Annotated[bool, typer.Option("--reset", help="Start with an empty database.")] = False,
    tick_seconds: Annotated[float, typer.Option(min=0.1, help="How often the ticker wakes the functions.")] = 30,
    port: Port = None,
    database_url: Annotated[
        str | None, typer.Option(help="An existing database to work with, instead of one of the stack's own.")
    ] = None,
    supabase: Annotated[
        bool, typer.Option("--supabase", help="Serve the database to Supabase clients too; needs Node 20 or later.")
    ] = False,
    functions: Functions = None,
) -> None:
    """Run the local stack, with a live table of its jobs."""
    from tickwork_local.live import say, show
    from tickwork_local.stack import running_stack, stopped_by_signals
    from tickwork_local.supabase import installed_lite

    project = find_project()
    url = database_url or project.database
    if url and reset:
        raise InvalidRequest("--reset: only a database of the stack's own can be emptied", hint="Leave it out.")
    if url and supabase:
        raise InvalidRequest("--supabase: only a database of the stack's own is served", hint="Leave it out.")
    url = arguments.database_url(url, "--database-url") if url else None
    first = project.port if port is None else port
    chosen = chosen_functions(project, functions, url, first)
    with stopped_by_signals():
        lite = installed_lite() if supabase else None
        print(f"Starting {'' if url else 'Postgres and '}the functions …", flush=True)
        with running_stack(
            stack_home(),
            chosen,
            project=project,
            database_url=url,
            supabase=lite,
            api=chosen_api(first),
            port=first,
            tick_seconds=tick_seconds,
            reset=reset,
            say=say,
        ) as stack:
            show(stack)


def chosen_functions(
    project: Project, functions: Path | None, database_url: str | None, first: int
) -> "dict[str, Function]":
    """Each with its port, which does not depend on which of them are left out."""
    from tickwork_local.functions import Function

    families = project.families(functions)
    modules = installed_modules(database_url) if database_url else with_needs(project.modules or CHAPTERS)
    left_out = {family: why for family, folder in families.items() if (why := reason_to_leave_out(folder, modules))}
    if left_out:
        print("Left out: " + ", ".join(f"{family} ({why})" for family, why in left_out.items()))
    return {
        family: Function(folder / "main.py", port=first and first + 10 + place)
        for place, (family, folder) in enumerate(families.items())
        if family not in left_out
    }


def chosen_api(first: int) -> "Function | None":
    from tickwork_local.functions import Function

    if missing_packages(API):
        print(f"Left out: {API} (needs tickwork[{API}])")
        return None
    return Function(FUNCTIONS / API / "main.py", port=first and first + 2)


def reason_to_leave_out(folder: Path, modules: Sequence[str]) -> str | None:
    """Only for the built-in families: those of a project are expected to run."""
    if folder.parent != FUNCTIONS:
        return None
    module, _ = BUILT_IN[folder.name]
    if module not in modules:
        return f"needs the module {module}"
    if missing_packages(folder.name):
        return f"needs tickwork[{folder.name}]"
    return None


@commands.command()
def demo(
    keep: Annotated[
        bool | None,
        typer.Option("--keep/--no-keep", help="Leave the console open for a minute; by default in a terminal."),
    ] = None,
) -> None:
    """Run sample jobs and documents through, and check them."""
    from tickwork_local.demo import run_demo

    is_kept = sys.stdout.isatty() if keep is None else keep
    raise typer.Exit(run_demo(Path(f"{stack_home()}-demo"), is_kept=is_kept))


@commands.command()
def console() -> None:
    """Print a link that signs you in to the stack's console, once."""
    from tickwork_local.api import console_link
    from tickwork_local.stack import find_stack

    stack = find_stack(stack_home())
    if stack is None or "api_url" not in stack.api:
        raise BadSetting(f"no local stack with an API is running in {stack_home()}. Start one with `tickwork up`.")
    print(console_link(stack.api["api_url"], stack.database_url))


@commands.command()
def status(
    name: Annotated[
        str | None, typer.Argument(help=f"Print only this one of {', '.join(PRINTABLE)}.", metavar="NAME")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Show the URLs of the database and functions of the stack."""
    from tickwork_local.stack import find_stack

    stack = find_stack(stack_home())
    if as_json:
        print_json({"running": stack is not None, **(stack.as_json() if stack else {})})
        raise typer.Exit(0 if stack else 1)
    if stack is None:
        raise BadSetting(f"no local stack is running in {stack_home()}. Start one with `tickwork up`.")
    if name:
        if name not in PRINTABLE:
            raise InvalidRequest(f"NAME: there is no {name!r}", hint=f"There are {', '.join(PRINTABLE)}.")
        if name in OF_SUPABASE and not stack.supabase:
            raise BadSetting("the local stack runs without Supabase. Start it with `tickwork up --supabase`.")
        if name not in stack.as_json():
            raise BadSetting("the local stack serves no API: install tickwork[api].")
        print(stack.as_json()[name])
        return
    print(f"The local stack is running as process {stack.pid}.")
    stack.print_places()


@commands.command()
def tick(database_url: DatabaseUrl = None, as_json: AsJson = False) -> None:
    """Do what cron does, once: upkeep, and wake-ups."""
    from tickwork_local.stack import find_stack
    from tickwork_local.ticker import wake_all

    url = connect.chosen_url(database_url)
    reaped = connect.client(url).maintenance.maintain()
    stack = find_stack(stack_home())
    reports = wake_all(stack.functions) if stack and stack.database_url == url else []
    if as_json:
        print_json({"reaped": reaped, "functions": reports})
    else:
        print(f"{reaped} expired leases ended, {len(reports)} functions woken")
        for report in reports:
            counts = ", ".join(f"{count} {what}" for what, count in report.items() if what != "family")
            print(f"{report['family']}: {counts}")
    raise typer.Exit(1 if any("error" in report for report in reports) else 0)
