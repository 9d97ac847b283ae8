"""The trees of supabase/README.md: each function calls those that stand below it."""

import re

import pytest

from count_core import MIGRATIONS, functions_in

README = MIGRATIONS.parent / "README.md"
CALLS: dict[str, set[str]] = {}
for function in functions_in({path.name: path.read_text() for path in MIGRATIONS.glob("*.sql")}):
    CALLS.setdefault(function.name, set()).update(function.calls)
LINE = re.compile(r"^(?P<branch>(?:[│ ]  )*[├└]─ )?(?P<name>[a-z]\w+)\b(?P<words>.*)$")


def edges(section: str) -> list[tuple[str, str]]:
    """Who calls whom: by the tree, and by the functions that a line names besides its own."""
    text = README.read_text().partition(f"## {section}\n")[2].partition("```\n")[2].partition("```")[0]
    above: list[str] = []
    found: list[tuple[str, str]] = []
    for line in filter(None, map(LINE.match, text.splitlines())):
        depth = len(line["branch"] or "") // 3
        del above[depth:]
        found += [(above[-1], line["name"])] if above else []
        above.append(line["name"])
        found += [(line["name"], word) for word in re.findall(r"\w+_\w+", line["words"]) if f"tickwork.{word}" in CALLS]
    return found


@pytest.mark.parametrize("section", ["A claim", "A settle"])
def test_each_function_of_a_tree_calls_those_below_it(section: str) -> None:
    found = edges(section)

    assert len(found) >= 4
    assert [edge for edge in found if f"tickwork.{edge[1]}" not in CALLS.get(f"tickwork.{edge[0]}", set())] == []
