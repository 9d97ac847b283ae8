"""The commands for the local stack: up, demo, status, tick."""

from pathlib import Path
from typing import Annotated

import typer

from tickwork.cli import connect
from tickwork.cli.connect import HOME
from tickwork.cli.options import AsJson, DatabaseUrl, Functions
from tickwork.cli.output import print_json
from tickwork.errors import BadSetting

commands = typer.Typer()


@commands.command()
def up(
    reset: Annotated[bool, typer.Option("--reset", help="Start with an empty database.")] = False,
    tick_seconds: Annotated[float, typer.Option(min=0.1, help="How often the ticker wakes the functions.")] = 30,
    functions: Functions = None,
) -> None:
    """Run the local stack, with a live table of its jobs."""
    from tickwork_local.live import show
    from tickwork_local.stack import functions_in, running_stack, stopped_by_signals

    with stopped_by_signals():
        print("Starting Postgres and the functions …", flush=True)
        with running_stack(HOME, functions_in(functions), tick_seconds=tick_seconds, reset=reset) as stack:
            show(stack)


@commands.command()
def demo() -> None:
    """Run sample jobs and documents through, and check them."""
    from tickwork_local.demo import run_demo

    raise typer.Exit(run_demo(Path(f"{HOME}-demo")))


@commands.command()
def status(as_json: AsJson = False) -> None:
    """Show the URLs of the database and functions of the stack."""
    from tickwork_local.stack import find_stack

    stack = find_stack(HOME)
    if as_json:
        print_json({"running": stack is not None, **(stack.as_json() if stack else {})})
        raise typer.Exit(0 if stack else 1)
    if stack is None:
        raise BadSetting(f"no local stack is running in {HOME}. Start one with `tickwork up`.")
    print(f"The local stack is running as process {stack.pid}.")
    for name, where in stack.places().items():
        print(f"{name:<9} {where}")


@commands.command()
def tick(database_url: DatabaseUrl = None, as_json: AsJson = False) -> None:
    """Do what cron does, once: reap leases, wake the functions."""
    from tickwork_local.stack import find_stack
    from tickwork_local.ticker import wake_all

    url = connect.chosen_url(database_url)
    reaped = connect.client(url).maintenance.reap_expired_leases()
    stack = find_stack(HOME)
    reports = wake_all(stack.functions) if stack and stack.database_url == url else []
    if as_json:
        print_json({"reaped": reaped, "functions": reports})
    else:
        print(f"{reaped} expired leases ended, {len(reports)} functions woken")
        for report in reports:
            counts = ", ".join(f"{count} {what}" for what, count in report.items() if what != "family")
            print(f"{report['family']}: {counts}")
    raise typer.Exit(1 if any("error" in report for report in reports) else 0)
