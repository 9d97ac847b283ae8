"""The results as pictures."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure as Picture

from tickwork_bench.measure import Figure, Result

COLOURS = {
    "tickwork": "#1f77b4",
    "Procrastinate": "#ff7f0e",
    "PgQueuer": "#2ca02c",
    "graphile-worker": "#9467bd",
    "pg-boss": "#8c564b",
    "awa": "#e377c2",
    "bare": "#7f7f7f",
    "plain": "#7f7f7f",
    "pgbench": "#c7c7c7",
}


def draw(folder: Path, results: Mapping[str, Result]) -> list[Path]:
    """One picture for each question whose measurements were taken."""
    drawn: list[Path] = []
    if "claim_cost" in results:
        drawn.append(saved(claim_costs(results["claim_cost"]), folder / "claim_cost.png"))
    if "fairness" in results:
        drawn.append(saved(waits(results["fairness"]), folder / "waits.png"))
    if "drain" in results and "enqueue" in results:
        drawn.append(saved(rates(results["drain"], results["enqueue"]), folder / "rates.png"))
    return drawn


def claim_costs(result: Result) -> Picture:
    picture, panels = new_picture("CPU time of the server for a claimed job, median with 5th to 95th percentile", 2, 9)
    for axes, (how, states) in zip(panels, result.series.items(), strict=True):
        low, middle, high = zip(*states.values(), strict=True)
        errors = [[m - a for m, a in zip(middle, low, strict=True)], [b - m for m, b in zip(middle, high, strict=True)]]
        axes.errorbar(range(len(states)), middle, yerr=errors, fmt="o", capsize=3, color=COLOURS["tickwork"])
        axes.set_title(how, loc="left", fontsize="medium")
        axes.set_xticks(range(len(states)), [in_two_lines(state) for state in states])
        axes.set_ylim(0)
        axes.set_ylabel("µs")
    return picture


def in_two_lines(state: str) -> str:
    number, unit, rest = state.split(" ", 2)
    return f"{number} {unit}\n{rest}"


def waits(result: Result) -> Picture:
    picture, (axes,) = new_picture(
        "How long each tenant waits for its first job when one owns 75 % of them", 1, height=5
    )
    for order, (_, *small) in result.series.items():
        label = "turns" if order == "tickwork" else order
        axes.plot(range(1, len(small) + 1), sorted(small), label=label, color=colour_of(order), linewidth=3)
    axes.set_ylim(0)
    axes.set_xlabel("the other tenants, the one that waits longest last")
    axes.set_ylabel("claims until its first")
    axes.legend()
    return picture


def rates(drain: Result, enqueue: Result) -> Picture:
    picture, panels = new_picture("Jobs per second", 4, height=14)
    groups = {
        "processed one at a time, 1 process": [f for f in drain.figures if is_of(f, "1 process", "in one")],
        "processed many at a time, 1 process": [f for f in drain.figures if is_of(f, "1 process", "100 at a time")],
        "enqueued one by one": [f for f in enqueue.figures if is_of(f, "", "one by one")],
        "enqueued in bulk": [f for f in enqueue.figures if is_of(f, "", "1,000 at a time")],
    }
    for axes, (title, figures) in zip(panels, groups.items(), strict=True):
        axes.set_title(title, loc="left", fontsize="medium")
        names = [figure.name.removesuffix(", 1 process") for figure in figures]
        bars = axes.barh(names, [f.value for f in figures], color=[colour_of(f.name) for f in figures])
        axes.bar_label(bars, fmt="{:,.0f}", padding=3)
        axes.invert_yaxis()
        axes.margins(x=0.12)
    return picture


def is_of(figure: Figure, ending: str, base: str) -> bool:
    return figure.name.endswith(ending) and base in (figure.base or "")


def new_picture(title: str, panels: int, height: float) -> tuple[Picture, list[Any]]:
    picture = Picture(figsize=(10, height), layout="constrained")
    picture.suptitle(title)
    found: list[Axes] = [picture.add_subplot(panels, 1, number) for number in range(1, panels + 1)]
    for axes in found:
        axes.spines[["top", "right"]].set_visible(False)
    return picture, found


def colour_of(name: str) -> str:
    return next(colour for prefix, colour in COLOURS.items() if name.startswith(prefix))


def saved(picture: Picture, path: Path) -> Path:
    picture.savefig(path, dpi=120)
    return path
