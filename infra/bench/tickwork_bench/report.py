"""The results as a table for people and as JSON for programs."""

import json
import os
import platform
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from tickwork_bench import node
from tickwork_bench.contenders import awa
from tickwork_bench.measure import Bench, Figure, Result, Target, Unit, percentile

PACKAGES = ("tickwork", "psycopg", "procrastinate", "pgqueuer", "asyncpg", "functions-framework")
COUNTS: tuple[Unit, ...] = ("claims", "rows", "times")


@dataclass(frozen=True)
class Verdict:
    """What became of a target: the figure as a multiple of what it is held against, or as it is."""

    target: Target
    value: float

    @property
    def is_reached(self) -> bool:
        target = self.target
        return (target.at_least is None or self.value >= target.at_least) and (
            target.at_most is None or self.value <= target.at_most
        )

    def as_text(self) -> str:
        target = self.target
        bound = f"≥ {target.at_least:g}" if target.at_least is not None else f"≤ {target.at_most:g}"
        if target.against:
            bound += f" × {target.called or target.against[0]}"
        return f"{bound}: {self.value:.2f}" if target.against else bound

    def as_json(self) -> dict[str, Any]:
        return {**asdict(self.target), "value": self.value, "is_reached": self.is_reached}


def verdicts_on(result: Result) -> list[Verdict]:
    values = {figure.name: figure.value for figure in result.figures}
    return [
        Verdict(target, values[target.figure] / max((values[name] for name in target.against), default=1.0))
        for target in result.targets
    ]


def show(console: Console, results: Mapping[str, Result]) -> None:
    for name, result in results.items():
        console.print(table_of(name, result))
        for note in result.notes:
            console.print(f"[yellow]{escape(note)}[/]")
    verdicts = [verdict for result in results.values() for verdict in verdicts_on(result)]
    reached = sum(verdict.is_reached for verdict in verdicts)
    console.print(f"{reached} of {len(verdicts)} targets reached.")


def table_of(name: str, result: Result) -> Table:
    table = Table(title=name, title_justify="left", title_style="bold", box=None, pad_edge=False)
    table.add_column("figure")
    table.add_column("", justify="right")
    table.add_column("spread", justify="right")
    table.add_column("ratio", justify="right")
    table.add_column("target")
    verdicts = verdicts_on(result)
    for figure in result.figures:
        own = [verdict for verdict in verdicts if verdict.target.figure == figure.name]
        marks = "\n".join(f"{'[green]✓' if each.is_reached else '[red]✗'} {each.as_text()}[/]" for each in own)
        value = in_unit(figure.value, figure.unit)
        table.add_row(figure.name, value, spread_text(figure), ratio_text(figure, result), marks)
    return table


def spread_text(figure: Figure) -> str:
    """The interquartile range of the samples: a wide one means that the machine was busy."""
    if len(figure.samples) < 3:
        return ""
    return f"±{(percentile(figure.samples, 75) - percentile(figure.samples, 25)) / 2 / figure.value:.0%}"


def ratio_text(figure: Figure, result: Result) -> str:
    ratio = ratio_of(figure, result)
    return "" if ratio is None else f"{ratio:.2f}"


def ratio_of(figure: Figure, result: Result) -> float | None:
    bases = [each.value for each in result.figures if each.name == figure.base]
    return figure.value / bases[0] if bases else None


def in_unit(value: float, unit: Unit) -> str:
    return f"{value:,.0f} {unit}" if value >= 100 or unit in COUNTS else f"{value:.3g} {unit}"


def save(path: Path, bench: Bench, results: Mapping[str, Result]) -> None:
    everything = {
        "taken_at": datetime.now(UTC).isoformat(timespec="seconds"),
        "is_quick": bench.is_quick,
        "machine": {"system": platform.platform(), "cores": os.cpu_count(), "python": platform.python_version()},
        "server": bench.place.describe(),
        "packages": {**{name: version(name) for name in PACKAGES}, **awa.versions(), **node.versions()},
        "measurements": {name: as_json(result) for name, result in results.items()},
    }
    path.write_text(json.dumps(everything, indent=2, ensure_ascii=False))


def as_json(result: Result) -> dict[str, Any]:
    return {
        "figures": [{**asdict(figure), "ratio": ratio_of(figure, result)} for figure in result.figures],
        "targets": [verdict.as_json() for verdict in verdicts_on(result)],
        "series": result.series,
        "notes": result.notes,
    }
