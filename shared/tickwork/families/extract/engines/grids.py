"""Tables that are drawn: the lines around their cells."""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple, Protocol

# Lines closer than this, in points, are one.
NEAR = 2.5
# A page with more lines than this is a drawing.
MAX_LINES = 400


class Rule(NamedTuple):
    x0: float
    y0: float
    x1: float
    y1: float


class Placed(Protocol):
    x0: float
    y0: float
    x1: float
    y1: float


class Grid:
    """Where the lines of one table are: its upright ones by their x, its level ones by their y."""

    def __init__(self, upright: Sequence[Rule], xs: Sequence[float], ys: Sequence[float]) -> None:
        self.upright = upright
        self.xs = xs
        self.ys = ys
        self.x0, self.x1, self.y0, self.y1 = xs[0], xs[-1], ys[0], ys[-1]
        self.columns = range(len(xs) - 1)
        self.rows = range(len(ys) - 1)

    def holds(self, word: Placed) -> bool:
        x, y = (word.x0 + word.x1) / 2, (word.y0 + word.y1) / 2
        return self.x0 <= x <= self.x1 and self.y0 <= y <= self.y1

    def cell_of(self, word: Placed) -> tuple[int, int]:
        """Row and column of a word; in a cell that spans several columns, the first of them."""
        x, y = (word.x0 + word.x1) / 2, (word.y0 + word.y1) / 2
        row = min(bisect_right(self.ys, y) - 1, len(self.ys) - 2)
        column = min(bisect_right(self.xs, x) - 1, len(self.xs) - 2)
        while column > 0 and not self._has_wall(self.xs[column], y):
            column -= 1
        return row, column

    def _has_wall(self, x: float, y: float) -> bool:
        return any(abs(rule.x0 - x) <= NEAR and rule.y0 - NEAR <= y <= rule.y1 + NEAR for rule in self.upright)


def grids_of(rules: Sequence[Rule]) -> list[Grid]:
    """The tables among the lines of a page: two columns and two rows at least."""
    level = [rule for rule in rules if rule.x1 - rule.x0 >= rule.y1 - rule.y0]
    upright = [_turned(rule) for rule in rules if rule.x1 - rule.x0 < rule.y1 - rule.y0]
    beams, walls = _merged(level), [_turned(rule) for rule in _merged(upright)]
    if not beams or not walls or len(beams) + len(walls) > MAX_LINES:
        return []
    grids = []
    for own_beams, own_walls in _touching(beams, walls):
        xs = _distinct(rule.x0 for rule in own_walls)
        ys = _distinct(rule.y0 for rule in own_beams)
        if len(xs) >= 3 and len(ys) >= 3:
            grids.append(Grid(own_walls, xs, ys))
    return grids


def _turned(rule: Rule) -> Rule:
    return Rule(rule.y0, rule.x0, rule.y1, rule.x1)


def _merged(level: Sequence[Rule]) -> list[Rule]:
    """Level lines, each one once and in one piece, however many cells drew a part of it."""
    heights = _distinct(rule.y0 for rule in level)
    on: dict[float, list[Rule]] = {height: [] for height in heights}
    for rule in level:
        on[heights[bisect_right(heights, rule.y0) - 1]].append(rule)
    merged: list[Rule] = []
    for height, pieces in on.items():
        for piece in sorted(pieces):
            if merged and merged[-1].y0 == height and piece.x0 <= merged[-1].x1 + NEAR:
                merged[-1] = Rule(merged[-1].x0, height, max(merged[-1].x1, piece.x1), height)
            else:
                merged.append(Rule(piece.x0, height, piece.x1, height))
    return merged


def _distinct(values: Iterable[float]) -> list[float]:
    """Each value that is not near the one before it, in order."""
    found: list[float] = []
    for value in sorted(values):
        if not found or value > found[-1] + NEAR:
            found.append(value)
    return found


def _touching(beams: Sequence[Rule], walls: Sequence[Rule]) -> Iterator[tuple[list[Rule], list[Rule]]]:
    """Groups of lines that hang together."""
    left_beams, left_walls = set(beams), set(walls)
    while left_beams:
        group_beams, group_walls = [left_beams.pop()], []
        for beam in group_beams:
            for wall in [wall for wall in left_walls if _touch(beam, wall)]:
                left_walls.discard(wall)
                group_walls.append(wall)
                found = [each for each in left_beams if _touch(each, wall)]
                left_beams.difference_update(found)
                group_beams += found
        yield group_beams, group_walls


def _touch(beam: Rule, wall: Rule) -> bool:
    return beam.x0 - NEAR <= wall.x0 <= beam.x1 + NEAR and wall.y0 - NEAR <= beam.y0 <= wall.y1 + NEAR
