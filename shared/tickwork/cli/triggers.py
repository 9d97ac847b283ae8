"""The commands for event triggers: add, list, show, pause, resume, test, remove."""

from typing import Annotated, Any

import typer
from psycopg.rows import DictRow
from rich.text import Text

from tickwork.cli import arguments, connect
from tickwork.cli.options import AsJson, DatabaseUrl, OfTenant, Tenant
from tickwork.cli.output import COLOURS, fact, moment, one_line, print_json, print_rows, printable
from tickwork.client import Tickwork

commands = typer.Typer()
group = typer.Typer(help="List event triggers, or add some.", invoke_without_command=True, rich_markup_mode=None)
commands.add_typer(group, name="triggers")

Name = Annotated[str, typer.Argument(help="Label or id, as `tickwork triggers` shows it.", metavar="TRIGGER")]
Names = Annotated[list[str], typer.Argument(help="Labels or ids.", metavar="TRIGGER...")]


@group.callback()
def list_all(
    context: typer.Context, tenant: Tenant = None, database_url: DatabaseUrl = None, as_json: AsJson = False
) -> None:
    if not context.invoked_subcommand:
        show_all(tenant, database_url, as_json)


@group.command("list")
def show_all(tenant: Tenant = None, database_url: DatabaseUrl = None, as_json: AsJson = False) -> None:
    """List event triggers with their last decisions."""
    client = connect.client(database_url)
    tenants = {row["id"]: row["name"] for row in client.tenants.overview()}
    columns = {
        "label": lambda row: one_line(row["label"]),
        "tenant": lambda row: one_line(tenants.get(row["tenant_id"], str(row["tenant_id"]))),
        "event": lambda row: one_line(row["event_name"]),
        "type": lambda row: one_line(row["type"]),
        "state": lambda row: one_line("active" if row["is_enabled"] else f"paused {row['pause_note'] or ''}".rstrip()),
        "last decision": lambda row: one_line(last_decision(row)),
    }
    rows = client.triggers.list_event_triggers(client.tenants.find(tenant) if tenant else None)
    print_rows(rows, as_json, columns, "No triggers. `tickwork triggers add --help` shows how to add one.")


def last_decision(row: DictRow) -> str:
    if row["last_outcome"] is None:
        return ""
    more = row["last_error"] or (f"job {row['last_job_status']}" if row["last_job_status"] else "")
    return f"{moment(row['last_decided_at'])} {row['last_outcome']}{', ' if more else ''}{more}"


@group.command("add")
def add(
    label: Annotated[str, typer.Argument(help="A name for people.", metavar="LABEL")],
    event: Annotated[str, typer.Argument(help="Such as invoice.paid, or invoice.* for all of them.", metavar="EVENT")],
    type: Annotated[str, typer.Argument(help="Type of the jobs.", metavar="TYPE")],
    tenant: OfTenant,
    payload: Annotated[str, typer.Option(help="Payload as JSON; {{event.<field>}} is filled in.")] = "{}",
    condition: Annotated[str | None, typer.Option(help="Such as '$.event.amount > 100'.")] = None,
    sample: Annotated[str | None, typer.Option(help="Payload of an event as JSON, to check the job's with.")] = None,
    dedupe_key: Annotated[str | None, typer.Option(help="Which events are the same, such as {{event.id}}.")] = None,
    dedupe_window: Annotated[int, typer.Option(help="Seconds in which the same event starts one job.")] = 300,
    debounce: Annotated[int | None, typer.Option(help="Seconds without such an event before the job starts.")] = None,
    debounce_max: Annotated[int, typer.Option(help="Seconds after which it starts in any case.")] = 3600,
    max_per_minute: Annotated[int | None, typer.Option(help="Start no more jobs than that in a minute.")] = None,
    delay: Annotated[int, typer.Option(help="Seconds between the event and the job.")] = 0,
    priority: Annotated[int | None, typer.Option(help="0 to 100; by default that of the type.")] = None,
    lane: Annotated[str | None, typer.Option(help="Lane of the jobs.")] = None,
    database_url: DatabaseUrl = None,
    as_json: AsJson = False,
) -> None:
    """Add a trigger: whenever the event happens, a job starts."""
    client = connect.client(database_url)
    row = client.triggers.create_event_trigger(
        client.tenants.find(tenant),
        label,
        event,
        type,
        condition,
        arguments.payload(payload),
        dedupe_key,
        dedupe_window,
        debounce,
        debounce_max,
        max_per_minute,
        delay,
        priority,
        lane,
        None if sample is None else arguments.payload(sample),
    )
    if as_json:
        print_json(row)
        return
    print(f"{printable(label)} starts {printable(type)} on {printable(event)}.")
    print("`tickwork triggers test EVENT` shows what an event would do.")


