"""What happens in a running stack: as a live table, or line by line without a terminal."""

import sys
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import psycopg
from rich.console import Console, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from tickwork.cli.output import COLOURS, job_table, one_line, plain_table
from tickwork.client import Tickwork
from tickwork.database.connection import Database
from tickwork.errors import Unavailable
from tickwork.jobs.rows import Job
from tickwork_local.api import console_link
from tickwork_local.stack import Stack, StackFailed

LOOK_SECONDS = 0.5
# Of so many of the newest jobs, those that changed last are shown.
LOOK_AT = 100
MAX_SHOWN = 12


def show(stack: Stack) -> None:
    """Show the queue until somebody interrupts."""
    print()
    stack.print_places()
    first = "Try `tickwork documents add FILE --tenant acme`. " if "extract" in stack.functions else ""
    print_console(stack)
    print(f"\n{first}Ctrl-C stops the stack.\n", flush=True)
    try:
        watch(Tickwork(Database(stack.database_url, "tickwork live table")), lambda: False)
    except Unavailable as error:
        raise StackFailed(f"the database has stopped: see {stack.home / 'postgres.log'}") from error


def print_console(stack: Stack) -> None:
    """A database of somebody else may not let us name its operator."""
    if "api_url" in stack.api:
        with suppress(psycopg.Error):
            print(f"\nThe console, signed in once: {console_link(stack.api['api_url'], stack.database_url)}")


def say(line: str) -> None:
    """Something that happened to the stack itself; above the live table, if there is one."""
    print(f"{time.strftime('%H:%M:%S')} {line}", flush=True)


def watch(client: Tickwork, is_over: Callable[[], bool], *, transient: bool = False) -> None:
    """Show what changes until it is over."""
    console = Console()
    if console.is_interactive and sys.stdout.isatty():
        draw_changes(console, client, is_over, transient)
    else:
        print_changes(client, is_over)


def draw_changes(console: Console, client: Tickwork, is_over: Callable[[], bool], transient: bool) -> None:
    with Live(console=console, auto_refresh=False, transient=transient) as live:
        while not is_over():
            latest = sorted(client.jobs.list_jobs(max_jobs=LOOK_AT), key=lambda job: job.updated_at, reverse=True)
            live.update(picture(console, client.jobs.queue_summary(), latest), refresh=True)
            time.sleep(LOOK_SECONDS)


def print_changes(client: Tickwork, is_over: Callable[[], bool]) -> None:
    """One line for each type of job whose counts changed."""
    known: dict[str, str] = {}
    is_last = False
    while not is_last:
        # Asked first, so that the last changes are printed too.
        is_last = is_over()
        for row in client.jobs.queue_summary():
            counts = ", ".join(f"{row[status]} {status}" for status in COLOURS if row[status])
            if known.get(row["type"]) != counts:
                print(f"{time.strftime('%H:%M:%S')} {row['type']:<18} {counts}", flush=True)
                known[row["type"]] = counts
        if not is_last:
            time.sleep(LOOK_SECONDS)


def picture(console: Console, summary: list[dict[str, Any]], latest: list[Job]) -> Group:
    if not summary:
        return Group(Text("No jobs yet.", "bright_black"))
    room = max(console.height - len(summary) - 4, 0)
    table = job_table(latest[: min(room, MAX_SHOWN)])
    return Group(summary_table(summary, is_wide=console.width >= 80), Text(), table)


def summary_table(summary: list[dict[str, Any]], is_wide: bool) -> Table:
    """A narrow one leaves out what can be done without."""
    table = plain_table(*(["family"] if is_wide else []), "type")
    shown = {status: colour for status, colour in COLOURS.items() if is_wide or any(row[status] for row in summary)}
    for status, colour in shown.items():
        table.add_column(Text(status, colour), justify="right", no_wrap=True)
    for row in summary:
        names = [row["family"], row["type"]] if is_wide else [row["type"]]
        counts = [Text(str(row[status] or "·"), colour) for status, colour in shown.items()]
        table.add_row(*map(one_line, names), *counts)
    return table
