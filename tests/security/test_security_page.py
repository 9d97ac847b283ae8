"""SECURITY.md names a test for each promise, and the table of broken guards is that of the tests."""

import re
from pathlib import Path

from tests.database.test_privileges import MAY_EXECUTE
from tests.security.guard_mutants import GUARDS, PACKAGE, REPOSITORY, broken
from tests.security.test_sql_mutants import MUTANTS

PAGE = REPOSITORY / "SECURITY.md"
TABLE = REPOSITORY / "docs" / "design" / "broken-guards.md"
NAMED = re.compile(r"`(tests/[a-z_/]+\.py)(?:::(\w+))?`")


def table_of_mutants() -> str:
    lines = ["| defect | where | noticed by |", "| --- | --- | --- |"]
    for sql in MUTANTS:
        name = f"{sql.caught_by.__module__.replace('.', '/')}.py::{sql.caught_by.__name__}"
        lines.append(f"| {sql.defect} | SQL | `{name}` |")
    for guard in GUARDS:
        lines.append(f"| {guard.defect} | `{guard.module}` | `{guard.tests} -k {guard.chosen!r}` |")
    return "\n".join(lines) + "\n"


def test_every_test_that_the_page_names_exists() -> None:
    named = NAMED.findall(PAGE.read_text())

    assert len(named) > 25
    assert [(path, name) for path, name in named if not is_there(REPOSITORY / path, name)] == []


def is_there(path: Path, name: str) -> bool:
    return path.is_file() and (not name or f"def {name}(" in path.read_text())


def test_every_promise_names_a_test() -> None:
    promises = re.findall(r"^\| (?!promise|---)(.+?) \| (.+) \|$", section("What holds it"), re.MULTILINE)

    assert len(promises) > 15
    assert [promise for promise, tests in promises if not NAMED.search(tests)] == []


def test_the_model_names_every_role_that_has_rights() -> None:
    column = re.findall(r"^\| (?!who|---)[^|]+\|([^|]+)\|", section("Who can do what"), re.MULTILINE)
    named = set(re.findall("`([a-z_]+)`", " ".join(column)))

    assert named - {"memberships"} == {role for roles in MAY_EXECUTE for role in roles.split()} | {"anon"}


def section(title: str) -> str:
    return PAGE.read_text().partition(f"## {title}\n")[2].partition("\n## ")[0]


def test_the_table_of_broken_guards_is_current() -> None:
    assert table_of_mutants() in TABLE.read_text()
    assert len(MUTANTS) + len(GUARDS) >= 15


def test_every_broken_guard_still_fits_its_module() -> None:
    for mutant in GUARDS:
        assert broken((PACKAGE / mutant.module).read_text(), mutant)
