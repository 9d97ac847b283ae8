"""The commands for the links of passports: the resolver of a tenant, and the link QR code of a battery."""

from typing import Annotated

import typer

from tickwork.cli import connect
from tickwork.cli.options import AsJson, DatabaseUrl, OfTenant
from tickwork.cli.output import print_json, printable
from tickwork.cli.passport_arguments import passport_of
from tickwork.cli.passport_commands import Gtin, Passport, Serial, Wait, print_qr
from tickwork.cli.passport_waiting import finished_job
from tickwork.cli.passports import group
from tickwork.errors import InvalidRequest


@group.command("resolver")
def resolver(
    tenant: OfTenant,
    host: Annotated[
        str | None, typer.Argument(help="Set it to this host, such as id.example.com.", metavar="HOST")
    ] = None,
    remove: Annotated[bool, typer.Option("--remove", help="Set none: passports have no links then.")] = False,
    database_url: DatabaseUrl = None,
    as_json: AsJson = False,
) -> None:
    """Show, set or remove the host that the links of a tenant's passports lead to."""
    if host and remove:
        raise InvalidRequest("HOST and --remove exclude each other")
    client = connect.client(database_url)
    tenant_id, links = client.tenants.find(tenant), client.passports
    found = links.set_resolver(tenant_id, host) if host or remove else links.get_resolver(tenant_id)
    if as_json:
        print_json({"resolver": found})
    elif found:
        print(f"Links lead to https://{printable(found)}.")
    else:
        print("There is no resolver: passports have no links.")


@group.command("link")
def link(
    passport: Passport,
    gtin: Gtin = None,
    serial: Serial = None,
    wait: Wait = 60,
    database_url: DatabaseUrl = None,
    as_json: AsJson = False,
) -> None:
    """Make the link QR code of a passport; first set the GTIN or serial number, if given."""
    client = connect.client(database_url)
    row = passport_of(client, passport)
    if gtin or serial:
        client.passports.set_gtin(row["id"], gtin or row["gtin"], serial or row["serial"])
    finished_job(client, client.passports.request_link_qr(row["id"])["id"], wait)
    row = client.passports.get_passport(row["id"])
    if as_json:
        print_json(row)
    elif row["link_qr_payload"]:
        print(row["link_qr_payload"])
        print_qr(row["link_qr_payload"])
