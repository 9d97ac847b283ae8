"""Tables: what a column means, its decimal sign and its unit are found out or refused, never guessed."""

from decimal import Decimal
from typing import Any

import pytest

from tickwork.passports.numbers import as_json, notation_of, number_of
from tickwork.passports.reading import Refused
from tickwork.passports.scripts import mixed_scripts
from tickwork.passports.sheets import rows_of_csv
from tickwork.passports.tables import Kind, Meaning, facts_of_rows, meaning_of
from tickwork.passports.units import unit_of


def read(text: str, kind: Kind = "bom", **taught: Meaning) -> list[tuple[str, str, Any]]:
    found = facts_of_rows(rows_of_csv(text.encode()), kind, "1", taught)
    return [(each.fact.fact_type, each.fact.fact_key, each.fact.payload) for each in found]


@pytest.mark.parametrize(
    ("cells", "numbers"),
    [
        (["1,5", "1.234"], ["1.5", "1234"]),
        (["1.5", "1,234"], ["1.5", "1234"]),
        (["1.234,5", "7"], ["1234.5", "7"]),
        (["1,234,567"], ["1234567"]),
        (["1.234"], ["1.234"]),
        (["1 234,5", "1'234"], ["1234.5", "1234"]),
        (["-0,25", "+3"], ["-0.25", "3"]),
        (["1e3", "2.5E-3"], ["1000", "0.0025"]),
        ([".5"], ["0.5"]),
    ],
)
def test_the_decimal_sign_is_that_of_the_whole_column(cells: list[str], numbers: list[str]) -> None:
    notation = notation_of("mass", cells)

    assert [number_of(cell, notation) for cell in cells] == [Decimal(number) for number in numbers]


@pytest.mark.parametrize("cells", [["1,234"], ["1,5", "1.5"], ["1,234", "1.234"], ["12", "1,000"]])
def test_a_column_that_leaves_its_decimal_sign_open_is_refused(cells: list[str]) -> None:
    with pytest.raises(Refused) as refused:
        notation_of("mass", cells)

    assert refused.value.code == "AMBIGUOUS_NUMBER"


@pytest.mark.parametrize("cell", ["abc", "=1+1", "1,2,3", "1..2", "0x10", "NaN", "∞", "1,23.4", "٣", "100 2500"])
def test_what_is_not_a_number_is_refused(cell: str) -> None:
    with pytest.raises(Refused) as refused:
        as_json(number_of(cell, notation_of("mass", [cell])))

    assert refused.value.code in ("SCHEMA_MISMATCH", "AMBIGUOUS_NUMBER")


@pytest.mark.parametrize(
    ("name", "code", "factor"),
    [
        ("kg", "KGM", "1"),
        ("GRM", "KGM", "0.001"),
        ("unit:gram", "KGM", "0.001"),
        ("t", "KGM", "1000"),
        ("mg", "KGM", "0.000001"),
        ("Wh", "KWH", "0.001"),
        ("MWh", "KWH", "1000"),
        ("MWH", "KWH", "1000"),
        ("mohm", "OHM", "0.001"),
        ("mAh", "AMH", "0.001"),
        ("%", "P1", "1"),
        ("kg CO2e / kWh", "kgCO2e/kWh", "1"),
        ("g CO2-eq/kg", "kgCO2e/kg", "0.001"),
    ],
)
def test_units_are_converted_by_exact_decimals(name: str, code: str, factor: str) -> None:
    assert unit_of(name) == (code, Decimal(factor))


@pytest.mark.parametrize("name", ["mWh", "mwh", "Mg", "MV", "Mohm", "MAh", "lb", "horses", "", "kg/m"])
def test_an_unknown_unit_is_refused(name: str) -> None:
    with pytest.raises(Refused) as refused:
        unit_of(name)

    assert refused.value.code == "UNKNOWN_UNIT"