@group.command("show")
def show(name: Name, tenant: Tenant = None, database_url: DatabaseUrl = None, as_json: AsJson = False) -> None:
    """Show a trigger, and what it made of the last events."""
    client = connect.client(database_url)
    row = found(client, name, tenant)
    fires = client.triggers.list_trigger_fires(row["id"], max_rows=10)
    if as_json:
        print_json({**row, "fires": fires})
        return
    for field, value in row.items():
        if value is not None:
            print(f"{field:<21} {fact(value)}")
    print("\nlast decisions")
    print_rows(fires, False, FIRES, "none yet")


FIRES = {
    "time": lambda row: moment(row["decided_at"]),
    "event": lambda row: one_line(row["event_type"]),
    "outcome": lambda row: row["outcome"],
    "job": lambda row: str(row["job_id"] or ""),
    "status": lambda row: Text(row["job_status"], COLOURS[row["job_status"]]) if row["job_status"] else "",
    "error": lambda row: one_line(row["error"] or ""),
}


@group.command("test")
def try_event(
    event: Annotated[str, typer.Argument(help="Type of the event, such as invoice.paid.", metavar="EVENT")],
    tenant: OfTenant,
    payload: Annotated[str, typer.Option(help="Payload of the event as JSON.")] = "{}",
    aggregate: Annotated[str | None, typer.Option(help="What it happened to, such as invoice:17.")] = None,
    database_url: DatabaseUrl = None,
    as_json: AsJson = False,
) -> None:
    """Show what an event would start, without emitting it."""
    client = connect.client(database_url)
    rows = client.triggers.test_event(client.tenants.find(tenant), event, arguments.payload(payload), aggregate)
    columns = {
        "label": lambda row: one_line(row["label"]),
        "type": lambda row: one_line(row["job_type"]),
        "outcome": lambda row: Text(row["outcome"], "green" if row["outcome"] == "fired" else ""),
        "payload": lambda row: one_line("" if row["job_payload"] is None else fact(row["job_payload"])),
        "error": lambda row: one_line(row["error"] or ""),
    }
    print_rows(rows, as_json, columns, "No triggers. `tickwork triggers add --help` shows how to add one.")


@group.command("pause")
def pause(
    names: Names,
    note: Annotated[str | None, typer.Option(help="Why, for others to read.")] = None,
    tenant: Tenant = None,
    database_url: DatabaseUrl = None,
) -> None:
    """Start no more jobs; several triggers can be given."""
    client = connect.client(database_url)
    for row in client.triggers.pause_event_triggers([found(client, name, tenant)["id"] for name in names], note):
        print(f"{printable(row['label'])} is paused.")


@group.command("resume")
def resume(names: Names, tenant: Tenant = None, database_url: DatabaseUrl = None) -> None:
    """Start jobs again, from the next event on."""
    client = connect.client(database_url)
    for row in client.triggers.resume_event_triggers([found(client, name, tenant)["id"] for name in names]):
        print(f"{printable(row['label'])} is active.")


@group.command("remove")
def remove(name: Name, tenant: Tenant = None, database_url: DatabaseUrl = None) -> None:
    """Delete a trigger; its jobs stay."""
    client = connect.client(database_url)
    row = found(client, name, tenant)
    client.triggers.delete_event_trigger(row["id"])
    print(f"{printable(row['label'])} is removed.")


def found(client: Tickwork, name: str, tenant: str | None) -> dict[str, Any]:
    return client.triggers.find(name, client.tenants.find(tenant) if tenant else None)
