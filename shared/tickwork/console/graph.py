"""How jobs follow from each other: where to draw them, and the lines between them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

WIDTH, HEIGHT = 190, 44
GAP_X, GAP_Y = 50, 14


@dataclass(frozen=True)
class Node:
    job: Mapping[str, Any]
    x: int
    y: int
    is_this: bool


@dataclass(frozen=True)
class Graph:
    nodes: Sequence[Node]
    # From the right edge of one to the left edge of the next.
    lines: Sequence[tuple[int, int, int, int]]
    width: int
    height: int


def graph_of(jobs: Sequence[Mapping[str, Any]], this: UUID) -> Graph | None:
    """Each job stands right of those that it waited for, or else of the one before it in the chain."""
    if len(jobs) < 2:
        return None
    causes = causes_of(jobs)
    depths: dict[UUID, int] = {}
    for job in jobs:
        depths[job["id"]] = 1 + max((depths.get(cause, -1) for cause in causes[job["id"]]), default=-1)
    rows: dict[int, int] = {}
    places: dict[UUID, tuple[int, int]] = {}
    for job in jobs:
        depth = depths[job["id"]]
        row = rows.get(depth, 0)
        rows[depth] = row + 1
        places[job["id"]] = (depth * (WIDTH + GAP_X), row * (HEIGHT + GAP_Y))
    nodes = [Node(job, *places[job["id"]], is_this=job["id"] == this) for job in jobs]
    ends = [(places[cause], places[job["id"]]) for job in jobs for cause in causes[job["id"]] if cause in places]
    lines = [(x1 + WIDTH, y1 + HEIGHT // 2, x2, y2 + HEIGHT // 2) for (x1, y1), (x2, y2) in ends]
    width = max(x for x, _ in places.values()) + WIDTH
    height = max(y for _, y in places.values()) + HEIGHT
    return Graph(nodes, lines, width, height)


def causes_of(jobs: Sequence[Mapping[str, Any]]) -> dict[UUID, list[UUID]]:
    """What a job waited for; without that, the first of its chain, from which follow-ups inherit the correlation id."""
    known = {job["id"] for job in jobs}
    first = jobs[0]["id"]
    return {
        job["id"]: [id for id in job["after"] or () if id in known] or ([first] if job["id"] != first else [])
        for job in jobs
    }
