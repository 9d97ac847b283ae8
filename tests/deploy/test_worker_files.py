"""The files that start workers in containers, read by the programs of others."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
COMPOSE = ROOT / "infra/docker/compose.yml"
DEPLOYMENT = ROOT / "infra/worker/kubernetes.yml"
SECRETS = {"POSTGRES_PASSWORD": "secret", "WORKER_PASSWORD": "secret", "TICKWORK_SECRET_KEY": "secret"}
# A model of the specification of compose files that knows every field, and no other.
READ_COMPOSE = """
import sys, yaml
from compose_pydantic import ComposeSpecification
ComposeSpecification.model_validate(yaml.safe_load(open(sys.argv[1])))
"""


def with_package(package: str, *command: str) -> "subprocess.CompletedProcess[str]":
    """Run a command with a package of PyPI."""
    uv = [sys.executable, "-m", "uv", "run", "--quiet", "--no-project", "--python", sys.executable, "--with", package]
    if subprocess.run([*uv, "python", "-c", ""], capture_output=True).returncode:
        pytest.skip(f"{package} cannot be installed")
    return subprocess.run([*uv, *command], capture_output=True, text=True)


def test_kubernetes_accepts_the_deployment() -> None:
    checked = with_package("kubernetes-validate", "kubernetes-validate", "--strict", str(DEPLOYMENT))

    assert checked.returncode == 0, checked.stdout + checked.stderr
    assert "passed" in checked.stdout


def test_a_field_that_kubernetes_does_not_know_is_found(tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.yml"
    wrong.write_text(DEPLOYMENT.read_text().replace("terminationGracePeriodSeconds", "gracePeriod"))

    assert with_package("kubernetes-validate", "kubernetes-validate", "--strict", str(wrong)).returncode != 0


def test_the_compose_file_fits_its_specification() -> None:
    checked = with_package("compose-pydantic", "python", "-c", READ_COMPOSE, str(COMPOSE))

    assert checked.returncode == 0, checked.stderr


def test_docker_compose_accepts_the_compose_file() -> None:
    compose = ["docker", "compose"]
    try:
        if subprocess.run([*compose, "version"], capture_output=True).returncode:
            pytest.skip("docker has no plugin compose")
    except FileNotFoundError:
        pytest.skip("docker is not installed")

    checked = subprocess.run(
        [*compose, "--file", str(COMPOSE), "config", "--quiet"], env={**os.environ, **SECRETS}, capture_output=True
    )

    assert checked.returncode == 0, checked.stderr
