"""Tables that an extraction has found: their rows, which of them are read, and what is never guessed."""

from typing import Any

import pytest

from tickwork.passports.extracted import facts_of_tables, known_tables, rows_of_html
from tickwork.passports.reading import Refused
from tickwork.passports.tables import Numbered

HEAD = "<tr><th>Material</th><th>Mass (g)</th></tr>"


def elements(*tables: str) -> list[dict[str, Any]]:
    return [
        {"type": "Table", "text": "", "metadata": {"page_number": 3, "text_as_html": f"<table>{each}</table>"}}
        for each in tables
    ]


def read(*tables: str) -> list[tuple[str, Any, Any]]:
    known = known_tables(elements(*tables), "bom", {}).known
    found = facts_of_tables(known, "text/html", "bom", "1", {})
    return [(each.fact.fact_key, each.fact.payload, each.source) for each in found]


def test_cells_are_texts_without_markup() -> None:
    markup = "<table><TR class='a>b'><td>a<br/>b &lt;c&gt;</td><td> 1 < 2 </td></TR><tr><td></td><td/></tr></table>"

    rows = rows_of_html(markup.replace("a>b", "ab"))

    assert rows == [(1, ["a b <c>", "1 < 2"])]


def test_a_table_with_known_heads_becomes_facts_with_their_place() -> None:
    other, table = "<tr><td>Date</td></tr>", f"{HEAD}<tr><td>Lithium</td><td>1500</td></tr>"

    facts = read(other, table)

    payload = {"name": "Lithium", "mass": 1.5, "unit": "KGM"}
    assert facts == [("Lithium", payload, {"page": 3, "table": 2, "row": 2})]
    assert known_tables(elements(other, table), "bom", {}).left_out == ["page 3, table 1"]


@pytest.mark.parametrize(
    "row",
    [
        "<tr><td>Lithium</td></tr>",
        "<tr><td colspan=2>Lithium</td><td>1</td></tr>",
        "<tr><td>Lithium</td><td ROWSPAN = '02'>1</td></tr>",
    ],
)
def test_a_table_with_merged_cells_is_left_out(row: str) -> None:
    with pytest.raises(Refused) as refused:
        read(HEAD + row)

    assert refused.value.code == "SCHEMA_MISMATCH"


@pytest.mark.parametrize(
    ("cells", "code"), [(("Lithium", "1,234"), "AMBIGUOUS_NUMBER"), (("e&#x301;", "1"), "NOT_NFC")]
)
def test_a_cell_that_cannot_be_read_is_refused_with_its_page(cells: tuple[str, str], code: str) -> None:
    with pytest.raises(Refused) as refused:
        read(f"{HEAD}<tr><td>{cells[0]}</td><td>{cells[1]}</td></tr>")

    assert (refused.value.code, refused.value.message[:16]) == (code, "page 3, table 1:")


def test_broken_markup_is_read_in_linear_time() -> None:
    assert rows_of_html("<" * 100_000) == []
    assert rows_of_html("<td " * 25_000) == []
    assert rows_of_html("<" + "a" * 1_000_000) == []
    assert rows_of_html("<td rowspan=" + " " * 1_000_000 + ">1") == [Numbered(1, ["1"])]
