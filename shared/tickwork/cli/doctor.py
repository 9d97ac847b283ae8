"""`tickwork doctor`: what is wrong with a deployment, and what to do about it."""

import os
from collections.abc import Mapping
from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

from tickwork.cli import arguments
from tickwork.cli.connect import stack_home
from tickwork.cli.diagnosis import examine
from tickwork.cli.options import AsJson
from tickwork.cli.output import print_json, printable

commands = typer.Typer()

MARKS = {"good": ("✓", "green"), "note": ("·", "yellow"), "bad": ("✗", "red")}


@commands.command()
def doctor(
    admin_url: Annotated[
        str | None, typer.Option(help="URL with the role that ran the migrations, to check cron as well.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Check settings, database, vault and callers; say what to do."""
    from tickwork_local.stack import find_stack, own_secret_key

    given = dict(os.environ)
    if "TICKWORK_DATABASE_URL" not in given and (stack := find_stack(stack_home())):
        ours = {"DATABASE_URL": stack.worker_url, "VAULT_URL": stack.vault_url, "OPEN_ON_LOOPBACK": "true"}
        ours["SECRET_KEY"] = own_secret_key(stack.home)
        given = {**{f"TICKWORK_{name}": value for name, value in ours.items()}, **given}
    checked = arguments.database_url(admin_url, "--admin-url") if admin_url else None
    raise typer.Exit(report(given, checked, as_json))


def report(environment: Mapping[str, str], admin_url: str | None, as_json: bool) -> int:
    """Print each finding as it comes; 1 if one of them is bad."""
    findings = examine(environment, admin_url)
    if as_json:
        listed = [vars(finding) for finding in findings]
        print_json(listed)
        return int(any(finding["verdict"] == "bad" for finding in listed))
    console = Console(soft_wrap=True, highlight=False)
    worst = 0
    for finding in findings:
        mark, colour = MARKS[finding.verdict]
        line = f" {finding.what:<13}{printable(finding.words)}"
        console.print(Text.assemble((mark, colour), line))
        if finding.remedy and finding.verdict != "good":
            console.print(Text(f"  {'':<13}{printable(finding.remedy)}", style="dim"))
        worst = max(worst, int(finding.verdict == "bad"))
    return worst
