"""The command for the long-running worker."""

import os
from pathlib import Path
from typing import Annotated

import typer

from tickwork.cli import connect
from tickwork.cli.load_handlers import load_handlers
from tickwork.cli.options import DatabaseUrl, Functions
from tickwork.cli.project import find_project
from tickwork.database.connection import MAX_SILENCE_SECONDS, Database
from tickwork.errors import InvalidRequest
from tickwork.jobs.handler import Handlers
from tickwork.queue import queue_for
from tickwork.settings import load_settings

commands = typer.Typer()


@commands.command()
def worker(
    family: Annotated[str, typer.Argument(help="Of the project or built in, such as extract.", metavar="FAMILY")],
    batch: Annotated[
        int, typer.Option(min=1, max=1000, help="How many jobs to claim at a time: many if they are small.")
    ] = 1,
    functions: Functions = None,
    database_url: DatabaseUrl = None,
) -> None:
    """Process the jobs of one family until stopped."""
    from tickwork.worker import Worker
    from tickwork_local.stack import find_stack, own_outbound, own_secret_key

    # The function reads it too, when its handlers are loaded.
    os.environ["TICKWORK_DATABASE_URL"] = connect.chosen_url(database_url, is_worker=True)
    if stack := find_stack(connect.HOME):
        os.environ.setdefault("TICKWORK_VAULT_URL", stack.vault_url)
        os.environ.setdefault("TICKWORK_SECRET_KEY", own_secret_key(stack.home))
        for name, value in own_outbound().items():
            os.environ.setdefault(name, value)
    settings = load_settings()
    handlers = handlers_of(family, functions)
    database = Database(settings.database_url, f"tickwork {family} worker", MAX_SILENCE_SECONDS)
    queue = queue_for(family, database, settings)
    one = Worker(queue, family, handlers, settings.database_url, settings.grace_seconds, batch, settings.poll_seconds)
    one.stop_on_signals()
    one.run()


def handlers_of(family: str, functions: Path | None) -> Handlers:
    families = find_project().families(functions)
    if family not in families:
        hint = f"There are {', '.join(families)}. --functions names the folder of other ones."
        raise InvalidRequest(f"FAMILY: there is no family {family!r}", hint=hint)
    try:
        return load_handlers(family, families[family])
    except Exception as error:
        source = families[family] / "main.py"
        hint = "It must import without errors and set HANDLERS; --debug shows where it fails."
        raise InvalidRequest(f"FAMILY: {source} does not load ({type(error).__name__}: {error})", hint=hint) from error
