"""`tickwork lock` and `tickwork build`: exact versions for a function, and all of it in one folder."""

import os
from pathlib import Path
from typing import Annotated

import typer

from tickwork.cli.options import Functions
from tickwork.errors import InvalidRequest
from tickwork.shipped import FUNCTIONS

commands = typer.Typer()

Families = Annotated[list[str] | None, typer.Argument(help="Such as extract; by default all.", metavar="FAMILY…")]
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

    if functions is None:
        hint = "Name the folder of your own families with --functions."
        raise InvalidRequest("the built-in families come with their lock", hint=hint)
    for family in family_folders(families, functions):
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
    """The folders of these families, or of all."""
    place = functions or FUNCTIONS
    known = {main.parent.name: main.parent for main in sorted(place.glob("*/main.py"))}
    if not known:
        raise InvalidRequest(f"there is no function in {place}", hint="A function is a folder with a main.py.")
    for family in families or []:
        if family not in known:
            raise InvalidRequest(f"there is no function {family!r} in {place}", hint=f"Use one of {', '.join(known)}.")
    return [known[family] for family in families or known]


def vault_extras() -> list[str]:
    """What the client of the vault needs."""
    scheme = os.environ.get("TICKWORK_VAULT_URL", "").partition(":")[0]
    return [scheme] if scheme in ("s3", "supabase") else []
