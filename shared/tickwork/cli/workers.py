"""`tickwork workers`: which functions and workers there are, and what each has handlers for."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import typer

from tickwork.cli import connect
from tickwork.cli.options import AsJson, DatabaseUrl
from tickwork.cli.output import print_rows

commands = typer.Typer()


@commands.command()
def workers(database_url: DatabaseUrl = None, as_json: AsJson = False) -> None:
    """List the functions and workers that were there within a day."""
    rows = connect.client(database_url).jobs.list_workers()
    columns = {
        "worker": lambda row: row["worker_id"],
        "families": lambda row: ", ".join(row["families"] or []),
        "running": lambda row: str(row["running"]),
        "last seen": seen,
        "version": lambda row: row["version"] or "",
        "host": lambda row: row["hostname"] or "",
        "handlers": lambda row: ", ".join((row["metadata"] or {}).get("types", [])),
    }
    print_rows(rows, as_json, columns, "No worker was there within a day. Is a function or `tickwork worker` running?")


def seen(row: Mapping[str, Any]) -> str:
    if row["last_seen_at"] is None:
        return "never, only its jobs were"
    seconds = max(0, int((datetime.now(UTC) - row["last_seen_at"]).total_seconds()))
    ago = f"{seconds} s" if seconds < 120 else f"{seconds // 60} min" if seconds < 7200 else f"{seconds // 3600} h"
    return f"{ago} ago, stale" if row["is_stale"] else f"{ago} ago"
