"""Options that many commands have, and what commands in files of their own need of the others."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated

import typer

from tickwork.queue import Queue
from tickwork.tools.outbound.http import Policy
from tickwork.tools.secrets import Safe

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON, for scripts.")]
DatabaseUrl = Annotated[
    str | None,
    typer.Option("--database-url", help="By default TICKWORK_DATABASE_URL, or else the running local stack."),
]
JobId = Annotated[str, typer.Argument(help="Id of a job, as `tickwork jobs` shows it.", metavar="ID")]
OfTenant = Annotated[str, typer.Option("--tenant", help="Id or name of a tenant; see `tickwork tenants`.")]
Tenant = Annotated[str | None, typer.Option(help="Id or name of a tenant.")]


@dataclass(frozen=True)
class Desk:
    """How to connect, where secrets are, and whom the functions may call."""

    url: Callable[[str | None], str]
    queue: Callable[[str | None], Queue]
    safe: Callable[[str | None], Safe]
    policy: Callable[[], Policy]


def desk(context: typer.Context) -> Desk:
    found = context.find_object(Desk)
    assert found is not None
    return found
