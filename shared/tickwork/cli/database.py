"""The command for the schema: migrate."""

from typing import Annotated

import typer

from tickwork.cli import arguments
from tickwork.cli.options import AsJson
from tickwork.cli.output import print_json
from tickwork.database import migrate as migrations

commands = typer.Typer()


@commands.command()
def migrate(
    url: Annotated[str, typer.Argument(help="URL of any Postgres, version 15 or later.", metavar="URL")],
    as_json: AsJson = False,
) -> None:
    """Bring a database up to the current schema. Running it again changes nothing."""
    applied = migrations.migrate(arguments.database_url(url, "URL"))
    if as_json:
        print_json({"applied": applied})
    else:
        print("\n".join(f"applied {name}" for name in applied) or "Nothing to do: the schema is up to date.")
