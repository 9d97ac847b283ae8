"""The commands for schedules: add, list, show, preview, pause, resume, run, backfill, remove."""

from typing import Annotated, Any

import typer
from psycopg.rows import DictRow
from rich.text import Text

from tickwork.cli import arguments, connect
from tickwork.cli.options import AsJson, DatabaseUrl, OfTenant, Tenant
from tickwork.cli.output import COLOURS, fact, moment, one_line, print_json, print_rows, printable
from tickwork.client import Tickwork
from tickwork.errors import InvalidRequest

commands = typer.Typer()
group = typer.Typer(help="List schedules, or add some.", invoke_without_command=True, rich_markup_mode=None)
commands.add_typer(group, name="schedules")

Name = Annotated[str, typer.Argument(help="Label or id, as `tickwork schedules` shows it.", metavar="SCHEDULE")]
Names = Annotated[list[str], typer.Argument(help="Labels or ids.", metavar="SCHEDULE...")]
Cron = Annotated[str, typer.Argument(help="Such as '30 2 * * MON-FRI' or @daily.", metavar="CRON")]
Zone = Annotated[str | None, typer.Option("--timezone", help="Such as Europe/Berlin; by default that of the tenant.")]


@group.callback()
def list_all(
    context: typer.Context, tenant: Tenant = None, database_url: DatabaseUrl = None, as_json: AsJson = False
) -> None:
    if not context.invoked_subcommand:
        show_all(tenant, database_url, as_json)


@group.command("list")
def show_all(tenant: Tenant = None, database_url: DatabaseUrl = None, as_json: AsJson = False) -> None:
    """List schedules with their last and next times."""
    client = connect.client(database_url)
    tenants = {row["id"]: row["name"] for row in client.tenants.overview()}
    columns = {
        "label": lambda row: one_line(row["label"]),
        "tenant": lambda row: one_line(tenants.get(row["tenant_id"], str(row["tenant_id"]))),
        "type": lambda row: one_line(row["type"]),
        "cron": lambda row: one_line(f"{row['cron_expr']} {row['timezone']}"),
        "next": lambda row: next_time(row),
        "last": lambda row: one_line(last_time(row)),
    }
    rows = client.schedules.list_schedules(client.tenants.find(tenant) if tenant else None)
    print_rows(rows, as_json, columns, "No schedules. `tickwork schedules add --help` shows how to add one.")


def next_time(row: DictRow) -> Text | str:
    if not row["is_enabled"]:
        return one_line(f"paused: {row['pause_note']}" if row["pause_note"] else "paused")
    return moment(row["next_run_at"]) if row["next_run_at"] else "never again"


def last_time(row: DictRow) -> str:
    if row["last_nominal_at"] is None:
        return ""
    status = f", job {row['last_job_status']}" if row["last_job_status"] else ""
    return f"{moment(row['last_nominal_at'])} {row['last_outcome']}{status}"


@group.command("add")
def add(
    label: Annotated[str, typer.Argument(help="A name for people.", metavar="LABEL")],
    type: Annotated[str, typer.Argument(help="Type of the jobs.", metavar="TYPE")],
    cron: Cron,
    tenant: OfTenant,
    timezone: Zone = None,
    payload: Annotated[str, typer.Option(help="Payload as JSON; {{scheduled_for}} is filled in.")] = "{}",
    overlap: Annotated[str, typer.Option(help="skip, allow, queue_one or cancel_previous.")] = "skip",
    missed: Annotated[str, typer.Option(help="skip, latest or all.")] = "latest",
    catch_up: Annotated[int, typer.Option(help="How many seconds back missed times are made up for.")] = 3600,
    spread: Annotated[int, typer.Option(help="Seconds over which schedules of the same minute are spread.")] = 0,
    starts_at: Annotated[str | None, typer.Option(help="No time before this one.")] = None,
    ends_at: Annotated[str | None, typer.Option(help="No time after this one.")] = None,
    priority: Annotated[int | None, typer.Option(help="0 to 100; by default that of the type.")] = None,
    lane: Annotated[str | None, typer.Option(help="Lane of the jobs.")] = None,
    pause_after_failures: Annotated[int | None, typer.Option(help="Pause once so many in a row failed.")] = None,
    database_url: DatabaseUrl = None,
    as_json: AsJson = False,
) -> None:
    """Add a schedule, and show when it starts jobs."""
    client = connect.client(database_url)
    row = client.schedules.create_schedule(
        client.tenants.find(tenant),
        label,
        type,
        cron,
        timezone,
        arguments.payload(payload),
        overlap,
        missed,
        catch_up,
        spread,
        arguments.point_in_time(client, starts_at, "--starts-at"),
        arguments.point_in_time(client, ends_at, "--ends-at"),
        priority,
        lane,
        pause_after_failures,
    )
    if as_json:
        print_json(row)
        return
    print(f"{printable(label)} starts {printable(type)} at:")
    print_times(client, row)


def print_times(client: Tickwork, schedule: DictRow) -> None:
    for time in client.schedules.preview_schedule(schedule["cron_expr"], schedule["timezone"], times=3):
        print(f"  {in_words(time, schedule['timezone'])}")


