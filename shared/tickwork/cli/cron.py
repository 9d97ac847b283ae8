"""`tickwork cron`: lets the database wake the functions."""

import os
import re
from typing import Annotated, Any

import typer

from tickwork.cli import connect
from tickwork.cli.options import AsJson
from tickwork.cli.output import moment, one_line, plain_table, print_json, print_table, printable
from tickwork.errors import BadSetting, InvalidRequest
from tickwork.settings import are_long_secrets
from tickwork.waking import pg_cron, pg_cron_status

commands = typer.Typer()
group = typer.Typer(help="Let pg_cron and pg_net wake the functions.", no_args_is_help=True, rich_markup_mode=None)
commands.add_typer(group, name="cron")

DatabaseUrl = Annotated[
    str | None,
    typer.Option(
        "--database-url",
        help="With the role that ran the migrations; by default TICKWORK_DATABASE_URL, or the running local stack.",
    ),
]


@group.command()
def install(
    functions: Annotated[list[str], typer.Argument(help="Such as extract=https://…", metavar="FAMILY=URL…")],
    every: Annotated[
        int, typer.Option(help="Seconds between two ticks: 1 to 59, or whole minutes.")
    ] = pg_cron.Plan.every,
    max_calls: Annotated[
        int, typer.Option(min=1, max=100, help="How many calls a tick makes per family, at most.")
    ] = 4,
    timeout: Annotated[int, typer.Option(min=1, max=30, help="How many seconds pg_net waits for a response.")] = 5,
    database_url: DatabaseUrl = None,
) -> None:
    """Schedule a tick per family, signed with TICKWORK_HMAC_SECRET."""
    plan = pg_cron.Plan(dict(address(each) for each in functions), every, max_calls, timeout)
    for name in pg_cron.install(connect.chosen_url(database_url), plan, secret()):
        print(f"scheduled {name}")
    print("In a minute, `tickwork cron status` shows whether the functions respond.")


@group.command()
def status(database_url: DatabaseUrl = None, as_json: AsJson = False) -> None:
    """Show schedules, last runs and responses, and what is wrong."""
    found = pg_cron_status.status(connect.chosen_url(database_url))
    if as_json:
        print_json({"schedules": found.schedules, "families": found.families, "problems": found.problems})
    else:
        print_status(found)
    raise typer.Exit(1 if found.problems else 0)


@group.command()
def uninstall(database_url: DatabaseUrl = None) -> None:
    """Remove schedules, URLs and the secret; jobs stay."""
    for name in pg_cron.uninstall(connect.chosen_url(database_url)):
        print(f"unscheduled {name}")
    print("Nothing wakes the functions any more.")


def print_status(found: pg_cron.Status) -> None:
    if found.schedules:
        table = plain_table("schedule", "when", "last run", "result")
        for row in found.schedules:
            when = moment(row["last_run"]) if row.get("last_run") else "never"
            result = row.get("last_status") or ""
            if result == "failed":
                result = f"failed: {row['last_message']}"
            table.add_row(one_line(row["jobname"]), row["schedule"], when, one_line(result))
        print_table(table)
    if found.families:
        print()
        table = plain_table("family", "due now", "last tick", "responses in 15 minutes", "URL")
        for row in found.families:
            tick = f"{row['seconds_ago']:.0f} s ago, {row['due_jobs']} due" if row["ticked_at"] else "never"
            table.add_row(one_line(row["family"]), str(row["due_now"]), tick, answers(row), one_line(row["url"]))
        print_table(table)
    if found.problems:
        print()
    for problem in found.problems:
        print(f"✗ {printable(problem)}")
    if not found.problems:
        print("\n✓ Cron ticks, and the functions respond or have nothing to do.")


def answers(row: dict[str, Any]) -> str:
    words = {"good": "good", "still_working": "still working", "refused": "refused", "unreached": "unreached"}
    return ", ".join(f"{row[name]} {word}" for name, word in words.items() if row.get(name)) or "none"


def address(given: str) -> tuple[str, str]:
    family, is_given, url = given.partition("=")
    if not is_given or not re.fullmatch(r"[a-z][a-z0-9_]{0,49}", family):
        raise InvalidRequest(f"{given!r} is not FAMILY=URL", hint="Such as extract=https://extract-abc123-ew.a.run.app")
    if not re.fullmatch(r"(https://|http://(127\.0\.0\.1|localhost)[:/])\S+", url):
        raise InvalidRequest(
            f"{family}: {url!r} is not an https:// URL", hint="Plain http is only allowed on this machine."
        )
    return family, url


def secret() -> str | None:
    given = os.environ.get("TICKWORK_HMAC_SECRET")
    if not given:
        return None
    try:
        # While one secret replaces another, the functions accept both: the new one comes last.
        return are_long_secrets(given).split(",")[-1]
    except ValueError as error:
        raise BadSetting(f"TICKWORK_HMAC_SECRET: {error}") from None
