"""The commands for connectors: list, add, check, renew, watch, remove."""

import re
import sys
import time
from getpass import getpass
from typing import Annotated, get_args
from uuid import UUID

import typer
from rich.text import Text

from tickwork.cli import connect
from tickwork.cli.options import AsJson, DatabaseUrl, OfTenant, Tenant
from tickwork.cli.output import one_line, plain_table, print_json, print_table, printable
from tickwork.cli.progress import explain_unfinished, followed, progress_bars
from tickwork.cli.upload import check_engine
from tickwork.client import Tickwork
from tickwork.client.direct.connectors import Provider
from tickwork.errors import InvalidRequest
from tickwork.jobs.rows import Job

PROVIDERS = get_args(Provider)
COLOURS = {"active": "green", "reauthorize": "red", "disabled": "bright_black"}

Connector = Annotated[str, typer.Argument(help="Id or name of a connector.", metavar="CONNECTOR")]
Wait = Annotated[float, typer.Option(min=0, help="How many seconds to wait for the result.")]

commands = typer.Typer()
group = typer.Typer(help="List cloud drives, or add one.", invoke_without_command=True, rich_markup_mode=None)
commands.add_typer(group, name="connectors")


@group.callback()
def show_connectors(
    context: typer.Context, tenant: Tenant = None, database_url: DatabaseUrl = None, as_json: AsJson = False
) -> None:
    if not context.invoked_subcommand:
        list_connectors(tenant, database_url, as_json)


@group.command("list")
def list_connectors(tenant: Tenant = None, database_url: DatabaseUrl = None, as_json: AsJson = False) -> None:
    """List cloud drives."""
    client = connect.client(database_url)
    tenant_id = client.tenants.find(tenant) if tenant else None
    rows = client.connectors.overview(tenant_id)
    if as_json:
        print_json(rows)
        return
    table = plain_table("id", "connector", "provider", "status", "tenant", "folders", "files", "extract")
    for row in rows:
        table.add_row(
            str(row["id"]),
            one_line(row["name"]),
            one_line(row["provider"]),
            Text(row["status"], COLOURS[row["status"]]),
            one_line(row.get("tenant") or str(row["tenant_id"])),
            str(row.get("folders", "")),
            str(row.get("files", "")),
            row["extract"] or "",
        )
    print_table(table) if rows else print("No connectors. `tickwork connectors add PROVIDER --tenant NAME` adds one.")


@group.command("add")
def add_connector(
    provider: Annotated[str, typer.Argument(help="dropbox, onedrive or gdrive.", metavar="PROVIDER")],
    tenant: OfTenant,
    name: Annotated[str | None, typer.Option(help="What people call it.")] = None,
    extract: Annotated[
        str | None, typer.Option(help="The engine that extracts the text of imported files, such as local.")
    ] = None,
    consent: Annotated[
        bool, typer.Option("--consent", help="Confirms consent to sending the documents to a third party.")
    ] = False,
    database_url: DatabaseUrl = None,
    as_json: AsJson = False,
) -> None:
    """Connect a cloud drive. Its refresh token is read from a prompt or a pipe."""
    client = connect.client(database_url)
    id = connect_drive(client, tenant, provider, name, extract, consent)
    print_json({"id": id}) if as_json else print(
        f"{id} is connected. Check that it works: tickwork connectors check {id}"
    )


@group.command("check")
def check_connector(
    connector: Connector, wait: Wait = 60, database_url: DatabaseUrl = None, as_json: AsJson = False
) -> None:
    """Check that the provider still accepts the token."""
    client = connect.client(database_url)
    raise typer.Exit(check(client, client.connectors.find(connector)["id"], wait, as_json))


@group.command("renew")
def renew_connector(
    connector: Connector, wait: Wait = 60, database_url: DatabaseUrl = None, as_json: AsJson = False
) -> None:
    """Replace the refresh token of a connector, and check it."""
    client = connect.client(database_url)
    found = client.connectors.find(connector)
    client.connectors.set_connector_token(found["id"], asked_token())
    raise typer.Exit(check(client, found["id"], wait, as_json))


@group.command("watch")
def watch_connector(
    connector: Connector,
    url: Annotated[str, typer.Argument(help="The public URL of the import function.", metavar="URL")],
    wait: Wait = 60,
    database_url: DatabaseUrl = None,
    as_json: AsJson = False,
) -> None:
    """Subscribe the import function to change notifications."""
    raise typer.Exit(watch(connect.client(database_url), connector, url, wait, as_json))


