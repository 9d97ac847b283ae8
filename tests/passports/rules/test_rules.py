"""Reading rules: what is wrong is found before any fact is, and named."""

import json
from typing import Any

import pytest

from tests.passports.rules.small_rules import small_rules
from tickwork.passports.canonical import hash_of
from tickwork.passports.rules.rules import RulesRefused, read_rules


def refused(source: Any) -> set[tuple[str, str]]:
    with pytest.raises(RulesRefused) as raised:
        read_rules(source)
    return {(finding.code, finding.subject) for finding in raised.value.findings}


def attribute(path: str = "a.b", **more: Any) -> dict[str, Any]:
    return {"path": path, "access": "public", "schema": {"type": "number"}, **more}


def test_the_hash_is_that_of_the_canonical_source() -> None:
    source = small_rules()
    other_order = json.loads(json.dumps(source, sort_keys=True))

    assert read_rules(source).hash == hash_of({"type": "BPC-RULES-1", "rules": source})
    assert read_rules(other_order).hash == read_rules(source).hash


def test_type_errors_are_found_at_reading() -> None:
    found = refused(
        {
            "attributes": [attribute(), attribute("a.c", value="'text'")],
            "checks": [
                {"code": "INT", "check": "a.b > 1", "words": "x"},
                {"code": "NO_BOOL", "check": "a.b", "words": "x"},
                {"code": "UNKNOWN", "check": "a.d > 1.0", "words": "x"},
            ],
        }
    )

    assert found == {("RULE_TYPE_ERROR", subject) for subject in ("a.c", "INT", "NO_BOOL", "UNKNOWN")}


@pytest.mark.parametrize(
    ("attributes", "subject"),
    [
        ([attribute(), attribute()], "a.b"),
        ([attribute(), attribute("a.b.c")], "a.b.c"),
        ([attribute("sum.b")], "sum.b"),
        ([attribute(duty=[{"duty": "mandatory", "categories": ["ev", "ev"]}])], "a.b"),
        ([attribute("a")], "attributes.0.path"),
        ([attribute(access="secret")], "attributes.0.access"),
        ([attribute(more=1)], "attributes.0.more"),
        ([attribute(schema={"type": "string", "minimum": 1})], "attributes.0.schema"),
        ([attribute(schema={"type": "number", "minimum": 2, "maximum": 1})], "attributes.0.schema"),
        ([attribute(schema={"type": "string", "pattern": "(a+)+"})], "attributes.0.schema.pattern"),
        ([attribute(duty=[{"duty": "mandatory", "categories": ["car"]}])], "attributes.0.duty.0.categories.0"),
    ],
)
def test_contradictions_are_named(attributes: list[Any], subject: str) -> None:
    assert ("RULES_INVALID", subject) in refused({"attributes": attributes})


@pytest.mark.parametrize(
    "source", [None, [], {"attributes": [], "facts": {"attribute": {"type": "object"}}}, {"a": 2**60}]
)
def test_what_are_no_rules_is_refused(source: Any) -> None:
    assert {code for code, _ in refused(source)} == {"RULES_INVALID"}


def test_limits() -> None:
    many = [attribute(f"a.b{number}") for number in range(2001)]
    checks = [{"code": f"C{number}", "check": "true", "words": "x"} for number in range(501)]
    long = [{"code": "LONG", "check": "true" + " && true" * 600, "words": "x"}]

    assert refused({"attributes": many}) == {("RULES_INVALID", "attributes")}
    assert refused({"attributes": [], "checks": checks}) == {("RULES_INVALID", "checks")}
    assert refused({"attributes": [], "checks": long}) == {("RULE_TYPE_ERROR", "LONG")}
    assert refused({"attributes": [], "title": "x" * 600_000}) == {("RULES_TOO_LARGE", "rules")}
