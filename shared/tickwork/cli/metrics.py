"""The commands that show figures: metrics for Prometheus, and how long jobs wait and run."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from tickwork.cli import arguments, connect
from tickwork.cli.options import AsJson, DatabaseUrl, Tenant, Type
from tickwork.cli.output import print_rows

commands = typer.Typer()


@commands.command()
def metrics(
    textfile: Annotated[
        Path | None, typer.Option(help="Write them there, for the textfile collector of the node exporter.")
    ] = None,
    tenant: Tenant = None,
    prefix: Annotated[str, typer.Option(help="What their names begin with.")] = "tickwork_",
    tenant_label: Annotated[
        str | None, typer.Option(help="Such as tenant_id: those of each tenant, under this label.")
    ] = None,
    max_tenants: Annotated[int, typer.Option(min=1, help="With --tenant-label: of how many tenants.")] = 100,
    database_url: DatabaseUrl = None,
) -> None:
    """Show metrics in the text format of Prometheus."""
    client = connect.client(database_url)
    tenant_id = client.tenants.find(tenant) if tenant else None
    text = client.metrics.metrics(tenant_id, prefix, tenant_label, max_tenants)
    if textfile is None:
        print(text, end="")
    else:
        replace(textfile, text)


def replace(file: Path, text: str) -> None:
    """In one step: the collector must not read half of it."""
    unfinished = file.with_name(f".{file.name}.{os.getpid()}")
    unfinished.write_text(text)
    unfinished.replace(file)


@commands.command()
def latency(
    tenant: Tenant = None,
    type: Type = None,
    since: Annotated[str | None, typer.Option(help="Such as '1 day ago'; by default an hour ago.")] = None,
    until: Annotated[str | None, typer.Option(help="By default now.")] = None,
    database_url: DatabaseUrl = None,
    as_json: AsJson = False,
) -> None:
    """Show how long jobs have waited and run."""
    client = connect.client(database_url)
    rows = client.metrics.latency(
        client.tenants.find(tenant) if tenant else None,
        type,
        arguments.point_in_time(client, since, "since"),
        arguments.point_in_time(client, until, "until"),
    )
    columns = {
        "family": lambda row: row["family"],
        "type": lambda row: row["type"],
        "jobs": lambda row: str(row["jobs"]),
        "waited: half": lambda row: seconds(row, "wait_p50"),
        "95 %": lambda row: seconds(row, "wait_p95"),
        "99 %": lambda row: seconds(row, "wait_p99"),
        "ran: half": lambda row: seconds(row, "run_p50"),
        "95 % ": lambda row: seconds(row, "run_p95"),
        "99 % ": lambda row: seconds(row, "run_p99"),
    }
    print_rows(rows, as_json, columns, "No job ended in that time, or it was not counted yet.")


def seconds(row: Mapping[str, Any], column: str) -> str:
    return "" if row[column] is None else f"{row[column]:.3g} s"
