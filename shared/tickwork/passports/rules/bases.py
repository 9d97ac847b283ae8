"""Facts from which cases are made: an example of each category, or values of the schemas."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from typing import cast, get_args

from tickwork.passports.canonical import Json
from tickwork.passports.fact import Fact
from tickwork.passports.rules.cases import ExampleSource, Pair, TestsSource, case_of, pairs_of
from tickwork.passports.rules.draws import Draw, valid_value
from tickwork.passports.rules.evaluation import evaluate
from tickwork.passports.rules.results import Category, Evaluation
from tickwork.passports.rules.rules import ATTRIBUTE, AttributeRule, Rules

CATEGORIES: tuple[str, ...] = get_args(Category)
# After every duty of today's law has begun.
USUAL_DAY = date(2034, 1, 1)


@dataclass(frozen=True)
class Base:
    """`found` is what the rules give for the facts."""

    category: str
    on: date
    facts: tuple[Fact, ...]
    found: Evaluation

    @cached_property
    def pairs(self) -> frozenset[Pair]:
        return pairs_of(self.found)

    @cached_property
    def by_key(self) -> dict[Pair, Fact]:
        return {(fact.fact_type, fact.fact_key): fact for fact in self.facts}

    def with_payload(self, changed: dict[Pair, dict[str, Json]]) -> tuple[Fact, ...]:
        return tuple(
            Fact(one.fact_type, one.fact_key, one.schema_version, changed[key])
            if (key := (one.fact_type, one.fact_key)) in changed
            else one
            for one in self.facts
        )

    def without(self, keys: set[Pair]) -> tuple[Fact, ...]:
        return tuple(one for one in self.facts if (one.fact_type, one.fact_key) not in keys)


def bases_of(rules: Rules, tests: TestsSource) -> dict[str, Base]:
    """By category, the first example without findings."""
    examples = {one.category: one for one in reversed(tests.examples) if not one.findings}
    return {category: base_of(rules, category, examples.get(cast(Category, category))) for category in CATEGORIES}


def base_of(rules: Rules, category: str, example: ExampleSource | None) -> Base:
    if example is not None:
        on, facts = example.on, case_of(0, example).facts
    else:
        on, facts = USUAL_DAY, facts_of(rules, category)
    return Base(category, on, facts, evaluate(rules, facts, category, on))


def facts_of(rules: Rules, category: str) -> tuple[Fact, ...]:
    draw = Draw(0, CATEGORIES.index(category))
    given = [rule for rule in rules.attributes if rule.value is None and rule.duty(category, USUAL_DAY) != "withheld"]
    attributes = [Fact(ATTRIBUTE, rule.source.path, "1", payload_of(rule, draw)) for rule in given]
    others = [
        Fact(fact_type, f"{fact_type} {number}", "1", cast("Mapping[str, Json]", valid_value(schema, draw)))
        for fact_type, schema in rules.source.facts.items()
        for number in range(2)
    ]
    return (*attributes, *others)


def payload_of(rule: AttributeRule, draw: Draw) -> dict[str, Json]:
    unit = {} if rule.source.unit is None else {"unit": rule.source.unit}
    return {"value": valid_value(rule.source.form, draw), **unit}
