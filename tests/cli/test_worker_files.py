"""The files that start workers in containers: what they say must fit the command and the settings."""

from pathlib import Path
from typing import Any

import pytest
import yaml  # type: ignore[import-untyped]
from typer.main import get_command

from tickwork.cli.project import find_project
from tickwork.cli.worker import commands
from tickwork.runtime.deadline import SETTLE_SECONDS
from tickwork.settings import VARIABLES

ROOT = Path(__file__).parents[2]
COMPOSE = yaml.safe_load((ROOT / "infra/docker/compose.yml").read_text())["services"]["worker"]
DEPLOYMENT = yaml.safe_load((ROOT / "infra/worker/kubernetes.yml").read_text())["spec"]["template"]["spec"]
(CONTAINER,) = DEPLOYMENT["containers"]


@pytest.mark.parametrize("arguments", [COMPOSE["command"], CONTAINER["args"]], ids=["compose", "kubernetes"])
def test_the_command_is_one_that_there_is(arguments: list[str]) -> None:
    name, *rest = arguments
    context = get_command(commands).make_context(name, rest)

    assert name == "worker"
    assert set(context.params["families"]) <= set(find_project().families(None))
    assert context.params["concurrency"] == 8
    assert context.params["health_port"] == 8090


def test_the_settings_are_some_that_there_are() -> None:
    named = {*COMPOSE["environment"], *(each["name"] for each in CONTAINER["env"])}

    assert named <= set(VARIABLES.values())


@pytest.mark.parametrize(
    ("grace", "stop"),
    [
        (COMPOSE["environment"]["TICKWORK_GRACE_SECONDS"], COMPOSE["stop_grace_period"].removesuffix("s")),
        (CONTAINER["env"][0]["value"], DEPLOYMENT["terminationGracePeriodSeconds"]),
    ],
    ids=["compose", "kubernetes"],
)
def test_nobody_is_killed_before_the_grace_period_is_over(grace: Any, stop: Any) -> None:
    assert float(stop) > float(grace) + SETTLE_SECONDS


def test_every_probe_asks_for_a_path_of_the_port_that_is_served() -> None:
    (port,) = CONTAINER["ports"]
    probes = {name: each["httpGet"] for name, each in CONTAINER.items() if name.endswith("Probe")}

    assert port == {"name": "health", "containerPort": 8090}
    assert {name: probe["path"] for name, probe in probes.items()} == {
        "startupProbe": "/health/live",
        "livenessProbe": "/health/live",
        "readinessProbe": "/health/ready",
    }
    assert {probe["port"] for probe in probes.values()} == {"health"}
    assert "http://127.0.0.1:8090/health/live" in COMPOSE["healthcheck"]["test"][-1]
