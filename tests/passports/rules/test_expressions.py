"""Expressions: typed when they are read, bounded when they are computed, exact where people compare sums."""

from typing import Any

import pytest

from tickwork.passports.rules.expressions import Language, OverBudget, TypeMismatch, close, rounded

LANGUAGE = Language({"a.number": "number", "a.text": "string", "facts.part": "facts", "count.part": "count"})
VALUES = {"a.number": 1.5, "a.text": "x", "count.part": 2}


def value_of(text: str, **values: Any) -> object:
    expression = LANGUAGE.compile(text)
    given = {**VALUES, **{name.replace("__", "."): value for name, value in values.items()}}
    return LANGUAGE.evaluate(expression, {name: given[name] for name in expression.names})


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("a.number * 2.0", 3),
        ("a . number > 1.0", True),
        ("rounded(0.1 + 0.2, 10)", 0.3),
        ("close(0.1 + 0.2, 0.3, 10)", True),
        ("0.1 + 0.2 == 0.3", False),
        ("count.part", 2),
        ("a.text + 'a.number'", "xa.number"),
        ("{'b': [1, null], 'a': 2.0}", {"a": 2, "b": [1, None]}),
        ("-0.0", 0),
    ],
)
def test_values_are_those_of_json(text: str, value: object) -> None:
    assert value_of(text) == value


@pytest.mark.parametrize(
    "text",
    [
        "a.number > 1",
        "a.text > 1.0",
        "unknown",
        "rounded(1, 2)",
        "a.number +",
        "now()",
        "(" * 300,
        "x" * 5000,
        "'é' * 2",
    ],
)
def test_a_wrong_type_is_found_when_the_expression_is_read(text: str) -> None:
    with pytest.raises(TypeMismatch):
        LANGUAGE.compile(text)


@pytest.mark.parametrize(
    "text",
    [
        "1 / 0 == 1",
        "9223372036854775807 + 1 > 0",
        "9007199254740993",
        "1.0 / 0.0",
        "b'abc'",
        "timestamp('2027-01-01T00:00:00Z')",
        "rounded(a.number, 16)",
        "rounded(a.number, -1)",
        "a.text.matches('(')",
        "{1: 2}",
    ],
)
def test_what_is_no_value_of_json_is_refused_by_name(text: str) -> None:
    with pytest.raises(TypeMismatch):
        value_of(text)


def test_an_error_beside_or_is_absorbed_on_either_side() -> None:
    assert value_of("1 / 0 == 1 || true") is True
    assert value_of("true || 1 / 0 == 1") is True


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("facts.part.all(p, p.mass > 0.0)", 10_000),
        ("facts.part.all(p, facts.part.all(q, q.mass > 0.0))", 200),
        ("facts.part.map(p, facts.part.map(q, facts.part.map(r, r.mass)))", 30),
    ],
)
def test_loops_end(text: str, size: int) -> None:
    with pytest.raises(OverBudget):
        value_of(text, facts__part=[{"mass": 1.0}] * size)


def test_regular_expressions_take_linear_time() -> None:
    expression = LANGUAGE.compile("a.text.matches('(a+)+$')")

    assert LANGUAGE.evaluate(expression, {"a.text": "a" * 100_000 + "b"}) is False


def test_names_in_strings_are_not_read() -> None:
    assert LANGUAGE.compile("a.text + 'a.number' + \"count.part\"").names == {"a.text"}


def test_what_an_expression_does_not_name_it_cannot_read() -> None:
    with pytest.raises(TypeMismatch):
        LANGUAGE.evaluate(LANGUAGE.compile("a.number > 1.0"), {})


@pytest.mark.parametrize(
    ("left", "right", "digits", "is_close"),
    [(1.005, 1.0, 2, True), (1.0051, 1.0, 2, False), (1e308, -1e308, 0, False), (0.1, 0.1, 15, True)],
)
def test_close_means_half_a_unit_of_the_last_digit(left: float, right: float, digits: int, is_close: bool) -> None:
    assert close(left, right, digits) is is_close


@pytest.mark.parametrize(
    ("number", "digits", "expected"), [(2.675, 2, 2.68), (2.5, 0, 2.0), (-0.5, 0, 0.0), (1e300, 2, 1e300)]
)
def test_numbers_are_rounded_as_they_are_written(number: float, digits: int, expected: float) -> None:
    assert rounded(number, digits) == expected
