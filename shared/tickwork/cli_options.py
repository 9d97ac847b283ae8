"""Options that many commands have."""

from typing import Annotated

import typer

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON, for scripts.")]
DatabaseUrl = Annotated[
    str | None,
    typer.Option("--database-url", help="By default TICKWORK_DATABASE_URL, or else the running local stack."),
]
OfTenant = Annotated[str, typer.Option("--tenant", help="Id or name of a tenant; see `tickwork tenants`.")]
Tenant = Annotated[str | None, typer.Option(help="Id or name of a tenant.")]
