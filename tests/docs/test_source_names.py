"""docs/source-names.md: every name of ours exists, and nothing that is called planned does."""

import importlib
import re
from dataclasses import dataclass

import pytest
from pydantic import BaseModel

from tests.docs.pages import ROOT
from tests.docs.test_guides import problem_of
from tests.world import World
from tickwork.errors import BY_SQLSTATE
from tickwork.families.classify import classify_document
from tickwork.families.extract import extract_document
from tickwork.families.imports import summary
from tickwork.settings import ALIASES, VARIABLES

PAGE = (ROOT / "docs/source-names.md").read_text()
CODE = "\n".join(file.read_text() for file in sorted((ROOT / "shared/tickwork").rglob("*.py")))
SQL = "\n".join(file.read_text() for file in sorted((ROOT / "supabase/migrations").glob("*.sql")))
RESULTS: dict[str, type[BaseModel]] = {
    "extract_document": extract_document.Result,
    "classify_document": classify_document.Result,
    **{f"import_{provider}": summary.Result for provider in ("dropbox", "onedrive", "gdrive")},
}
# With the schema in front, except for public.
NAMES = """
    with things as (
      select relnamespace as schema, relname::text as name
      from pg_class where relkind in ('r', 'v')
      union
      select relnamespace, relname || '.' || attname
      from pg_class join pg_attribute on attrelid = pg_class.oid
      where relkind in ('r', 'v') and attnum > 0 and not attisdropped
      union
      select pronamespace, proname from pg_proc
      union
      select pronamespace, proname || '.' || parameter from pg_proc, unnest(proargnames) as parameter
    )
    select case nspname when 'public' then name else nspname || '.' || name end as name
    from things join pg_namespace on pg_namespace.oid = schema
    where nspname in ('public', 'tickwork')
    union select rolname from pg_roles
    union select key from extraction_engines
    union select key from job_types
    union select key || '.' || field from job_types, jsonb_object_keys(payload_schema -> 'properties') as field
"""


@dataclass(frozen=True)
class Row:
    section: str
    source: str
    here: str
    note: str

    def ours(self) -> list[str]:
        return re.findall(r"`([^`]+)`", self.here)

    def planned(self) -> list[str]:
        """What must not exist: the names that are planned and, where there is nothing yet, those of the source."""
        named = re.findall(r"`([^`]+)`", self.note.partition("planned as ")[2].partition(";")[0])
        if "planned" not in self.note or self.here:
            return named
        sources = [re.sub("(?<=[a-z])(?=[A-Z])", "_", each) for each in re.findall(r"`([^`]+)`", self.source)]
        return [*named, *(each.lower() for each in sources), *(each.upper() for each in sources if "_" in each)]


def rows() -> list[Row]:
    """The rows of all tables with the columns source, here and note."""
    found = []
    for part in PAGE.split("\n## ")[1:]:
        for line in re.findall(r"^\| (?!source|---|short|question)(.*) \|$", part, re.MULTILINE):
            cells = [cell.strip() for cell in line.split("|")]
            if len(cells) == 3:
                found.append(Row(part.partition("\n")[0], *cells))
    return found


@pytest.fixture
def known(world: World) -> set[str]:
    """Whatever has a name and can be mapped to, but for what is looked up by `exists`."""
    results = {f"{type}.{field}" for type, model in RESULTS.items() for field in model.model_fields}
    settings = {*VARIABLES.values(), *ALIASES}
    codes = {*BY_SQLSTATE, *re.findall(r'"([A-Z]+(?:_[A-Z]+)*)"', CODE)} - {*VARIABLES.values()}
    events = set(re.findall(r"""['"]([a-z_]+(?:\.[a-z_]+)+)['"]""", CODE + SQL))
    return {row["name"] for row in world.rows(NAMES)} | results | settings | codes | events


def exists(name: str, known: set[str]) -> bool:
    if name.startswith("tickwork "):
        return problem_of(name.removeprefix("tickwork ")) is None
    if name.startswith("functions/"):
        return (ROOT / name / "main.py").is_file()
    if name.startswith("shared/"):
        return (ROOT / name).is_dir()
    return name in known or (name.startswith("tickwork.") and is_in_python(name))


def is_in_python(name: str) -> bool:
    module, _, attribute = name.rpartition(".")
    try:
        return hasattr(importlib.import_module(module), attribute) or bool(importlib.import_module(name))
    except ImportError:
        return False


def test_every_name_of_ours_exists(known: set[str]) -> None:
    labels = "".join((ROOT / "shared/tickwork" / name).read_text() for name in ("logs.py", "runtime/attempt.py"))
    settled = (ROOT / "shared/tickwork/runtime/exchange.py").read_text()
    also = {
        "Statuses": set(re.findall("'([a-z_]+)'", SQL)),
        "Events, logs and metrics": {*re.findall(r'"([a-z_./]+)"', labels), *re.findall("([a-z_]+)=", settled)},
    }

    names = [(row.section, name) for row in rows() for name in row.ours()]

    assert len(names) > 200
    assert [each for each in names if not exists(each[1], known | also.get(each[0], set()))] == []


def test_nothing_that_is_planned_exists(known: set[str]) -> None:
    assert [name for row in rows() for name in row.planned() if exists(name, known)] == []


def test_what_has_no_name_here_says_why() -> None:
    assert [row.source for row in rows() if not row.here and not row.note] == []


def test_the_page_is_read_as_it_is_meant() -> None:
    planned = {name for row in rows() for name in row.planned()}

    assert len(rows()) > 150
    assert planned == set()
    assert {row.section for row in rows()} >= {"Tables", "Statuses", "Routes", "Settings", "Errors"}
