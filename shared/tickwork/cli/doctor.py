"""`tickwork doctor`: what is wrong with a deployment, and what to do about it."""

from collections.abc import Mapping

from rich.console import Console
from rich.text import Text

from tickwork.cli.diagnosis import examine
from tickwork.cli.output import print_json, printable

MARKS = {"good": ("✓", "green"), "note": ("·", "yellow"), "bad": ("✗", "red")}


def report(environment: Mapping[str, str], admin_url: str | None, as_json: bool) -> int:
    """Print each finding as it is made; 1 if one of them is bad."""
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
