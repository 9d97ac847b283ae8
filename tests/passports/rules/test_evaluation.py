"""Evaluation: attributes with their sources, findings that name what is wrong once, the same in any order."""

from datetime import date
from itertools import permutations
from typing import Any

import pytest

from tests.passports.rules.small_rules import DAY, mass, material, small_rules
from tickwork.passports.fact import Fact
from tickwork.passports.rules import evaluation
from tickwork.passports.rules.cases import sources_of
from tickwork.passports.rules.evaluation import Attribute, Evaluation, evaluate
from tickwork.passports.rules.rules import Rules, read_rules

RULES = read_rules(small_rules())
STEEL, COPPER = material("steel", 0.1), material("copper", 0.2)


def found(*facts: Fact, rules: Rules = RULES, category: str = "ev", on: date = DAY) -> Evaluation:
    return evaluate(rules, facts, category, on)


def pairs(evaluation: Evaluation) -> list[tuple[str, str]]:
    return [(finding.code, finding.subject) for finding in evaluation.findings]


def rules_with(check: str, **more: Any) -> Rules:
    return read_rules(small_rules(checks=[{"code": "CHECK", "check": check, "words": "x", **more}]))


def test_attributes_come_with_unit_access_rule_and_sources() -> None:
    evaluation = found(STEEL, mass(), COPPER)

    assert evaluation.findings == ()
    assert evaluation.attributes == (
        Attribute("general.mass", 400, "KGM", "public", "fact:general.mass", (1,)),
        Attribute("materials.mass", 0.3, "KGM", "public", "value:materials.mass", (0, 2)),
    )


def test_the_order_of_facts_changes_nothing_but_positions() -> None:
    facts = (STEEL, mass(), COPPER, material("air", 0))
    first = found(*facts)
    named = sources_of(facts, first)

    assert pairs(first) == [("CHECK_FAILED", "WEIGHTLESS")]
    for order in permutations(facts):
        other = found(*order)
        assert other.findings == first.findings
        assert sources_of(order, other) == named
        assert [attribute.value for attribute in other.attributes] == [one.value for one in first.attributes]


@pytest.mark.parametrize(
    ("facts", "finding"),
    [
        ((STEEL,), ("MISSING_ATTRIBUTE", "general.mass")),
        ((mass(),), ("MISSING_ATTRIBUTE", "materials.mass")),
        ((mass(unit="GRM"), STEEL), ("UNIT_MISMATCH", "general.mass")),
        ((mass(0), STEEL), ("VALUE_MISMATCH", "general.mass")),
        ((mass("400"), STEEL), ("VALUE_MISMATCH", "general.mass")),
        ((mass(True), STEEL), ("VALUE_MISMATCH", "general.mass")),
        ((mass(None), STEEL), ("VALUE_MISMATCH", "general.mass")),
        ((mass(), mass(500), STEEL), ("FACT_CONFLICT", "general.mass")),
        ((mass(), STEEL, material("steel", 2)), ("FACT_CONFLICT", "material steel")),
        ((mass(), material("steel", -1)), ("FACT_MISMATCH", "material steel")),
        ((mass(), Fact("material", "steel", "1", {"name": "steel"})), ("FACT_MISMATCH", "material steel")),
        ((mass(1), material("steel", 2)), ("CHECK_FAILED", "TOO_HEAVY")),
    ],
)
def test_what_is_wrong_is_reported_once(facts: tuple[Fact, ...], finding: tuple[str, str]) -> None:
    assert pairs(found(*facts)) == [finding]


def test_a_check_may_be_a_warning() -> None:
    (finding,) = found(mass(), STEEL, material("air", 0)).findings

    assert (finding.message, finding.severity) == ("A material weighs nothing", "warning")


def test_a_duty_begins_on_its_day_and_for_its_categories() -> None:
    assert pairs(found(on=date(2027, 2, 17))) == []
    assert len(found(on=date(2027, 2, 18)).findings) == 2
    assert pairs(found(category="industrial")) == []


def test_what_is_withheld_is_left_out() -> None:
    assert [attribute.path for attribute in found(mass(), STEEL, category="lmt").attributes] == ["general.mass"]


def test_facts_that_no_rule_reads_change_nothing() -> None:
    more = Fact("attribute", "unknown.path", "1", {"value": 1}), Fact("unknown", "x", "1", {})

    assert found(mass(), STEEL, *more) == found(mass(), STEEL)


def test_an_unknown_category_is_refused() -> None:
    with pytest.raises(ValueError, match="car"):
        found(mass(), category="car")


