"""The command for the audit log."""

from collections.abc import Callable, Mapping
from typing import Annotated, Any

import typer

from tickwork.cli import connect
from tickwork.cli.options import AsJson, DatabaseUrl, Tenant
from tickwork.cli.output import moment, print_rows, printable

commands = typer.Typer()


@commands.command()
def audit(
    tenant: Tenant = None,
    action: Annotated[str | None, typer.Option(help="Such as schedules.changed or jobs.retried.")] = None,
    target: Annotated[str | None, typer.Option(help="Such as 'job_types extract_document'.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=1000, help="How many rows at most.")] = 50,
    database_url: DatabaseUrl = None,
    as_json: AsJson = False,
) -> None:
    """Show who changed what, the latest first."""
    client = connect.client(database_url)
    columns: dict[str, Callable[[Mapping[str, Any]], str]] = {
        "at": lambda row: moment(row["at"]),
        "who": lambda row: printable(f"{row['actor_kind']} {row['actor_name'] or row['actor_id'] or ''}".strip()),
        "action": lambda row: printable(" ".join(filter(None, (row["action"], row["code"])))),
        "target": lambda row: printable(row["target"] or ""),
        "from": lambda row: printable(row["ip"] or ""),
    }
    tenant_id = client.tenants.find(tenant) if tenant else None
    rows = client.audit.list_audit(tenant_id, action, target, max_rows=limit)
    print_rows(rows, as_json, columns, "Nothing has been changed yet.")
