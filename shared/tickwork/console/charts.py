"""Points of charts, for the macros of charts.html: no more than the browser has to draw."""

from collections.abc import Sequence
from dataclasses import dataclass

WIDTH, HEIGHT = 600, 160
# More than that cannot be told apart.
MAX_POINTS = 120
DASH = 5


@dataclass(frozen=True)
class Line:
    name: str
    # None where there is no value.
    values: Sequence[float | None]


def points(values: Sequence[float | None], highest: float, width: float = WIDTH, height: float = HEIGHT) -> list[str]:
    """The lines of a chart, as the points of polylines: a gap where there is no value."""
    step = width / max(len(values) - 1, 1)
    parts: list[list[tuple[float, float]]] = [[]]
    for place, value in enumerate(values):
        if value is None:
            parts.append([])
        else:
            parts[-1].append((place * step, height - value / (highest or 1) * height))
    return [" ".join(f"{x:.1f},{y:.1f}" for x, y in seen(part)) for part in parts if part]


def seen(part: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """A point alone would not be drawn: it becomes a dash."""
    ((x, y), *others) = part
    return part if others else [(x - DASH if x >= DASH else x + DASH, y), (x, y)]


def highest_of(lines: Sequence[Line]) -> float:
    return max((value for line in lines for value in line.values if value is not None), default=0)
