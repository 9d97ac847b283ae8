"""The command line: storms, a line of figures for each, and a table at the end."""

import sys
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from random import SystemRandom

from rich.console import Console
from rich.table import Table

from tickwork_chaos import pooler
from tickwork_chaos.figures import Figures
from tickwork_chaos.mutants import MUTANTS, Mutant
from tickwork_chaos.sizes import MUTANT_SIZES, STORMS
from tickwork_chaos.storm import Weather, run_storm
from tickwork_local.stack import stopped_by_signals

SAY_SECONDS = 5.0


def main() -> None:
    options = parsed()
    console = Console(soft_wrap=True, markup=False, highlight=False)
    if options.list:
        for name in (*STORMS, *(f"mutant: {each.defect}" for each in MUTANTS)):
            console.print(name)
        return
    pooler.install()
    console.print(f"seed {options.seed}: the same plan of faults comes with --seed {options.seed}")
    with stopped_by_signals():
        is_good = mutants_are_caught(console, options) if options.mutants else storms_pass(console, options)
    sys.exit(0 if is_good else 1)


def parsed() -> Namespace:
    parser = ArgumentParser("make chaos", description="Storms of faults over a real queue.")
    parser.add_argument("--seed", type=int, default=SystemRandom().randrange(10_000), help="of the plan of faults")
    parser.add_argument("--quick", action="store_true", help="small storms, to see whether all is well")
    parser.add_argument("--only", nargs="+", metavar="NAME", help="only these storms, or mutants that contain this")
    parser.add_argument("--binaries", type=Path, help="a folder of Postgres programs (default: the embedded ones)")
    parser.add_argument("--mutants", action="store_true", help="put defects in on purpose: each must be found")
    parser.add_argument("--list", action="store_true", help="say which storms there are")
    options = parser.parse_args()
    known = " ".join(each.defect for each in MUTANTS) if options.mutants else [*STORMS]
    if unknown := [name for name in options.only or () if name not in known]:
        parser.error(f"--only: there is no {unknown[0]!r}; --list names what there is")
    return options


def storms_pass(console: Console, options: Namespace) -> bool:
    all_figures = []
    for name, storm in STORMS.items():
        if not options.only or name in options.only:
            figures = storm(options.seed, options.binaries, options.quick, sayer(console, name))
            console.print(figures.line())
            all_figures.append(figures)
    console.print(table_of(all_figures))
    return not any(figures.violations for figures in all_figures)


def mutants_are_caught(console: Console, options: Namespace) -> bool:
    table = Table("defect", "found by", "such as")
    escaped = 0
    for mutant in MUTANTS:
        if not options.only or any(text in mutant.defect for text in options.only):
            figures = storm_of(mutant, options, sayer(console, mutant.defect))
            console.print(f"{mutant.defect}: {figures.line()}")
            escaped += not figures.violations
            found = ", ".join(f"{each.check} ×{each.count}" for each in figures.violations) or "nothing"
            table.add_row(mutant.defect, found, figures.violations[0].example if figures.violations else "")
    console.print(table)
    return escaped == 0


def storm_of(mutant: Mutant, options: Namespace, say: Callable[[str], None]) -> Figures:
    weather = Weather("mutant", MUTANT_SIZES, options.seed, options.binaries, stuck_seconds=30)
    return run_storm(replace(weather, break_database=mutant.apply, environment=mutant.environment), say)


def sayer(console: Console, name: str) -> Callable[[str], None]:
    """Says now and then how far it is."""
    said_at = 0.0

    def say(text: str) -> None:
        nonlocal said_at
        if time.monotonic() > said_at + SAY_SECONDS:
            said_at = time.monotonic()
            console.print(f"{name}: {text}", style="dim")

    return say


def table_of(all_figures: list[Figures]) -> Table:
    table = Table("", *(figures.name for figures in all_figures))
    rows = [figures.as_row() for figures in all_figures]
    for name in dict.fromkeys(name for row in rows for name in row):
        table.add_row(name, *(row.get(name, "") for row in rows))
    return table


if __name__ == "__main__":
    main()
