"""The commands for alerts: list them, and change when and whom they tell."""

from collections.abc import Mapping
from typing import Annotated, Any

import typer

from tickwork.cli import connect
from tickwork.cli.options import AsJson, DatabaseUrl
from tickwork.cli.output import moment, print_rows, printable
from tickwork.errors import InvalidRequest

commands = typer.Typer()
alerts = typer.Typer(
    help="List alerts, or change when and whom they tell.", invoke_without_command=True, rich_markup_mode=None
)
commands.add_typer(alerts, name="alerts")


@alerts.callback()
def list_alerts(
    context: typer.Context,
    only_open: Annotated[bool, typer.Option("--open", help="Only those that are open.")] = False,
    database_url: DatabaseUrl = None,
    as_json: AsJson = False,
) -> None:
    if context.invoked_subcommand:
        return
    columns = {
        "rule": lambda row: row["rule"],
        "severity": lambda row: row["severity"],
        "opened": lambda row: moment(row["opened_at"]),
        "closed": lambda row: moment(row["closed_at"]) if row["closed_at"] else "",
        "worst": lambda row: number(row["worst"]),
        "message": lambda row: row["message"],
    }
    rows = connect.client(database_url).alerts.list_alerts(only_open)
    print_rows(rows, as_json, columns, "No alert is open." if only_open else "There was no alert.")


@alerts.command("rules")
def list_rules(database_url: DatabaseUrl = None, as_json: AsJson = False) -> None:
    """List the rules, with what was measured last."""
    columns = {
        "rule": lambda row: row["key"],
        "opens above": lambda row: number(row["threshold"]) if row["is_on"] else "off",
        "closes at": lambda row: number(row["closes_at"]),
        "after": lambda row: f"{row['for_seconds']} s",
        "severity": lambda row: row["severity"],
        "now": lambda row: number(row["value"]),
        "measures": lambda row: row["description"],
    }
    print_rows(connect.client(database_url).alerts.list_alert_rules(), as_json, columns, "There are no rules.")


@alerts.command("change")
def change_rule(
    rule: Annotated[str, typer.Argument(help="Such as queue_size.", metavar="RULE")],
    threshold: Annotated[float | None, typer.Option(help="The alert opens above it.")] = None,
    closes_at: Annotated[float | None, typer.Option(help="It closes there; in proportion by default.")] = None,
    for_seconds: Annotated[int | None, typer.Option(help="For how long it must be so.")] = None,
    severity: Annotated[str | None, typer.Option(help="warning or critical.")] = None,
    switched_on: Annotated[bool, typer.Option("--on", help="Check it again.")] = False,
    switched_off: Annotated[bool, typer.Option("--off", help="Do not check it any more.")] = False,
    database_url: DatabaseUrl = None,
) -> None:
    """Change a rule."""
    if switched_on and switched_off:
        raise InvalidRequest("give only one of --on and --off")
    is_on = switched_on if switched_on or switched_off else None
    client = connect.client(database_url)
    row = client.alerts.change_alert_rule(rule, threshold, closes_at, for_seconds, severity, is_on)
    print(in_words(row))


def in_words(row: Mapping[str, Any]) -> str:
    if not row["is_on"]:
        return f"{row['key']} is off."
    return (
        f"{row['key']} opens above {number(row['threshold'])} and closes at {number(row['closes_at'])}, "
        f"after {row['for_seconds']} s ({row['severity']})."
    )


def number(value: float | None) -> str:
    return "" if value is None else f"{value:,.10g}"


@alerts.command("tell")
def tell(
    tenant: Annotated[str | None, typer.Argument(help="A tenant's name or id.", metavar="TENANT")] = None,
    nobody: Annotated[bool, typer.Option("--nobody", help="Only note alerts.")] = False,
    database_url: DatabaseUrl = None,
) -> None:
    """Set the tenant of the platform: its webhooks and triggers hear of alerts."""
    if (tenant is None) != nobody:
        raise InvalidRequest("give a tenant or --nobody", hint="For example `tickwork alerts tell operations`.")
    client = connect.client(database_url)
    client.alerts.set_platform_tenant(client.tenants.find(tenant) if tenant else None)
    print(f"Alerts are events of {printable(tenant)}." if tenant else "Alerts are only noted.")
