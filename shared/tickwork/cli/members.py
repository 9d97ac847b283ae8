"""The commands for members of tenants: list, add, remove."""

from typing import Annotated
from uuid import UUID

import typer

from tickwork.cli import connect
from tickwork.cli.options import AsJson, DatabaseUrl, OfTenant, Tenant
from tickwork.cli.output import print_rows, printable
from tickwork.errors import InvalidRequest

commands = typer.Typer()
group = typer.Typer(
    help="List who may act for which tenant, or change it.", no_args_is_help=True, rich_markup_mode=None
)
commands.add_typer(group, name="members")

ROLES = ("member", "admin", "owner")

User = Annotated[UUID, typer.Argument(help="Id of a user: on Supabase, of a row of auth.users.", metavar="USER")]


@group.command("list")
def list_members(tenant: Tenant = None, database_url: DatabaseUrl = None, as_json: AsJson = False) -> None:
    """List members with their tenants and roles."""
    client = connect.client(database_url)
    columns = {
        "user": lambda row: str(row["user_id"]),
        "tenant": lambda row: row["tenant"],
        "role": lambda row: row["role"],
    }
    rows = client.members.overview(client.tenants.find(tenant) if tenant else None)
    print_rows(rows, as_json, columns, "No members. `tickwork members add USER --tenant NAME` adds one.")


@group.command("add")
def add_member(
    user: User,
    tenant: OfTenant,
    role: Annotated[str, typer.Option(help="member, or admin or owner, who may also retry and cancel.")] = "member",
    database_url: DatabaseUrl = None,
) -> None:
    """Let a user act for a tenant, or give a member another role."""
    if role not in ROLES:
        raise InvalidRequest(f"role: there is no role {role!r}", hint=f"Use one of {', '.join(ROLES)}.")
    client = connect.client(database_url)
    client.members.add(client.tenants.find(tenant), user, role)
    print(f"{user} is {role} of {printable(tenant)}.")


@group.command("remove")
def remove_member(user: User, tenant: OfTenant, database_url: DatabaseUrl = None) -> None:
    """Let a user no longer act for a tenant."""
    client = connect.client(database_url)
    if not client.members.remove(client.tenants.find(tenant), user):
        raise InvalidRequest(f"USER: {user} is no member of {tenant!r}", hint="`tickwork members list` shows them.")
    print(f"{user} is no longer a member of {printable(tenant)}.")
