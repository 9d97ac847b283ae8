"""The commands for secrets that http_request may use: set, list, remove. A value is never on the command line."""

import sys
from getpass import getpass
from typing import Annotated

import typer

from tickwork.cli import connect
from tickwork.cli.options import AsJson, DatabaseUrl, OfTenant
from tickwork.cli.output import moment, print_rows
from tickwork.errors import InvalidRequest
from tickwork.families.webhook.http_request import REFERENCE, Secret
from tickwork.tools.outbound.urls import host_in_ascii

OWNER = "tenant"
# A shorter one could match unrelated text when it is redacted.
MIN_LENGTH = 8

commands = typer.Typer()
group = typer.Typer(help="Manage secrets of tenants, for http_request.", rich_markup_mode=None)
commands.add_typer(group, name="secrets")

Name = Annotated[str, typer.Argument(help="Letters, digits, dots, dashes and underscores.", metavar="NAME")]


@group.command("set")
def set_secret(
    name: Name,
    tenant: OfTenant,
    host: Annotated[
        list[str],
        typer.Option(
            help="Host that may get it by https, such as api.example.com, or http://127.0.0.1; repeatable; * for all."
        ),
    ],
    yes: Annotated[bool, typer.Option("--yes", help="Replace one of the same name without asking.")] = False,
    database_url: DatabaseUrl = None,
) -> None:
    """Store a secret, read from a prompt or standard input."""
    if not REFERENCE.fullmatch(f"{{{{secret:{name}}}}}"):
        raise InvalidRequest(f"NAME: {name!r} contains characters that are not allowed")
    client = connect.client(database_url)
    tenant_id = client.tenants.find(tenant)
    if not yes and any(row["name"] == name for row in client.secrets.overview(tenant_id, OWNER)):
        confirm_replacement(name)
    value = (getpass("Its value: ") if sys.stdin.isatty() else sys.stdin.read()).strip()
    if len(value) < MIN_LENGTH or not value.isascii() or not value.isprintable():
        raise InvalidRequest(f"value: must be one line of at least {MIN_LENGTH} ASCII characters")
    hosts = [host_in_ascii(each) for each in host]
    client.secrets.store(tenant_id, OWNER, name, Secret(value=value, hosts=hosts).model_dump_json(), hosts=hosts)
    print(f"Stored. Headers of http_request may contain {{{{secret:{name}}}}}.")


def confirm_replacement(name: str) -> None:
    # If standard input is no terminal, it has the value, and nobody can answer.
    question = f"Replace the secret {name} and its hosts? [y/N] "
    if not sys.stdin.isatty() or input(question).strip().lower() not in ("y", "yes"):
        raise InvalidRequest(
            f"NAME: there is a secret {name!r} already", hint="Pass --yes to replace it and its hosts."
        )


@group.command("list")
def list_secrets(tenant: OfTenant, database_url: DatabaseUrl = None, as_json: AsJson = False) -> None:
    """List a tenant's secrets and their hosts; the values cannot be read."""
    client = connect.client(database_url)
    rows = client.secrets.overview(client.tenants.find(tenant), OWNER)
    columns = {
        "secret": lambda row: row["name"],
        "hosts": lambda row: ", ".join(row["hosts"]),
        "since": lambda row: moment(row["created_at"]),
    }
    print_rows(rows, as_json, columns, "No secrets.")


@group.command("remove")
def remove_secret(name: Name, tenant: OfTenant, database_url: DatabaseUrl = None) -> None:
    """Delete a secret."""
    client = connect.client(database_url)
    if not client.secrets.drop(client.tenants.find(tenant), OWNER, name):
        raise InvalidRequest(
            f"NAME: there is no secret {name!r}", hint="`tickwork secrets list --tenant …` shows their names."
        )
    print("Deleted.")
