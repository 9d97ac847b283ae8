"""Charts as SVG, made here and not by a script in the browser."""

from collections.abc import Callable, Iterable
from html import escape

COLORS = ("#2f6f9f", "#c8553d", "#6a994e", "#e0a030", "#7a5195", "#4b9b8e", "#9a6b4f", "#8a94a0")
WIDTH, HEIGHT, LEFT, BOTTOM, TOP = 900, 260, 60, 46, 10
# More than these would have no color of their own, or no room: the rest of the series is added up.
MAX_SERIES, MAX_LABELS = len(COLORS) - 1, 10
OTHERS = "…"


def stacked_bars(points: Iterable[tuple[str, str, float]], shown: Callable[[float], str] = "{:g}".format) -> str:
    """Bars over places on an axis, each made of series, from (place, series, number) in the order of the axis."""
    places: dict[str, dict[str, float]] = {}
    totals: dict[str, float] = {}
    for place, series, number in points:
        totals[series] = totals.get(series, 0.0) + number
        bar = places.setdefault(place, {})
        bar[series] = bar.get(series, 0.0) + number
    largest = sorted(totals, key=lambda series: -totals[series])[:MAX_SERIES]
    names = [*largest, *([OTHERS] if len(totals) > len(largest) else [])]
    bars = {place: _gathered(bar, largest) for place, bar in places.items()}
    most = max((sum(bar.values()) for bar in bars.values()), default=0) or 1
    parts = [_axis(most, shown), *_bars(bars, names, most, shown), *_legend(names)]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT + 24}" width="{WIDTH}" role="img" '
        f'font-family="system-ui, sans-serif" font-size="11" fill="#1c2733">{"".join(parts)}</svg>'
    )


def _gathered(bar: dict[str, float], largest: list[str]) -> dict[str, float]:
    kept = {series: number for series, number in bar.items() if series in largest}
    rest = sum(bar.values()) - sum(kept.values())
    return {**kept, OTHERS: rest} if rest else kept


def _y(share: float) -> float:
    return TOP + (HEIGHT - TOP - BOTTOM) * (1 - share)


def _axis(most: float, shown: Callable[[float], str]) -> str:
    lines = (
        f'<line x1="{LEFT}" x2="{WIDTH}" y1="{_y(share):.1f}" y2="{_y(share):.1f}" stroke="#d5dbe1"/>'
        f'<text x="{LEFT - 6}" y="{_y(share) + 4:.1f}" text-anchor="end">{escape(shown(most * share))}</text>'
        for share in (0.0, 0.5, 1.0)
    )
    return "".join(lines)


def _bars(
    bars: dict[str, dict[str, float]], names: list[str], most: float, shown: Callable[[float], str]
) -> Iterable[str]:
    step = (WIDTH - LEFT) / max(len(bars), 1)
    every = -(-len(bars) // MAX_LABELS)
    for index, (place, bar) in enumerate(bars.items()):
        x, below = LEFT + step * index, 0.0
        for color, series in zip(COLORS, names, strict=False):
            if number := bar.get(series, 0.0):
                top, bottom = _y((below + number) / most), _y(below / most)
                title = escape(f"{place}, {series}: {shown(number)}")
                yield (
                    f'<rect x="{x + step * 0.1:.1f}" y="{top:.1f}" width="{min(step * 0.8, 60):.1f}" '
                    f'height="{bottom - top:.1f}" fill="{color}"><title>{title}</title></rect>'
                )
                below += number
        if index % every == 0:
            yield f'<text x="{x + step * 0.1:.1f}" y="{HEIGHT - BOTTOM + 16}">{escape(place)}</text>'


def _legend(names: list[str]) -> Iterable[str]:
    width = (WIDTH - LEFT) / max(len(names), 4)
    for index, (color, name) in enumerate(zip(COLORS, names, strict=False)):
        x = LEFT + width * index
        yield f'<rect x="{x:.1f}" y="{HEIGHT}" width="10" height="10" fill="{color}"/>'
        short = name if len(name) <= 22 else f"{name[:21]}…"
        yield f'<text x="{x + 14:.1f}" y="{HEIGHT + 9}">{escape(short)}</text>'
