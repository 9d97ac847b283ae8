"""The commands for the schema: migrate, migrations."""

from pathlib import Path
from typing import Annotated

import typer

from tickwork.cli import arguments
from tickwork.cli.options import AsJson
from tickwork.cli.output import print_json
from tickwork.cli.project import find_project
from tickwork.database import migrate as migrations
from tickwork.database.adoption import Adopted, members_in, tenants_in
from tickwork.database.modules import CHAPTERS

commands = typer.Typer()

Modules = Annotated[
    list[str] | None,
    typer.Option(
        "--with",
        metavar="MODULE",
        help="What to install, with whatever it needs: queue, documents, webhooks or imports; may be repeated. "
        "By default what the database has, and in a new one everything.",
    ),
]
Tenants = Annotated[
    str | None,
    typer.Option(
        metavar="TABLE(KEY, NAME)",
        help="Your own table of tenants, such as 'public.companies(id, name)'. Only at first.",
    ),
]
Members = Annotated[
    str | None,
    typer.Option(
        metavar="TABLE(TENANT, USER, ROLE)",
        help="Your own table of members, such as 'public.company_users(company_id, user_id, role)'. Only at first.",
    ),
]


@commands.command()
def migrate(
    url: Annotated[str, typer.Argument(help="URL of any Postgres, version 15 or later.", metavar="URL")],
    modules: Modules = None,
    tenants: Tenants = None,
    members: Members = None,
    as_json: AsJson = False,
) -> None:
    """Apply tickwork's migrations, and then those of the project."""
    project, database = find_project(), arguments.database_url(url, "URL")
    given = tables(tenants, members)
    if not any(given) and not migrations.is_migrated(database):
        given = project.tenants, project.members
    applied = migrations.migrate(database, modules or project.modules, *given, project.migrations)
    if as_json:
        print_json({"applied": applied})
    else:
        print("\n".join(f"applied {name}" for name in applied) or "Nothing to do: the schema is up to date.")


@commands.command("migrations")
def write_migrations(
    folder: Annotated[
        Path, typer.Argument(help="Such as supabase/migrations.", metavar="FOLDER", exists=True, file_okay=False)
    ],
    modules: Modules = None,
    tenants: Tenants = None,
    members: Members = None,
    as_json: AsJson = False,
) -> None:
    """Write the migrations into a folder, for `supabase db push`."""
    project = find_project()
    given = tables(tenants, members) if tenants or members else (project.tenants, project.members)
    written = migrations.write_files(folder, modules or project.modules or CHAPTERS, *given)
    if as_json:
        print_json({"written": written})
    else:
        print("\n".join(f"wrote {name}" for name in written))


def tables(tenants: str | None, members: str | None) -> tuple[Adopted | None, Adopted | None]:
    return tenants_in(tenants) if tenants else None, members_in(members) if members else None
