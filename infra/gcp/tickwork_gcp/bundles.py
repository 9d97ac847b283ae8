"""One folder per function with everything that it needs, as `gcloud run deploy --source` uploads it."""

import re
import shutil
from collections.abc import Iterator, Sequence
from importlib.metadata import PackageNotFoundError, metadata, requires
from pathlib import Path

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

import tickwork
from tickwork import shipped
from tickwork.errors import InvalidRequest

REPOSITORY = shipped.ROOT
PACKAGE = Path(tickwork.__file__).parent
# Not used by any function: the command line and what only it needs.
LEFT_OUT = ("__pycache__", "cli", "files", "waking")
# Where functions run. A requirement that holds for one of them is kept, with the marker that the lock gives it.
PLACES = [
    {"sys_platform": "linux", "platform_system": "Linux", "os_name": "posix", "python_version": version}
    | {"python_full_version": f"{version}.0", "implementation_name": "cpython"}
    | {"platform_python_implementation": "CPython", "platform_machine": "x86_64"}
    for version in ("3.11", "3.12", "3.13", "3.14")
]


def families_in(functions: Path) -> list[str]:
    return sorted(main.parent.name for main in functions.glob("*/main.py"))


def build(functions: Path, families: Sequence[str], output: Path, extras: Sequence[str] = ()) -> list[Path]:
    """Write a bundle for each family, replacing an older one; the same input gives the same bytes."""
    known = families_in(functions)
    for family in families:
        if family not in known:
            hint = f"Use one of {', '.join(known) or 'none'}."
            raise InvalidRequest(f"there is no function {family!r} in {functions}", hint=hint)
    lock = read_lock(REPOSITORY / "requirements.lock")
    return [build_one(functions / family, output / family, lock, extras) for family in families or known]


def build_one(source: Path, bundle: Path, lock: dict[str, str], extras: Sequence[str]) -> Path:
    pinned = pinned_requirements(source / "requirements.txt", lock, extras)
    if bundle.exists():
        if any(bundle.iterdir()) and not (bundle / "main.py").exists():
            raise InvalidRequest(f"{bundle} exists and is not a bundle", hint="Pass another folder with --output.")
        shutil.rmtree(bundle)
    bundle.parent.mkdir(parents=True, exist_ok=True)
    shutil.copytree(source, bundle, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(PACKAGE, bundle / "tickwork", ignore=shutil.ignore_patterns(*LEFT_OUT))
    (bundle / "requirements.txt").write_text(pinned)
    return bundle


def pinned_requirements(file: Path, lock: dict[str, str], extras: Sequence[str]) -> str:
    """The requirements of a function and everything they need, with the versions and hashes of the lock."""
    asked = [line.strip() for line in file.read_text().splitlines() if line.strip() and not line.startswith("#")]
    asked += [f"tickwork[{','.join(extras)}]"] if extras else []
    try:
        names = closure([Requirement(line) for line in asked])
    except InvalidRequirement as error:
        raise InvalidRequest(f"{file}: {error}") from None
    missing = sorted(names - lock.keys())
    if missing:
        hint = "Add it to pyproject.toml and run `make lock`."
        raise InvalidRequest(f"{file}: {missing[0]} is not in requirements.lock", hint=hint)
    return "".join(lock[name] for name in sorted(names))


def closure(requirements: list[Requirement]) -> set[str]:
    """The names of the packages that these need, directly or not, except tickwork itself."""
    known = {*(metadata("tickwork").get_all("Provides-Extra") or [])}
    for requirement in requirements:
        if canonicalize_name(requirement.name) == "tickwork" and requirement.extras - known:
            unknown = ", ".join(sorted(requirement.extras - known))
            raise InvalidRequest(f"tickwork has no extra {unknown}", hint=f"It has {', '.join(sorted(known))}.")
    found: set[tuple[str, str]] = set()
    waiting: list[tuple[str, str]] = [
        (canonicalize_name(each.name), extra) for each in requirements for extra in ("", *each.extras)
    ]
    while waiting:
        package = waiting.pop()
        if package not in found:
            found.add(package)
            waiting += needs(*package)
    return {name for name, _ in found} - {"tickwork"}


def needs(name: str, extra: str) -> Iterator[tuple[str, str]]:
    for text in required_by(name):
        requirement = Requirement(text)
        if requirement.marker is None:
            is_needed = extra == ""
        else:
            is_needed = any(requirement.marker.evaluate({**place, "extra": extra}) for place in PLACES)
        if is_needed:
            yield from ((canonicalize_name(requirement.name), each) for each in ("", *requirement.extras))


def required_by(name: str) -> list[str]:
    try:
        return requires(name) or []
    except PackageNotFoundError:
        hint = "Install everything first: run `make lint` in the repository."
        raise InvalidRequest(f"{name} is not installed", hint=hint) from None


def read_lock(file: Path) -> dict[str, str]:
    """The lines of each package, with its version, marker and hashes."""
    if not file.exists():
        raise InvalidRequest(f"{file} is missing", hint="Build bundles in the repository: `make lock` writes it.")
    blocks: dict[str, str] = {}
    name = ""
    for line in file.read_text().splitlines(keepends=True):
        if line[0].isalnum():
            name = canonicalize_name(re.split(r"[=\[ ]", line, maxsplit=1)[0])
        blocks[name] = blocks.get(name, "") + line
    return blocks