def in_words(time: DictRow, timezone: str) -> str:
    note = f", {time['note']}" if time["note"] else ""
    return f"{time['local_time']} {printable(timezone)}{note}"


@group.command("show")
def show(name: Name, tenant: Tenant = None, database_url: DatabaseUrl = None, as_json: AsJson = False) -> None:
    """Show a schedule, its next times and what became of the last ones."""
    client = connect.client(database_url)
    row = found(client, name, tenant)
    fires = client.schedules.list_schedule_fires(row["id"], max_rows=10)
    if as_json:
        print_json({**row, "fires": fires})
        return
    for field, value in row.items():
        if value is not None and field not in ("look_at", "failures_since"):
            print(f"{field:<20} {fact(value)}")
    print("\nnext times")
    print_times(client, row)
    print("\nlast times")
    print_rows(fires, False, FIRES, "none yet")


FIRES = {
    "time": lambda row: moment(row["nominal_at"]),
    "outcome": lambda row: row["outcome"],
    "job": lambda row: str(row["job_id"] or ""),
    "status": lambda row: Text(row["job_status"], COLOURS[row["job_status"]]) if row["job_status"] else "",
    "error": lambda row: one_line(row["error"] or ""),
}


@group.command("preview")
def preview(
    cron: Cron,
    timezone: Annotated[str, typer.Option("--timezone", help="Such as Europe/Berlin.")] = "UTC",
    after: Annotated[str | None, typer.Option(help="From when on; by default now.")] = None,
    times: Annotated[int, typer.Option(help="How many, up to 100.")] = 5,
    database_url: DatabaseUrl = None,
    as_json: AsJson = False,
) -> None:
    """Show when a cron expression fires, clock changes included."""
    client = connect.client(database_url)
    since = arguments.point_in_time(client, after, "--after")
    rows = client.schedules.preview_schedule(cron, timezone, since, times)
    if as_json:
        print_json(rows)
        return
    for row in rows:
        print(in_words(row, timezone))


@group.command("pause")
def pause(
    names: Names,
    note: Annotated[str | None, typer.Option(help="Why, for others to read.")] = None,
    tenant: Tenant = None,
    database_url: DatabaseUrl = None,
) -> None:
    """Start no more jobs; several schedules can be given."""
    client = connect.client(database_url)
    for row in client.schedules.pause_schedules([found(client, name, tenant)["id"] for name in names], note):
        print(f"{printable(row['label'])} is paused.")


@group.command("resume")
def resume(names: Names, tenant: Tenant = None, database_url: DatabaseUrl = None) -> None:
    """Start jobs again, from the next time on."""
    client = connect.client(database_url)
    for row in client.schedules.resume_schedules([found(client, name, tenant)["id"] for name in names]):
        upcoming = moment(row["next_nominal_at"]) if row["next_nominal_at"] else "never again"
        print(f"{printable(row['label'])} is back; next time: {upcoming}.")


@group.command("run")
def run(name: Name, tenant: Tenant = None, database_url: DatabaseUrl = None, as_json: AsJson = False) -> None:
    """Start the job of a schedule now, beside its calendar."""
    client = connect.client(database_url)
    fire = client.schedules.run_schedule(found(client, name, tenant)["id"])
    if as_json:
        print_json(fire)
    if fire["outcome"] == "refused":
        raise InvalidRequest(f"the job was refused: {fire['error']}")
    if not as_json:
        print(f"{fire['job_id']} is queued.")


@group.command("backfill")
def backfill(
    name: Name,
    since: Annotated[str, typer.Option(help="First time, such as 2027-01-01T00:00Z.")],
    until: Annotated[str, typer.Option(help="Last time; by default now.")] = "now",
    really: Annotated[bool, typer.Option("--yes", help="Start the jobs instead of only showing them.")] = False,
    tenant: Tenant = None,
    database_url: DatabaseUrl = None,
    as_json: AsJson = False,
) -> None:
    """Start the jobs of past times that did not start."""
    client = connect.client(database_url)
    first, last = (arguments.point_in_time(client, each, "time") for each in (since, until))
    assert first is not None
    assert last is not None
    rows = client.schedules.backfill_schedule(found(client, name, tenant)["id"], first, last, dry_run=not really)
    print_rows([{**row, "job_status": None} for row in rows], as_json, FIRES, "Nothing was missed in that time.")
    if rows and not really and not as_json:
        print("Nothing has been started. Add --yes to start these jobs.")


@group.command("remove")
def remove(name: Name, tenant: Tenant = None, database_url: DatabaseUrl = None) -> None:
    """Delete a schedule and its history; its jobs stay."""
    client = connect.client(database_url)
    row = found(client, name, tenant)
    client.schedules.delete_schedule(row["id"])
    print(f"{printable(row['label'])} is removed.")


def found(client: Tickwork, name: str, tenant: str | None) -> dict[str, Any]:
    return client.schedules.find(name, client.tenants.find(tenant) if tenant else None)
