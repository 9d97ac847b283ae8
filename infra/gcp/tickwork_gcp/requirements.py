"""What a function asks for, and the lock that gives it exact versions and hashes."""

import re
import tomllib
from collections.abc import Iterable
from importlib.metadata import metadata, requires, version
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from tickwork.errors import InvalidRequest
from tickwork.shipped import ROOT

LOCK = "requirements.lock"


def pinned_requirements(family: Path, extras: Iterable[str]) -> str:
    """What requirements.txt and these extras of tickwork need: by the family's own lock, or else by tickwork's."""
    requirements = read_requirements(family / "requirements.txt")
    asked = {*extras_of(requirements), *extras}
    others = [each for each in requirements if not is_tickwork(each)]
    file = family / LOCK
    if file.exists():
        lock = read_lock(file)
        check_lock([*needs_of_tickwork(asked), *others], lock, file)
        return "".join(lock[name] for name in sorted(lock))
    ours = read_lock(ROOT / LOCK)
    found = {name: ours[name] for name in packages_of(asked, family)}
    for each in others:
        if not satisfies(found, each):
            raise InvalidRequest(f"{family}: {each} is not in tickwork's own lock", hint=say_lock(family))
    return "".join(found[name] for name in sorted(found))


def read_requirements(file: Path) -> list[Requirement]:
    try:
        lines = [re.sub(r"(^|\s)#.*", "", line).strip() for line in file.read_text().splitlines()]
        requirements = [Requirement(line) for line in lines if line]
        others = [each for each in requirements if is_tickwork(each) and not is_this_version(each)]
    except FileNotFoundError:
        hint = "It names what the function needs, one package per line, such as tickwork[oidc]."
        raise InvalidRequest(f"{file} is missing", hint=hint) from None
    except ValueError as error:
        hint = "One package per line, such as tickwork[oidc] or httpx>=0.27; options of pip are not supported."
        raise InvalidRequest(f"{file}: {str(error).splitlines()[0]}", hint=hint) from None
    for each in others:
        raise InvalidRequest(f"{file}: asks for {each}, and this is tickwork {version('tickwork')}")
    return requirements


def is_this_version(requirement: Requirement) -> bool:
    return requirement.specifier.contains(version("tickwork"), prereleases=True)


def is_tickwork(requirement: Requirement) -> bool:
    return canonicalize_name(requirement.name) == "tickwork"


def extras_of(requirements: list[Requirement]) -> set[str]:
    return {extra for each in requirements if is_tickwork(each) for extra in each.extras}


def needs_of_tickwork(extras: Iterable[str]) -> list[Requirement]:
    """The packages that tickwork itself needs: it is copied into the bundle, they are installed."""
    extras = {*extras}
    known = {*(metadata("tickwork").get_all("Provides-Extra") or [])}
    if extras - known:
        unknown = ", ".join(sorted(extras - known))
        raise InvalidRequest(f"tickwork has no extra {unknown}", hint=f"It has {', '.join(sorted(known))}.")
    found: list[Requirement] = []
    for text in requires("tickwork") or []:
        each = Requirement(text)
        if each.marker and not any(each.marker.evaluate({"extra": extra}) for extra in extras):
            continue
        each.marker = None
        found += needs_of_tickwork({*each.extras}) if is_tickwork(each) else [each]
    return sorted({*found}, key=str)


def packages_of(extras: Iterable[str], family: Path) -> set[str]:
    """The packages of tickwork's own lock that these extras need, directly or not."""
    extras = {*extras}
    needs_of_tickwork(extras)
    table: dict[str, list[str]] = tomllib.loads((ROOT / "requirements-extras.toml").read_text())
    for extra in sorted(extras - table.keys()):
        raise InvalidRequest(f"{family}: tickwork[{extra}] is not in tickwork's own lock", hint=say_lock(family))
    return {name for extra in ("tickwork", *extras) for name in table[extra]}


def check_lock(requirements: list[Requirement], lock: dict[str, str], file: Path) -> None:
    for each in requirements:
        if not satisfies(lock, each):
            hint = f"{say_lock(file.parent)} If the vault needs it, ask for tickwork[s3] or tickwork[supabase] first."
            raise InvalidRequest(f"{file} is out of date: it does not have {each}", hint=hint)


def satisfies(lock: dict[str, str], requirement: Requirement) -> bool:
    """Whether the lock has the package, in a version and with the extras that are asked for."""
    try:
        locked = [Requirement(line) for line in first_lines(lock.get(canonicalize_name(requirement.name), ""))]
        return any(
            requirement.extras <= each.extras
            and (each.url == requirement.url if each.url else requirement.specifier.contains(version_of(each), True))
            for each in locked
        )
    except ValueError:
        # Somebody has edited it, and it is not an exact version any more.
        return False


def version_of(locked: Requirement) -> Version:
    """Raises ValueError unless it is exact."""
    (pin,) = locked.specifier
    return Version(pin.version if pin.operator == "==" else "")


def first_lines(block: str) -> list[str]:
    """Of each entry: the package and its version, without the hashes; a lock for all systems may have several."""
    return [line.removesuffix("\\").strip() for line in block.splitlines() if line[:1].isalnum()]


def read_lock(file: Path) -> dict[str, str]:
    """The lines of each package, with its version, marker and hashes."""
    blocks: dict[str, str] = {}
    name = ""
    try:
        lines = file.read_text().splitlines(keepends=True)
    except UnicodeDecodeError as error:
        raise InvalidRequest(f"{file}: {error}", hint=say_lock(file.parent)) from None
    for line in lines:
        if line[0].isalnum():
            name = canonicalize_name(re.split(r"[=\[ ]", line, maxsplit=1)[0])
        if name and not line.startswith("#"):
            blocks[name] = blocks.get(name, "") + line
    return blocks


def say_lock(family: Path) -> str:
    return f"Run `tickwork lock {family.name} --functions {family.parent}`."
