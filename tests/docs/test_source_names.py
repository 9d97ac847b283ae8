"""Every name on the right side of docs/source-names.md exists."""

import re

from tests.docs.pages import ROOT
from tests.world import World
from tickwork.errors import BY_SQLSTATE
from tickwork.settings import VARIABLES

PAGE = (ROOT / "docs/source-names.md").read_text()
# What an attempt, a delivery or a job may be.
STATUSES = {
    *("queued", "running", "done", "failed", "dead", "cancelled", "timeout", "lease_expired", "pending", "delivered"),
}
NAMES = """
    select table_name from information_schema.tables where table_schema = 'public'
    union select table_name || '.' || column_name from information_schema.columns where table_schema = 'public'
    union select concat_ws('.', table_schema, table_name, column_name) from information_schema.columns
    union select proname from pg_proc where pronamespace = 'public'::regnamespace
    union select key from job_types
"""


def test_every_name_of_ours_exists(world: World) -> None:
    known = {row["table_name"] for row in world.rows(NAMES)} | STATUSES | {*BY_SQLSTATE, *VARIABLES.values()}
    code = "\n".join(file.read_text() for file in sorted((ROOT / "shared/tickwork").rglob("*.py")))
    codes = set(re.findall(r'"([A-Z][A-Z_]+)"', code))

    assert sorted(set(ours()) - known - codes) == []


def test_what_has_no_name_here_says_why() -> None:
    assert [source for source, here, note in rows() if not here and not note] == []


def ours() -> list[str]:
    return [each for _, here, _ in rows() for each in re.findall(r"`([^`]+)`", here)]


def rows() -> list[list[str]]:
    """The rows of all tables with the columns source, here and note."""
    tables = re.findall(r"^\| source \| here \| note \|\n\| --- \| --- \| --- \|\n((?:\|.*\n)+)", PAGE, re.MULTILINE)
    assert len(tables) > 8
    return [[cell.strip() for cell in line.strip("|").split("|")] for table in tables for line in table.splitlines()]
