"""Options shared by many commands."""

from pathlib import Path
from typing import Annotated

import typer

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON, for scripts.")]
DatabaseUrl = Annotated[
    str | None,
    typer.Option("--database-url", help="By default TICKWORK_DATABASE_URL, or else the running local stack."),
]
Functions = Annotated[
    Path | None,
    typer.Option(
        "--functions",
        envvar="TICKWORK_FUNCTIONS",
        show_envvar=False,
        help="Use the families of this folder; by default those of the project and the built-in ones.",
    ),
]
Family = Annotated[str | None, typer.Option(help="Such as extract.")]
JobId = Annotated[
    str, typer.Argument(help="Id of a job, as `tickwork jobs` shows it, or its first digits.", metavar="ID")
]
OfTenant = Annotated[str, typer.Option("--tenant", help="Id or name of a tenant; see `tickwork tenants`.")]
Tenant = Annotated[str | None, typer.Option(help="Id or name of a tenant.")]
Type = Annotated[str | None, typer.Option(help="Such as extract_document.")]
