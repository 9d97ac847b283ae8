"""The command for maintenance: purge."""

import sys
from datetime import timedelta
from typing import Annotated

import typer

from tickwork.cli import connect
from tickwork.cli.options import AsJson, DatabaseUrl
from tickwork.cli.output import print_json
from tickwork.errors import InvalidRequest

commands = typer.Typer()


@commands.command()
def purge(
    days: Annotated[float, typer.Option("--older-than", min=0, metavar="DAYS", help="How many days ago they ended.")],
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    database_url: DatabaseUrl = None,
    as_json: AsJson = False,
) -> None:
    """Delete jobs that ended long ago."""
    client = connect.client(database_url)
    if not yes:
        print(f"Delete all jobs that ended more than {days:g} days ago? [y/N] ", end="", file=sys.stderr, flush=True)
        if sys.stdin.readline().strip().lower() not in ("y", "yes"):
            raise InvalidRequest("nothing was deleted", hint="Answer y, or pass --yes.")
    purged = 0
    while portion := client.maintenance.purge_jobs(timedelta(days=days)):
        purged += portion
    print_json({"purged": purged}) if as_json else print(f"{purged} {'job is' if purged == 1 else 'jobs are'} gone.")
