"""Cases for rules: facts, and what the rules must give for them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any, TypeAlias

from pydantic import Field, ValidationError

from tickwork.passports.canonical import Json
from tickwork.passports.fact import Fact
from tickwork.passports.rules.results import Category, Evaluation
from tickwork.passports.rules.source import Strict

Pair: TypeAlias = tuple[str, str]
MAX_EXAMPLES = 1000


class FactSource(Strict):
    fact_type: str
    fact_key: str
    schema_version: str = "1"
    payload: dict[str, Any]


class FindingSource(Strict):
    code: str
    subject: str


class ExampleSource(Strict):
    """`findings` are all of them, `attributes` those that the example is about."""

    name: str = Field(min_length=1, max_length=200)
    category: Category
    on: date = Field(strict=False)
    facts: tuple[FactSource, ...] = Field(max_length=20_000, strict=False)
    attributes: dict[str, Any] = Field(default_factory=dict)
    findings: tuple[FindingSource, ...] = Field(default=(), strict=False)


class PropertySource(Strict):
    """What must hold for every case without findings: an expression as in checks."""

    name: str = Field(min_length=1, max_length=200)
    check: str


class TestsSource(Strict):
    __test__ = False

    examples: tuple[ExampleSource, ...] = Field(default=(), max_length=MAX_EXAMPLES, strict=False)
    properties: tuple[PropertySource, ...] = Field(default=(), max_length=100, strict=False)


class UnreadableTests(Exception):
    """The tests are no such document."""


@dataclass(frozen=True)
class Expected:
    """Findings that must be there, others that may be, values, paths without one, and where values come from."""

    findings: frozenset[Pair] = frozenset()
    allowed: frozenset[Pair] = frozenset()
    values: Mapping[str, Json] = field(default_factory=dict)
    absent: frozenset[str] = frozenset()
    sources: Mapping[str, frozenset[Pair]] | None = None


@dataclass(frozen=True)
class Case:
    number: int
    kind: str
    subject: str
    category: str
    on: date
    facts: tuple[Fact, ...]
    expected: Expected


def read_tests(source: Json) -> TestsSource:
    """Raises UnreadableTests."""
    try:
        return TestsSource.model_validate(source)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        raise UnreadableTests(f"{'.'.join(map(str, first['loc'])) or 'tests'}: {first['msg']}") from None


def case_of(number: int, example: ExampleSource) -> Case:
    facts = tuple(Fact(one.fact_type, one.fact_key, one.schema_version, one.payload) for one in example.facts)
    expected = Expected(frozenset((one.code, one.subject) for one in example.findings), values=example.attributes)
    return Case(number, "example", example.name, example.category, example.on, facts, expected)


def judge(case: Case, found: Evaluation) -> list[str]:
    """What is wrong, in words; empty if the case has passed."""
    expected, pairs = case.expected, pairs_of(found)
    values = {attribute.path: attribute.value for attribute in found.attributes}
    problems = [f"there is no {code} of {subject}" for code, subject in sorted(expected.findings - pairs)]
    unexpected = pairs - expected.findings - expected.allowed
    problems += [f"there is {code} of {subject}" for code, subject in sorted(unexpected)]
    for path, value in sorted(expected.values.items()):
        if path not in values or values[path] != value:
            problems.append(f"{path} is {values.get(path)!r}, not {value!r}"[:500])
    problems += [f"{path} has a value" for path in sorted(expected.absent & values.keys())]
    if expected.sources is not None and sources_of(case.facts, found) != expected.sources:
        problems.append("values come from other facts")
    return problems


def pairs_of(found: Evaluation) -> frozenset[Pair]:
    return frozenset((finding.code, finding.subject) for finding in found.findings)


def sources_of(facts: Sequence[Fact], found: Evaluation) -> dict[str, frozenset[Pair]]:
    """By path, the facts by type and key, so that their order does not matter."""
    return {
        attribute.path: frozenset((facts[at].fact_type, facts[at].fact_key) for at in attribute.sources)
        for attribute in found.attributes
    }
