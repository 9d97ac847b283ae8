"""The commands for platform admins: list, add, remove."""

import typer

from tickwork.cli import connect
from tickwork.cli.members import User
from tickwork.cli.options import AsJson, DatabaseUrl
from tickwork.cli.output import moment, print_rows
from tickwork.errors import InvalidRequest

commands = typer.Typer()
group = typer.Typer(
    help="List who may act for every tenant, or change it.", no_args_is_help=True, rich_markup_mode=None
)
commands.add_typer(group, name="admins")


@group.command("list")
def list_admins(database_url: DatabaseUrl = None, as_json: AsJson = False) -> None:
    """List the platform admins."""
    columns = {"user": lambda row: str(row["user_id"]), "since": lambda row: moment(row["created_at"])}
    rows = connect.client(database_url).admins.overview()
    print_rows(rows, as_json, columns, "No platform admins. `tickwork admins add USER` adds one.")


@group.command("add")
def add_admin(user: User, database_url: DatabaseUrl = None) -> None:
    """Let a user act as an admin of every tenant."""
    was_none = connect.client(database_url).admins.add(user)
    print(f"{user} {'is' if was_none else 'was already'} a platform admin.")


@group.command("remove")
def remove_admin(user: User, database_url: DatabaseUrl = None) -> None:
    """Let a user no longer act for every tenant."""
    if not connect.client(database_url).admins.remove(user):
        raise InvalidRequest(f"USER: {user} is no platform admin", hint="`tickwork admins list` shows them.")
    print(f"{user} is no longer a platform admin.")