def test_rows_of_a_bill_of_materials_are_materials_or_components() -> None:
    assert read("Material,Mass (g),Critical\nLithium,0.1,x\nSteel,2000,\n") == [
        ("material", "Lithium", {"name": "Lithium", "mass": 0.0001, "unit": "KGM", "is_critical": True}),
        ("material", "Steel", {"name": "Steel", "mass": 2, "unit": "KGM"}),
    ]
    assert read("part number\tname\tmass\tunit\n0815\tCell\t3\tkg\n") == [
        ("component", "0815", {"part_number": "0815", "name": "Cell", "mass": 3, "unit": "KGM"})
    ]


def test_rows_of_the_other_kinds_and_of_attributes() -> None:
    assert read("stage;value;unit\nraw material;1,5;g CO2e/kWh\n", "pcf") == [
        ("carbon_footprint", "raw material", {"stage": "raw material", "value": 0.0015, "unit": "kgCO2e/kWh"})
    ]
    assert read("title,url\nReport 2026,https://example.org\n", "dd") == [
        ("due_diligence", "Report 2026", {"title": "Report 2026", "url": "https://example.org"})
    ]
    assert read("attribute,value,unit\nperformance.rated_energy,500,Wh\ngeneral.model,X 1,\n", "dd") == [
        ("attribute", "performance.rated_energy", {"value": 0.5, "unit": "KWH"}),
        ("attribute", "general.model", {"value": "X 1"}),
    ]


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("SCHEMA_MISMATCH", "a,b\n1,2\n"),
        ("SCHEMA_MISMATCH", "name,material,mass\nx,y,1\n"),
        ("SCHEMA_MISMATCH", "name,mass,unit\n,1,kg\n"),
        ("SCHEMA_MISMATCH", "name,mass,unit,critical\nx,1,kg,perhaps\n"),
        ("SCHEMA_MISMATCH", 'name,mass\n"x'),
        ("SCHEMA_MISMATCH", "attribute;value;unit\ngeneral.battery_mass;450,5;kg\n"),
        ("UNKNOWN_UNIT", "name,mass\nx,1\n"),
        ("UNKNOWN_UNIT", "name,mass,unit\nx,1,kWh\n"),
        ("NOT_NFC", "name,mass,unit\ne\u0301,1,kg\n"),
        ("NUL_CHARACTER", "name,mass,unit\nab\0c,1,kg\n"),
        ("NUMBER_NOT_EXACT", "name,mass,unit\nx,0.12345678901234567891,kg\n"),
        ("NUMBER_NOT_EXACT", "name,mass,unit\nx,1.0000000000000000000000000000000001,g\n"),
    ],
)
def test_a_table_that_does_not_fit_is_refused_by_name(code: str, text: str) -> None:
    with pytest.raises(Refused) as refused:
        read(text)

    assert refused.value.code == code


def test_the_zeros_before_a_number_are_part_of_an_identifier() -> None:
    found = read("attribute,value\ngeneral.model,0815\ngeneral.mass,0.5\n")

    assert [payload for _, _, payload in found] == [{"value": "0815"}, {"value": 0.5}]


def test_a_head_of_any_length_is_read_in_linear_time() -> None:
    heads = ("a" + " " * 1_000_000 + "a", "(" * 1_000_000, "a" + "( " * 500_000)

    assert [meaning_of(head, {}) for head in heads] == [None, None, None]


def test_a_formula_is_only_text() -> None:
    assert read("name,mass,unit\n=cmd|' /C calc'!A0,1,kg\n")[0][1] == "=cmd|' /C calc'!A0"


def test_too_many_rows_are_refused() -> None:
    with pytest.raises(Refused, match="TOO_MANY_FACTS"):
        rows_of_csv(b"name\n" + b"x\n" * 20_001)


def test_too_many_cells_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tickwork.passports.sheets.MAX_CELLS", 5)

    with pytest.raises(Refused, match="TOO_MANY_FACTS"):
        rows_of_csv(b"a,b,c\n1,2,3\n")


def test_only_scripts_that_look_alike_are_reported() -> None:
    assert mixed_scripts(["Lithium", "Lіthium", "mΩ", "Литий", "リチウム Li", "Lіthium"]) == ["Lіthium"]
