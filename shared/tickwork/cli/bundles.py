"""`tickwork lock` and `tickwork build`: exact versions for a function, and all of it in one folder."""

import os
from pathlib import Path
from typing import Annotated

import typer

from tickwork.cli.options import Functions
from tickwork.cli.project import API, find_project
from tickwork.errors import InvalidRequest
from tickwork.shipped import FUNCTIONS

commands = typer.Typer()

Families = Annotated[
    list[str] | None, typer.Argument(help="Such as extract; by default all but api.", metavar="FAMILY…")
]
Output = Annotated[Path, typer.Option(help="The folder of the bundles.")]
Extras = Annotated[
    list[str] | None, typer.Option("--with", help="Extras of tickwork to add to every bundle, such as safe.")
]


@commands.command()
def lock(
    families: Families = None,
    functions: Functions = None,
    upgrade: Annotated[
        bool, typer.Option("--upgrade", help="Take the latest versions, also of what is locked.")
    ] = False,
) -> None:
    """Write requirements.lock of a family of your own, with uv."""
    from tickwork_gcp.lock import write_lock

    for family in family_folders(families, functions):
        if family.parent == FUNCTIONS:
            hint = "Run it in a project, or name the folder of your own families with --functions."
            raise InvalidRequest("the built-in families come with their lock", hint=hint)
        print(f"{family / 'requirements.lock'}: {write_lock(family, upgrade)} packages")


@commands.command()
def build(
    families: Families = None, output: Output = Path("dist"), functions: Functions = None, extras: Extras = None
) -> None:
    """Build a self-contained bundle of each function."""
    for bundle in make_bundles(families, output, functions, extras):
        requirements = (bundle / "requirements.txt").read_text()
        print(f"{bundle}: {requirements.count('==')} packages")


def make_bundles(
    families: list[str] | None, output: Path, functions: Path | None, extras: list[str] | None
) -> list[Path]:
    from tickwork_gcp import bundles
    from tickwork_gcp.family_file import read_family

    folders = family_folders(families, functions)
    vault = vault_extras()
    wanted = [[*(extras or []), *(vault if read_family(folder).vault else [])] for folder in folders]
    return [bundles.build(folder, output, these) for folder, these in zip(folders, wanted, strict=True)]


def family_folders(families: list[str] | None, functions: Path | None) -> list[Path]:
    """The folders of these families; by default those of the folder or of the project, or else the built-in ones."""
    project = find_project()
    usual = project.families(functions)
    known = usual if functions else {**usual, API: FUNCTIONS / API}
    for family in families or []:
        if family not in known:
            place = f" in {functions}" if functions else ""
            raise InvalidRequest(f"there is no function {family!r}{place}", hint=f"Use one of {', '.join(known)}.")
    own = project.own_families() if functions is None else known
    return [known[family] for family in families or own or usual]


def vault_extras() -> list[str]:
    """What the client of the vault needs."""
    scheme = os.environ.get("TICKWORK_VAULT_URL", "").partition(":")[0]
    return [scheme] if scheme in ("s3", "supabase") else []
