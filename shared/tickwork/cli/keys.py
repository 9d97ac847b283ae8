"""The commands for API keys: create, list, revoke."""

from datetime import UTC, datetime, timedelta
from typing import Annotated
from uuid import UUID

import typer

from tickwork.cli import connect
from tickwork.cli.options import AsJson, DatabaseUrl, Tenant
from tickwork.cli.output import moment, print_json, print_rows, printable

commands = typer.Typer()
group = typer.Typer(
    help="List the API keys of machines, create or revoke one.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
commands.add_typer(group, name="keys")


@group.command("create")
def create_key(
    name: Annotated[str, typer.Argument(help="What the key is for.")],
    scope: Annotated[list[str], typer.Option(help="read, enqueue, operate or worker:<family>; more than once.")],
    tenant: Annotated[str | None, typer.Option(help="Id or name of its tenant; without, it serves all.")] = None,
    days: Annotated[int | None, typer.Option(min=1, max=36500, help="Expires after so many days.")] = None,
    account: Annotated[
        str | None, typer.Option(help="Accept tokens of this Google service account instead of a key.")
    ] = None,
    database_url: DatabaseUrl = None,
    as_json: AsJson = False,
) -> None:
    """Create a key and print it: it is not shown again."""
    client = connect.client(database_url)
    tenant_id = client.tenants.find(tenant) if tenant else None
    expires_at = datetime.now(UTC) + timedelta(days=days) if days else None
    row = client.keys.create_api_key(name, scope, tenant_id, expires_at, account)
    if as_json:
        print_json(row)
    elif account:
        print(f"{printable(row['account'])} may call the API with a token of its own.")
    else:
        print(row["key"])


@group.command("list")
def list_keys(
    tenant: Tenant = None,
    with_revoked: Annotated[bool, typer.Option("--revoked", help="Those that were revoked, too.")] = False,
    database_url: DatabaseUrl = None,
    as_json: AsJson = False,
) -> None:
    """List the keys, the latest first."""
    client = connect.client(database_url)
    names = {row["id"]: row["name"] for row in client.tenants.overview()}
    columns = {
        "id": lambda row: str(row["id"]),
        "key": lambda row: row["account"] or f"{row['prefix']}…",
        "name": lambda row: row["name"],
        "tenant": lambda row: names.get(row["tenant_id"], "all"),
        "scopes": lambda row: " ".join(row["scopes"]),
        "expires": lambda row: moment(row["expires_at"]) if row["expires_at"] else "",
        "last used": lambda row: moment(row["last_used_at"]) if row["last_used_at"] else "",
        "revoked": lambda row: moment(row["revoked_at"]) if row["revoked_at"] else "",
    }
    rows = client.keys.list_api_keys(client.tenants.find(tenant) if tenant else None, with_revoked, max_keys=1000)
    print_rows(rows, as_json, columns, "No keys. `tickwork keys create NAME --scope read` creates one.")


@group.command("revoke")
def revoke_key(
    id: Annotated[UUID, typer.Argument(help="Id of a key, as `tickwork keys list` shows it.", metavar="ID")],
    database_url: DatabaseUrl = None,
) -> None:
    """Revoke a key: nobody can use it from now on."""
    row = connect.client(database_url).keys.revoke_api_key(id)
    print(f"The key {printable(row['name'])} is revoked.")