@pytest.mark.parametrize(
    ("check", "code"),
    [
        ("1.0 / 0.0 > 0.0 && 1 / 0 == 1", "RULE_TYPE_ERROR"),
        ("facts.material.all(m, m.name > 1.0)", "RULE_TYPE_ERROR"),
        ("facts.material.all(m, m.unknown > 1.0)", "RULE_TYPE_ERROR"),
        ("general.mass < 0.0", "CHECK_FAILED"),
    ],
)
def test_an_expression_that_fails_is_a_finding(check: str, code: str) -> None:
    assert pairs(found(mass(), STEEL, rules=rules_with(check))) == [(code, "CHECK")]


@pytest.mark.parametrize(
    ("value", "code"),
    [
        ("double(1 / 0)", "RULE_TYPE_ERROR"),
        ("double(size(facts.material.map(m, m.name + m.name)))", "RULE_BUDGET"),
    ],
)
def test_an_attribute_that_cannot_be_computed_is_a_finding(value: str, code: str) -> None:
    source = small_rules(checks=[])
    computed = next(each for each in source["attributes"] if each["path"] == "materials.mass")
    computed["value"] = value

    evaluation = found(mass(), material("x" * 60_000, 1), rules=read_rules(source))

    assert pairs(evaluation) == [(code, "materials.mass")]


def test_long_lists_are_refused_in_loops_but_not_in_sums() -> None:
    many = [material(f"m{number}", 0.01) for number in range(9001)]

    evaluation = found(mass(), *many)

    assert pairs(evaluation) == [("RULE_BUDGET", "WEIGHTLESS")]
    assert evaluation.attributes[1].value == 90.01


def test_facts_that_an_expression_is_given_count_as_steps_without_a_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(evaluation, "MAX_STEPS", 2_000)
    check = "size(facts.material) > 0"
    checks = [{"code": f"C{number}", "check": check, "words": "x"} for number in range(10, 35)]
    materials = [material(f"m{number}", 0) for number in range(100)]

    over = found(mass(), *materials, rules=read_rules(small_rules(checks=checks)))

    assert pairs(over) == [("RULE_BUDGET", f"C{number}") for number in range(29, 35)]


def test_the_steps_of_all_rules_together_are_bounded() -> None:
    nested = "facts.material.all(m, facts.material.all(n, n.mass > 0.0))"
    checks = [{"code": f"C{number}", "check": nested, "words": "x"} for number in range(30)]
    rules = read_rules(small_rules(checks=checks))

    assert pairs(found(mass(), STEEL, rules=rules)) == [("RULE_BUDGET", f"C{number}") for number in range(19, 30)]


@pytest.mark.parametrize("macro", ["map(", "map //\n ("])
def test_a_loop_copies_no_long_text(macro: str) -> None:
    """Thousands of copies of 60 kB would be half a gigabyte."""
    rules = rules_with(f"size(facts.material.{macro}m, m.name + m.name)) > 0")

    assert pairs(found(mass(), material("x" * 60_000, 1), rules=rules)) == [("RULE_BUDGET", "CHECK")]
    assert pairs(found(mass(), material("x" * 1_000, 1), rules=rules)) == []


def test_presence_can_be_asked_for() -> None:
    rules = rules_with("!('general.status' in given) || 'general.mass' in given")
    status = Fact("attribute", "general.status", "1", {"value": "reused"})

    assert pairs(found(status, rules=rules, on=date(2026, 1, 1))) == [("CHECK_FAILED", "CHECK")]
    assert pairs(found(status, mass(), rules=rules, on=date(2026, 1, 1))) == []


def test_a_value_too_large_is_over_the_budget() -> None:
    text: dict[str, Any] = {"path": "general.text", "access": "public", "schema": {"type": "string"}}
    twice = {**text, "path": "general.twice", "value": "general.text + general.text"}
    rules = read_rules({"attributes": [text, twice]})
    fact = Fact("attribute", "general.text", "1", {"value": "x" * 40_000})

    assert pairs(found(fact, rules=rules)) == [("RULE_BUDGET", "general.twice")]


def test_sums_are_those_of_the_written_numbers() -> None:
    assert pairs(found(mass(), STEEL, COPPER, rules=rules_with("sum.material.mass == 0.3"))) == []


def test_lists_are_in_the_order_of_their_keys_and_conflicts_are_found_anywhere() -> None:
    names = {"path": "materials.names", "access": "public", "schema": {"type": "array"}}
    rules = read_rules(small_rules(attributes=[{**names, "value": "facts.material.map(m, m.name)"}], checks=[]))

    assert found(STEEL, COPPER, rules=rules).attributes[0].value == ["copper", "steel"]
    assert pairs(found(STEEL, COPPER, material("steel", 2), rules=rules)) == [("FACT_CONFLICT", "material steel")]
