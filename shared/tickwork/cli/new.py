"""`tickwork new`: a project, a family, a type, from the files in infra/templates."""

import json
import keyword
import re
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from tickwork.cli import arguments
from tickwork.cli.database import Members, Modules, Tenants, tables
from tickwork.cli.handlers_edit import add_handler
from tickwork.cli.project import API, BUILT_IN, FILE, Project, find_project
from tickwork.database.adoption import settings_of
from tickwork.database.modules import CHAPTERS, with_needs
from tickwork.errors import InvalidRequest
from tickwork.shipped import MIGRATIONS, ROOT

commands = typer.Typer()
group = typer.Typer(help="Create a project, a family or a type.", no_args_is_help=True, rich_markup_mode=None)
commands.add_typer(group, name="new")

TEMPLATES = ROOT / "infra/templates"
# Those that a folder may have already; the others are tickwork's alone.
SHARED_FILES = (".gitignore", "requirements.txt")


@group.command()
def project(
    folder: Annotated[Path, typer.Argument(help="Where; created if it is missing.", metavar="FOLDER")] = Path(),
    modules: Modules = None,
    tenants: Tenants = None,
    members: Members = None,
    database_url: Annotated[
        str | None, typer.Option(help="An existing database: the local stack uses it, and schema.sql gets its tables.")
    ] = None,
) -> None:
    """Create the files of a project in a folder."""
    own_tenants, own_members = tables(tenants, members)
    settings_of(own_tenants, own_members)
    chosen = with_needs(modules or CHAPTERS)
    words = {
        '"my_project"': json.dumps(folder.absolute().name),
        json.dumps([*CHAPTERS]): json.dumps(chosen),
        **{commented(key, each): f"{key} = {json.dumps(given)}" for key, given, each in optional(tenants, members)},
    }
    files = filled("project", words)
    if database_url:
        from tickwork_local.project_database import schema_of, without_password

        url = arguments.database_url(database_url, "--database-url")
        files["schema.sql"] = schema_of(url)
        line = commented("database", "postgresql://postgres@127.0.0.1:5432/app")
        files[FILE] = files[FILE].replace(line, f"database = {json.dumps(without_password(url))}")
    write(folder, files, kept=SHARED_FILES)
    enter = [] if folder.resolve() == Path.cwd().resolve() else [f"cd {folder}"]
    say_next(*enter, "tickwork new family billing")


@group.command()
def family(name: Annotated[str, typer.Argument(help="Such as billing.", metavar="NAME")]) -> None:
    """Create a family: functions/NAME with its main.py."""
    here = current_project()
    if not re.fullmatch("[a-z][a-z0-9_]{0,49}", name):
        hint = "Use at most 50 lowercase letters, digits and underscores, such as billing."
        raise InvalidRequest(f"NAME: {name!r} is not a name for a family", hint=hint)
    if name in BUILT_IN or name == API:
        raise InvalidRequest(f"NAME: tickwork has a family {name} of its own", hint="Choose another name.")
    write(here.root, filled("family", {"my_family": name}))
    say_next(f"tickwork new type write_invoice --family {name}")


@group.command("type")
def new_type(
    name: Annotated[str, typer.Argument(help="A verb and an object, such as write_invoice.", metavar="NAME")],
    family: Annotated[str, typer.Option(help="A family of the project, such as billing.")],
    table: Annotated[str | None, typer.Option(help="The table that it writes to; by default NAME_results.")] = None,
) -> None:
    """Create a type: handler, migration and test."""
    here = current_project()
    check_type(here, name)
    main = folder_of(here, family) / "main.py"
    target = f"{name}_results" if table is None else table
    if not re.fullmatch("[a-z_][a-z0-9_]{0,50}", target):
        hint = "Use at most 51 lowercase letters, digits and underscores, such as invoices."
        raise InvalidRequest(f"--table: {target!r} is not a name for a table", hint=hint)
    words = {"my_family": family, "verb_object": name, "VERB_OBJECT": name.upper(), "my_table": target}
    files = filled("type", words)
    migration = f"migrations/{next_version(here)}_{name}.sql"
    files[migration] = files.pop(f"migrations/{name}.sql")
    write(here.root, files)
    if add_handler(main, name):
        print(f"changed {main.relative_to(here.root)}")
    else:
        entry = f'"{name}": {name.upper()}'
        print(f"Add to {main.relative_to(here.root)}: from {name} import {name.upper()}, and {entry} to HANDLERS.")
    tenant = "acme" if here.tenants is None else "TENANT"
    say_next(
        "python -m pytest",
        "tickwork up",
        f"""tickwork enqueue {name} '{{"text": "Hello"}}' --tenant {tenant}""",
    )


