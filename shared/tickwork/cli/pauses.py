"""The commands that stop jobs from starting: pause, resume, holds, and those for lanes."""

import re
import shlex
from collections.abc import Mapping
from typing import Annotated, Any

import typer

from tickwork.cli import arguments, connect
from tickwork.cli.options import AsJson, DatabaseUrl, Family, OfTenant, Tenant, Type
from tickwork.cli.output import moment, one_line, plain_table, print_json, print_rows, print_table, printable
from tickwork.errors import InvalidRequest

commands = typer.Typer()
lanes = typer.Typer(
    help="List held and limited lanes, or change one.", invoke_without_command=True, rich_markup_mode=None
)
commands.add_typer(lanes, name="lanes")

LaneName = Annotated[str, typer.Argument(help="Such as connector:<id>.", metavar="LANE")]
OfFamily = Annotated[str, typer.Option("--family", help="Such as import.")]

# The database stops counting there.
MANY = 100


@commands.command()
def pause(
    family: Family = None,
    type: Type = None,
    tenant: Tenant = None,
    reason: Annotated[str | None, typer.Option(help="Shown by explanations of why a job is not running.")] = None,
    database_url: DatabaseUrl = None,
) -> None:
    """Stop jobs of a family, a type or a tenant from starting."""
    option, name = the_one("pause", family, type, tenant)
    client = connect.client(database_url)
    client.pauses.pause_jobs(family, type, None if tenant is None else client.tenants.find(tenant), reason)
    print(f"No job of {option} {printable(name)} starts any more; running jobs continue.")
    print(f"`tickwork resume --{option} {printable(shlex.quote(name))}` ends the pause.")


@commands.command()
def resume(
    family: Family = None,
    type: Type = None,
    tenant: Tenant = None,
    database_url: DatabaseUrl = None,
) -> None:
    """Let the jobs of a family, a type or a tenant start again."""
    option, name = the_one("resume", family, type, tenant)
    client = connect.client(database_url)
    tenant_id = None if tenant is None else client.tenants.find(tenant)
    scopes = [hold["scope"] for hold in client.pauses.list_holds()]
    client.pauses.resume_jobs(family, type, tenant_id)
    if f"{option} {tenant_id or name}" in scopes:
        print(f"Jobs of {option} {printable(name)} start again.")
    else:
        print(f"{option.capitalize()} {printable(name)} was not paused. `tickwork holds` lists what is.")


def the_one(command: str, family: str | None, type: str | None, tenant: str | None) -> tuple[str, str]:
    """The option that was given, and its value."""
    options = {"family": family, "type": type, "tenant": tenant}
    given = [(option, name) for option, name in options.items() if name is not None]
    if len(given) != 1:
        what = "only one" if given else "one"
        hint = f"For example `tickwork {command} --tenant acme`; for two of them run it twice."
        raise InvalidRequest(f"give {what} of --family, --type and --tenant", hint=hint)
    return given[0]


@commands.command()
def holds(database_url: DatabaseUrl = None, as_json: AsJson = False) -> None:
    """List what is paused or held, and why."""
    client = connect.client(database_url)
    rows = client.pauses.list_holds()
    if as_json:
        print_json(rows)
    elif rows:
        print_holds(rows, {str(tenant["id"]): tenant["name"] for tenant in client.tenants.overview()})
    else:
        print("Nothing is held.")


def print_holds(rows: list[dict[str, Any]], tenants: Mapping[str, str]) -> None:
    table = plain_table("held", "since", "until", "jobs waiting", "why")
    for row in rows:
        what = in_words(row["scope"], tenants)
        the_end = "it is released" if what.startswith("lane ") else "it is resumed"
        until = moment(row["held_until"]) if row["held_until"] else the_end
        waiting = f"{MANY} or more" if row["waiting"] >= MANY else str(row["waiting"])
        table.add_row(one_line(what), moment(row["created_at"]), until, waiting, one_line(row["reason"]))
    print_table(table)


def in_words(scope: str, tenants: Mapping[str, str]) -> str:
    """A scope in words, with the name of its tenant."""
    if not (found := re.fullmatch("tenant ([^ ]+)(?: family (.*?) lane (.*))?", scope, re.DOTALL)):
        return scope
    tenant_id, family, lane = found.groups()
    tenant = f"tenant {tenants.get(tenant_id, tenant_id)}"
    return f"lane {lane} of {tenant} in {family}" if lane else tenant


@lanes.callback()
def list_lanes(
    context: typer.Context, tenant: Tenant = None, database_url: DatabaseUrl = None, as_json: AsJson = False
) -> None:
    if context.invoked_subcommand:
        return
    client = connect.client(database_url)
    columns = {
        "tenant": lambda row: row["tenant"],
        "family": lambda row: row["family"],
        "lane": lambda row: row["lane"],
        "held": lambda row: held_in_words(row),
        "at once": lambda row: str(row["max_running"] or ""),
        "per minute": lambda row: str(row["starts_per_minute"] or ""),
    }
    rows = client.pauses.lanes(client.tenants.find(tenant) if tenant else None)
    print_rows(rows, as_json, columns, "No lane is held or limited.")


def held_in_words(row: Mapping[str, Any]) -> str:
    if not row["is_held"]:
        return ""
    until = f"until {moment(row['held_until'])}" if row["held_until"] else "until it is released"
    return f"{until}{': ' if row['reason'] else ''}{row['reason']}"


@lanes.command("hold")
def hold_lane(
    lane: LaneName,
    family: OfFamily,
    tenant: OfTenant,
    until: Annotated[
        str | None, typer.Option(help="Such as 2027-01-31T08:00Z or '1 hour'; by default until it is released.")
    ] = None,
    reason: Annotated[str | None, typer.Option(help="Shown by explanations of why a job is not running.")] = None,
    database_url: DatabaseUrl = None,
) -> None:
    """Stop the jobs of a lane from starting."""
    client = connect.client(database_url)
    client.job_types.check(family, None)
    held_until = arguments.point_in_time(client, until, "until") or "infinity"
    client.pauses.hold_lane(family, client.tenants.find(tenant), lane, held_until, reason)
    print(f"No job of lane {printable(lane)} starts any more; running jobs continue.")


@lanes.command("release")
def release_lane(lane: LaneName, family: OfFamily, tenant: OfTenant, database_url: DatabaseUrl = None) -> None:
    """Let the jobs of a held lane start again."""
    client = connect.client(database_url)
    client.job_types.check(family, None)
    client.pauses.release_lane(family, client.tenants.find(tenant), lane)
    print(f"Lane {printable(lane)} is not held.")


@lanes.command("limit")
def limit_lane(
    lane: LaneName,
    family: OfFamily,
    tenant: OfTenant,
    max_running: Annotated[int | None, typer.Option(min=1, help="How many of its jobs may run at once.")] = None,
    starts_per_minute: Annotated[int | None, typer.Option(min=1, help="How many may start per minute.")] = None,
    database_url: DatabaseUrl = None,
) -> None:
    """Set the limits of a lane; a limit that is left out is lifted."""
    client = connect.client(database_url)
    client.job_types.check(family, None)
    client.pauses.limit_lane(family, client.tenants.find(tenant), lane, max_running, starts_per_minute)
    limits = {f"{max_running} at once": max_running, f"{starts_per_minute} starts per minute": starts_per_minute}
    words = " and ".join(limit for limit, value in limits.items() if value)
    print(f"Lane {printable(lane)} has {f'a limit of {words}' if words else 'no limit'}.")
