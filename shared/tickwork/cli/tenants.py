"""The commands for tenants: list, add."""

from typing import Annotated

import typer

from tickwork.cli import connect
from tickwork.cli.options import AsJson, DatabaseUrl
from tickwork.cli.output import one_line, print_json, print_rows, printable

commands = typer.Typer()
group = typer.Typer(help="List the tenants, or add one.", invoke_without_command=True, rich_markup_mode=None)
commands.add_typer(group, name="tenants")


@group.callback()
def list_tenants(context: typer.Context, database_url: DatabaseUrl = None, as_json: AsJson = False) -> None:
    if context.invoked_subcommand:
        return
    rows = connect.client(database_url).tenants.overview()
    columns = {"id": lambda row: one_line(str(row["id"])), "tenant": lambda row: one_line(row["name"])}
    print_rows(rows, as_json, columns, "No tenants. `tickwork tenants add NAME` adds one.")


@group.command("add")
def add_tenant(
    name: Annotated[str, typer.Argument(metavar="NAME")], database_url: DatabaseUrl = None, as_json: AsJson = False
) -> None:
    """Add a tenant."""
    row = connect.client(database_url).tenants.add(name)
    if as_json:
        print_json(row)
    else:
        print(f"{row['id']} {printable(row['name'])}")