def current_project() -> Project:
    found = find_project()
    if not found.is_real:
        hint = "Create a project first: tickwork new project"
        raise InvalidRequest(f"there is no {FILE} in {found.root} or above", hint=hint)
    return found


def folder_of(here: Project, family: str) -> Path:
    own = here.own_families()
    if family not in own:
        hint = f"Create it: tickwork new family {family}" if family not in BUILT_IN else "A built-in family is fixed."
        raise InvalidRequest(f"--family: there is no functions/{family}/main.py in {here.root}", hint=hint)
    return own[family]


def check_type(here: Project, name: str) -> None:
    # It becomes the name of a file that main.py imports, and of a function in it.
    if not re.fullmatch("[a-z][a-z0-9_]{0,49}", name) or keyword.iskeyword(name) or name == "main":
        hint = "Use a verb and an object, at most 50 lowercase letters, digits and underscores, such as write_invoice."
        raise InvalidRequest(f"NAME: {name!r} is not a name for a type", hint=hint)
    if name in sys.stdlib_module_names:
        raise InvalidRequest(f"NAME: {name} is a module of Python", hint=f"Choose another name, such as {name}_file.")
    if any(name in types for _, types in BUILT_IN.values()):
        raise InvalidRequest(f"NAME: tickwork has a type {name} of its own", hint="Choose another name.")
    for folder in here.own_families().values():
        if (folder / f"{name}.py").exists():
            raise InvalidRequest(f"NAME: {folder.relative_to(here.root)}/{name}.py exists", hint="Choose another name.")


def next_version(here: Project) -> str:
    """The current time, but later than every migration there is."""
    files = [*MIGRATIONS.glob("*.sql"), *(here.root / "migrations").glob("*.sql")]
    latest = max(int(found[0]) for file in files if (found := re.match("[0-9]+", file.name)))
    return str(max(int(datetime.now(UTC).strftime("%Y%m%d%H%M%S")), latest + 1))


def optional(tenants: str | None, members: str | None) -> list[tuple[str, str, str]]:
    """What tickwork.toml has as a comment, unless it is given: key, value and example."""
    examples = {"tenants": "public.companies(id, name)", "members": "public.company_users(company_id, user_id, role)"}
    given = {"tenants": tenants, "members": members}
    return [(key, value, examples[key]) for key, value in given.items() if value]


def commented(key: str, example: str) -> str:
    return f'# {key} = "{example}"'


def filled(template: str, words: dict[str, str]) -> dict[str, str]:
    """The files of a template, by their paths, with each of these words replaced, in paths too."""
    files = {}
    for file in sorted((TEMPLATES / template).rglob("*")):
        if file.is_file() and "__pycache__" not in file.parts:
            path, text = str(file.relative_to(TEMPLATES / template)), file.read_text()
            for word, value in words.items():
                path, text = path.replace(word, value), text.replace(word, value)
            files[".gitignore" if path == "gitignore" else path] = text
    return files


def write(root: Path, files: dict[str, str], kept: tuple[str, ...] = ()) -> None:
    """All of the files or, if one of them exists, none; a file that may be kept is left as it is."""
    for path in files:
        if path not in kept and (root / path).exists():
            raise InvalidRequest(f"{root / path} exists: nothing was written", hint="Move it away, or choose a name.")
    for path, text in files.items():
        if (root / path).exists():
            print(f"kept {path}, which was there; add what it lacks of {' '.join(text.split())}")
            continue
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
        print(f"wrote {path}")


def say_next(*lines: str) -> None:
    print("\nNext:\n" + "\n".join(f"  {line}" for line in lines))
