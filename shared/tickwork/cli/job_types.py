"""The command for types of job: list."""

import typer

from tickwork.cli import connect
from tickwork.cli.options import AsJson, DatabaseUrl
from tickwork.cli.output import print_rows

commands = typer.Typer()


@commands.command()
def types(database_url: DatabaseUrl = None, as_json: AsJson = False) -> None:
    """List the types of job, by family."""
    columns = {
        "type": lambda row: row["key"],
        "family": lambda row: row["family"],
        "enqueued by": lambda row: row["enqueued_by"] if row["is_active"] else "nobody: inactive",
        "attempts": lambda row: str(row["max_attempts"]),
        "timeout": lambda row: f"{row['timeout_seconds']} s",
        "description": lambda row: row["description"],
    }
    rows = connect.client(database_url).job_types.overview()
    print_rows(rows, as_json, columns, "No types. A migration inserts them into job_types.")
