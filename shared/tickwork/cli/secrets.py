"""The commands on secrets that http_request may use: set, list, remove. A value never stands on the command line."""

import sys
from getpass import getpass
from typing import Annotated

import typer

from tickwork.cli import arguments
from tickwork.cli.options import AsJson, DatabaseUrl, OfTenant, desk
from tickwork.cli.output import one_line, plain_table, print_json, print_table
from tickwork.errors import InvalidRequest
from tickwork.families.webhook.http_request import REFERENCE, Secret

OWNER = "tenant"
# A shorter one would be found in places where it only looks like itself.
SHORTEST = 8

secrets_app = typer.Typer(help="Keep secrets of tenants, for http_request.", rich_markup_mode=None)

Name = Annotated[str, typer.Argument(help="Letters, digits, dots, dashes and underscores.", metavar="NAME")]


@secrets_app.command("set")
def set_secret(
    context: typer.Context,
    name: Name,
    tenant: OfTenant,
    host: Annotated[
        list[str],
        typer.Option(
            help="Who may get it by https, such as api.example.com, or http://127.0.0.1; several times, or * for all."
        ),
    ],
    database_url: DatabaseUrl = None,
) -> None:
    """Store a secret, read from standard input or asked for."""
    if not REFERENCE.fullmatch(f"{{{{secret:{name}}}}}"):
        raise InvalidRequest(f"NAME: {name!r} has characters that no name of a secret has")
    queue = desk(context).queue(database_url)
    tenant_id = arguments.tenant_id(queue, tenant)
    value = (getpass("Its value: ") if sys.stdin.isatty() else sys.stdin.read()).strip()
    if len(value) < SHORTEST or not value.isascii() or not value.isprintable():
        raise InvalidRequest(f"the value must be {SHORTEST} characters or longer, of ASCII and in one line")
    stored = Secret(value=value, hosts=[each.lower() for each in host]).model_dump_json()
    desk(context).safe(database_url).store(queue.database, tenant_id, OWNER, name, stored)
    print(f"Stored. A header of http_request may say {{{{secret:{name}}}}}.")


@secrets_app.command("list")
def list_secrets(
    context: typer.Context, tenant: OfTenant, database_url: DatabaseUrl = None, as_json: AsJson = False
) -> None:
    """List the names of a tenant's secrets; their values are not to be had."""
    queue = desk(context).queue(database_url)
    given = {"tenant_id": arguments.tenant_id(queue, tenant), "owner": OWNER}
    rows = queue.database.rows("select * from tickwork.list_secrets(%(tenant_id)s, %(owner)s)", given)
    if as_json:
        print_json(rows)
        return
    table = plain_table("secret", "since")
    for row in rows:
        table.add_row(one_line(row["name"]), str(row["created_at"]))
    print_table(table) if rows else print("No secrets.")


@secrets_app.command("remove")
def remove_secret(context: typer.Context, name: Name, tenant: OfTenant, database_url: DatabaseUrl = None) -> None:
    """Forget a secret."""
    queue = desk(context).queue(database_url)
    given = {"tenant_id": arguments.tenant_id(queue, tenant), "owner": OWNER, "name": name}
    query = "select tickwork.drop_secrets(%(tenant_id)s, %(owner)s, %(name)s) as dropped"
    if queue.database.rows(query, given, repeatable=False)[0]["dropped"] == 0:
        raise InvalidRequest(
            f"NAME: there is no secret {name!r}", hint="`tickwork secrets list --tenant …` shows their names."
        )
    print("Forgotten.")