@group.command("remove")
def remove_connector(connector: Connector, database_url: DatabaseUrl = None) -> None:
    """Remove a cloud drive and its tokens; imported documents stay."""
    client = connect.client(database_url)
    found = client.connectors.find(connector)
    client.connectors.delete_connector(found["id"])
    print(f"Removed {found['id']} with its tokens. Imported documents stay.")


def connect_drive(
    client: Tickwork, tenant: str, provider: str, name: str | None, extract: str | None, consent: bool
) -> UUID:
    """Read the refresh token and store it; returns the connector's id."""
    tenant_id = client.tenants.find(tenant)
    if provider not in PROVIDERS:
        raise InvalidRequest(f"PROVIDER: there is no provider {provider!r}", hint=f"Use one of {', '.join(PROVIDERS)}.")
    if extract is not None:
        check_engine(client, extract, consent)
    if client.connectors.is_named(tenant_id, name or provider):
        hint = "Pass another --name, or replace the token of this one with `tickwork connectors renew`."
        raise InvalidRequest(f"--name: the tenant already has a connector {name or provider!r}", hint=hint)
    token = asked_token()
    connector_id: UUID = client.connectors.create_connector(tenant_id, provider, name or provider, extract, consent)[
        "id"
    ]
    try:
        client.connectors.set_connector_token(connector_id, token)
    except Exception:
        # Without its token it is useless.
        client.connectors.delete_connector(connector_id)
        raise
    return connector_id


def asked_token() -> str:
    """From the terminal, without echo, or from a pipe: never from the command line, which others can read."""
    prompt = "Refresh token (not shown): "
    token = (getpass(prompt) if sys.stdin.isatty() else sys.stdin.readline()).strip()
    if not re.fullmatch("[!-~]{8,8000}", token):
        hint = "Type it at the prompt, or pipe it in: tickwork connectors add … < token"
        raise InvalidRequest("refresh token: must be a single word of at least 8 ASCII characters", hint=hint)
    return token


def check(client: Tickwork, connector_id: UUID, wait_seconds: float, as_json: bool) -> int:
    """Have the provider check the token; the exit code says whether it accepts it."""
    job = done_for(client, connector_id, "check_connector", wait_seconds, as_json)
    if job.status == "done" and not as_json:
        account = f"{job.result['provider']} account of {job.result['account_name']}"
        print(f"{connector_id} works: {printable(account)}.")
    return 0 if job.status == "done" else 1


def watch(client: Tickwork, given: str, url: str, wait_seconds: float, as_json: bool) -> int:
    """Subscribe the import function to change notifications."""
    connector = client.connectors.find(given)
    if not re.fullmatch("https://[!-~]{1,1000}", url):
        raise InvalidRequest("URL: must start with https://", hint="Pass the public URL of the import function.")
    client.connectors.watch_connector(connector["id"], f"{url.rstrip('/')}/notifications/{connector['provider']}")
    job = done_for(client, connector["id"], "watch_connector", wait_seconds, as_json)
    if job.status == "done" and not as_json:
        until = job.result["watched_until"]
        told = (
            f"is watched until {until}, and is then renewed"
            if until
            else "is watched once the URL is entered in its app console"
        )
        print(f"{connector['id']} {printable(told)}.")
    return 0 if job.status == "done" else 1


def done_for(client: Tickwork, connector_id: UUID, type: str, wait_seconds: float, as_json: bool) -> Job:
    """Enqueues a job of the connector, waits for it, and explains it if it did not succeed."""
    row = client.connectors.find(str(connector_id))
    payload = {"connector_id": str(connector_id)}
    enqueued = client.jobs.enqueue_job(row["tenant_id"], type, payload, lane=f"connector:{connector_id}")
    with progress_bars(as_json) as progress:
        bar = progress.add_task("asking the provider", total=None)
        job = followed(client, enqueued.id, progress, bar, time.monotonic() + wait_seconds)
    if as_json:
        print_json({"job_id": job.id, "status": job.status, "result": job.result, "error_code": job.error_code})
    elif job.status != "done":
        explain_unfinished(client, job)
    return job
