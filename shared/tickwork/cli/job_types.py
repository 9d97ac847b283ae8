"""The command for types of job: list them, or write them as types of a programming language."""

from typing import Annotated, Literal

import typer

from tickwork.cli import connect
from tickwork.cli.options import AsJson, DatabaseUrl
from tickwork.cli.output import print_rows
from tickwork.cli.written_types.python import python
from tickwork.cli.written_types.typescript import typescript

commands = typer.Typer()


@commands.command()
def types(
    lang: Annotated[
        Literal["python", "ts"] | None,
        typer.Option(help="Write the types of payloads and results instead, for mypy or tsc."),
    ] = None,
    database_url: DatabaseUrl = None,
    as_json: AsJson = False,
) -> None:
    """List the types of job, by family."""
    rows = connect.client(database_url).job_types.overview()
    if lang:
        write = {"python": python, "ts": typescript}[lang]
        typer.echo(write(row for row in rows if row["is_active"]), nl=False)
        return
    columns = {
        "type": lambda row: row["key"],
        "family": lambda row: row["family"],
        "enqueued by": lambda row: row["enqueued_by"] if row["is_active"] else "nobody: inactive",
        "attempts": lambda row: str(row["max_attempts"]),
        "timeout": lambda row: f"{row['timeout_seconds']} s",
        "description": lambda row: row["description"],
    }
    print_rows(rows, as_json, columns, "No types. A migration inserts them into job_types.")
