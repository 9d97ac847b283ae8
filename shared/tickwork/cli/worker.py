"""The command for the long-running worker."""

import gc
import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tickwork.cli import connect
from tickwork.cli.load_handlers import load_handlers
from tickwork.cli.options import DatabaseUrl, Functions
from tickwork.cli.project import find_project
from tickwork.database.connection import MAX_SILENCE_SECONDS, Database
from tickwork.errors import BadSetting, InvalidRequest
from tickwork.jobs.handler import Handlers
from tickwork.queue import queue_for
from tickwork.settings import load_settings
from tickwork.waking.rabbitmq import broker_of, required_check

if TYPE_CHECKING:
    from tickwork.web.health import Checks

commands = typer.Typer()


@commands.command()
def worker(
    families: Annotated[
        list[str],
        typer.Argument(help="One or more, of the project or built in, such as extract.", metavar="FAMILY..."),
    ],
    concurrency: Annotated[
        int,
        typer.Option(
            min=1, max=200, help="How many jobs to hold and handlers to run at a time: many if they are small."
        ),
    ] = 1,
    health_port: Annotated[
        int | None,
        typer.Option(min=1, max=65535, help="Serve /health/live and /health/ready at this port, on all interfaces."),
    ] = None,
    functions: Functions = None,
    database_url: DatabaseUrl = None,
) -> None:
    """Process the jobs of one or more families until stopped."""
    from tickwork.worker import Worker
    from tickwork_local.stack import find_stack, own_outbound, own_secret_key

    # The function reads it too, when its handlers are loaded.
    os.environ["TICKWORK_DATABASE_URL"] = connect.chosen_url(database_url, is_worker=True)
    if stack := find_stack(connect.stack_home()):
        os.environ.setdefault("TICKWORK_VAULT_URL", stack.vault_url)
        os.environ.setdefault("TICKWORK_SECRET_KEY", own_secret_key(stack.home))
        for name, value in own_outbound().items():
            os.environ.setdefault(name, value)
    settings = load_settings()
    handlers = {family: handlers_of(family, functions) for family in families}
    name = " ".join(handlers)
    # Handlers with writes settle their own jobs, beside those that are settled together, and heartbeats wait for none.
    database = Database(settings.database_url, f"tickwork {name} worker", MAX_SILENCE_SECONDS, concurrency + 1)
    one = Worker(
        queue_for(name.replace(" ", "+"), database, settings),
        handlers,
        settings.database_url,
        settings.grace_seconds,
        concurrency,
        settings.poll_seconds,
        settings.log_each_job,
        broker_of(settings),
    )
    if health_port:
        asked = Database(settings.database_url, f"tickwork {name} health", MAX_SILENCE_SECONDS)
        serve_health_at(health_port, asked, required_check(settings))
    # What is loaded by now stays. Else the garbage collector looks through all of it every 25,000 jobs or so.
    gc.collect()
    gc.freeze()
    one.stop_on_signals()
    one.run()


def serve_health_at(port: int, database: Database, checks: "Checks") -> None:
    from tickwork.web.health import Health
    from tickwork.web.health_server import serve_health

    try:
        serve_health(Health(database, checks), "0.0.0.0", port)  # noqa: S104  whoever watches it is on another machine
    except OSError as error:
        raise InvalidRequest(f"--health-port: {port} cannot be used ({error})", hint="Is it taken?") from error


def handlers_of(family: str, functions: Path | None) -> Handlers:
    families = find_project().worker_families(functions)
    if family not in families:
        hint = f"There are {', '.join(families)}. --functions names the folder of other ones."
        raise InvalidRequest(f"FAMILY: there is no family {family!r}", hint=hint)
    try:
        return load_handlers(family, families[family])
    except BadSetting:
        raise
    except Exception as error:
        source = families[family] / "main.py"
        hint = "It must import without errors and set HANDLERS; --debug shows where it fails."
        raise InvalidRequest(f"FAMILY: {source} does not load ({type(error).__name__}: {error})", hint=hint) from error
