"""The project that a command is run in: the folder with tickwork.toml, its families and its migrations."""

import tomllib
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, distribution, requires
from pathlib import Path

from packaging.requirements import Requirement
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from tickwork.database.adoption import Adopted, members_in, tenants_in
from tickwork.errors import BadSetting, InvalidRequest
from tickwork.shipped import FUNCTIONS

FILE = "tickwork.toml"
# Of the local stack: its database is here, its functions are from ten above.
FIRST_PORT = 8420
# The function that processes no jobs: the queue over HTTP.
API = "api"
# The family that only `tickwork worker` processes, with the programs of its machine.
COMMAND = "command"
# The families that come with tickwork, each with the module that has its tables, and its types.
BUILT_IN = {
    "extract": ("documents", ("extract_document", "ingest_document")),
    "classify": ("documents", ("classify_document",)),
    "webhook": ("webhooks", ("deliver_webhook", "http_request")),
    "import": (
        "imports",
        ("import_dropbox", "import_onedrive", "import_gdrive", "check_connector", "watch_connector"),
    ),
    "report": ("reports", ("generate_report", "remove_artifacts")),
    "manage": ("queue", ("change_jobs",)),
    "passport": (
        "passports",
        (
            *("parse_facts", "build_snapshot", "run_rule_tests"),
            *("compile_passport", "generate_qr", "export_passport"),
        ),
    ),
    "sign": ("passports", ("sign_passport", "sign_status_list")),
}


class Table(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class ProjectTable(Table):
    name: str = ""
    modules: list[str] | None = None
    tenants: str | None = None
    members: str | None = None


class StackTable(Table):
    port: int = Field(default=FIRST_PORT, ge=0, le=65_000)
    database: str | None = None


class File(Table):
    project: ProjectTable = ProjectTable()
    stack: StackTable = StackTable()


@dataclass(frozen=True)
class Project:
    """`is_real` if there is a tickwork.toml; without one, the current folder has only its local stack."""

    root: Path
    is_real: bool = False
    modules: list[str] | None = None
    tenants: Adopted | None = None
    members: Adopted | None = None
    port: int = FIRST_PORT
    database: str | None = None

    @property
    def migrations(self) -> Path | None:
        """The folder of the project's own migrations, if it has any."""
        found = self.root / "migrations"
        return found if self.is_real and found.is_dir() else None

    @property
    def schema(self) -> Path | None:
        """The application's own tables, for databases that are created from nothing, if there is such a file."""
        found = self.root / "schema.sql"
        return found if self.is_real and found.is_file() else None

    def own_families(self) -> dict[str, Path]:
        return families_in(self.root / "functions") if self.is_real else {}

    def families(self, functions: Path | None = None) -> dict[str, Path]:
        """The folder of each family: those of the folder that is given, or else the built-in ones and the project's.

        A family of the project takes the place of a built-in one with its name.
        """
        if functions is None:
            return {**{name: FUNCTIONS / name for name in BUILT_IN}, **self.own_families()}
        if found := families_in(functions):
            return found
        raise BadSetting(f"there is no function in {functions}: pass the folder of your functions with --functions")

    def worker_families(self, functions: Path | None = None) -> dict[str, Path]:
        """Also those that have no function."""
        return {**({} if functions else {COMMAND: FUNCTIONS / COMMAND}), **self.families(functions)}


def project_root(start: Path | None = None) -> Path | None:
    folder = (start or Path.cwd()).absolute()
    return next((each for each in (folder, *folder.parents) if (each / FILE).is_file()), None)


def find_project(start: Path | None = None) -> Project:
    """The project of a folder: it, or the closest folder above it, has a tickwork.toml."""
    root = project_root(start)
    file = read_file(root / FILE) if root else File()
    project, stack = file.project, file.stack
    try:
        tenants = tenants_in(project.tenants) if project.tenants else None
        members = members_in(project.members) if project.members else None
    except InvalidRequest as error:
        raise BadSetting(f"{FILE}: {error} (tenants and members are in [project])") from None
    place = root or (start or Path.cwd()).absolute()
    return Project(place, root is not None, project.modules, tenants, members, stack.port, stack.database)


def read_file(file: Path) -> File:
    try:
        return File.model_validate(tomllib.loads(file.read_text()))
    except ValidationError as error:
        problem = error.errors(include_input=False, include_url=False)[0]
        raise BadSetting(f"{file}: {'.'.join(map(str, problem['loc']))}: {problem['msg']}") from None
    # Not TOML, not UTF-8, a number of 5,000 digits, a thousand brackets.
    except (ValueError, RecursionError) as error:
        raise BadSetting(f"{file}: {error}") from None


def families_in(folder: Path) -> dict[str, Path]:
    """Each folder with a main.py is a family, except that of the API and that of our commands."""
    found = {main.parent.name: main.parent for main in sorted(folder.glob("*/main.py")) if main.parent.name != API}
    # Where there is nothing to install, there is no function.
    return {name: each for name, each in found.items() if name != COMMAND or (each / "requirements.txt").exists()}


def missing_packages(family: str) -> list[str]:
    """The packages of a built-in family that are not installed: its extra has its name."""
    return [name for name in packages_of(family) if not is_installed(name)]


def packages_of(extra: str) -> list[str]:
    found: list[str] = []
    for requirement in map(Requirement, requires("tickwork") or []):
        if requirement.marker is None or not requirement.marker.evaluate({"extra": extra}):
            continue
        if requirement.name == "tickwork":
            found += [name for each in requirement.extras for name in packages_of(each)]
        else:
            found.append(requirement.name)
    return found


def is_installed(package: str) -> bool:
    try:
        return bool(distribution(package))
    except PackageNotFoundError:
        return False
