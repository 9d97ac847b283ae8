"""The rules and the dashboard that are shipped name metrics that exist."""

import json
import re
from pathlib import Path

import pytest

from tests.world import World

FOLDER = Path(__file__).parents[2] / "infra/observability"
FILES = ("tickwork.rules.yml", "tickwork.rules.test.yml", "grafana/tickwork.json")
A_METRIC = re.compile(r"\btickwork_[a-z_0-9]+")


def metrics_in(text: str) -> set[str]:
    return set(A_METRIC.findall(text))


def names(world: World) -> set[str]:
    """Those that there are, each with what Prometheus makes of it."""
    found = set()
    for name, kind in re.findall(r"^# TYPE (\w+) (\w+)$", world.service.metrics.metrics(), re.MULTILINE):
        found |= {name + suffix for suffix in ("_bucket", "_sum", "_count")} if kind == "histogram" else {name}
    return found


@pytest.mark.parametrize("file", FILES)
def test_every_metric_that_is_named_exists(world: World, file: str) -> None:
    named = metrics_in((FOLDER / file).read_text())

    assert len(named) >= 4
    assert named - names(world) == set()


def test_every_panel_has_a_query_and_a_place_of_its_own() -> None:
    panels = json.loads((FOLDER / "grafana/tickwork.json").read_text())["panels"]

    assert all(target["expr"] for panel in panels for target in panel["targets"])
    places = [
        (x, y)
        for place in (panel["gridPos"] for panel in panels)
        for x in range(place["x"], place["x"] + place["w"])
        for y in range(place["y"], place["y"] + place["h"])
    ]
    assert len(places) == len(set(places))
    assert max(x for x, _ in places) < 24
