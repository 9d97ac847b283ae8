"""Faulty inputs: for each rule, what must give its finding and no other."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from tickwork.passports.fact import Fact
from tickwork.passports.rules.bases import Base
from tickwork.passports.rules.cases import Pair
from tickwork.passports.rules.draws import invalid_values
from tickwork.passports.rules.rules import ATTRIBUTE, AttributeRule, Rules
from tickwork.passports.rules.schema import Schema

OTHER_UNIT = "XXX"
MISSING = "MISSING_ATTRIBUTE"


@dataclass(frozen=True)
class Fault:
    """What becomes of one fact of a type, or of all of them, in bases of these categories."""

    kind: str
    subject: str
    categories: tuple[str, ...]
    fact_type: str
    fact_key: str | None
    # The names that have no value then.
    names: frozenset[str]
    findings: frozenset[Pair]
    # None takes the facts away; otherwise members of the payload are set, or taken away by None.
    change: Mapping[str, Any] | None = None

    def applied(self, base: Base) -> tuple[Fact, ...]:
        hit = [
            (fact.fact_type, fact.fact_key)
            for fact in base.facts
            if fact.fact_type == self.fact_type and self.fact_key in (None, fact.fact_key)
        ]
        if self.change is None:
            return base.without(set(hit))
        payload = {**base.by_key[hit[0]].payload, **self.change}
        return base.with_payload({hit[0]: {name: value for name, value in payload.items() if value is not None}})


def faults_of(rules: Rules, bases: Mapping[str, Base]) -> Iterator[Fault]:
    for rule in rules.attributes:
        if rule.value is None:
            yield from faults_of_attribute(rule, bases)
    for fact_type, schema in rules.source.facts.items():
        for category, base in bases.items():
            if key := next((fact.fact_key for fact in base.facts if fact.fact_type == fact_type), None):
                yield from faults_of_facts(rules, fact_type, key, schema, base)
                yield all_missing(rules, fact_type, category, base)
                break


def faults_of_attribute(rule: AttributeRule, bases: Mapping[str, Base]) -> Iterator[Fault]:
    path = rule.source.path
    given = tuple(
        category
        for category, base in bases.items()
        if (ATTRIBUTE, path) in base.by_key and rule.duty(category, base.on) != "withheld"
    )
    if mandatory := tuple(category for category in given if rule.duty(category, bases[category].on) == "mandatory"):
        yield of_attribute("missing", path, mandatory, MISSING, None)
    if not given:
        return
    unit = OTHER_UNIT if rule.source.unit != OTHER_UNIT else "YYY"
    yield of_attribute("unit", path, given, "UNIT_MISMATCH", {"unit": unit})
    for kind, value in invalid_values(rule.source.form):
        yield of_attribute(kind, path, given, "VALUE_MISMATCH", {"value": value})


def of_attribute(kind: str, path: str, given: tuple[str, ...], code: str, change: Mapping[str, Any] | None) -> Fault:
    return Fault(kind, path, given, ATTRIBUTE, path, frozenset([path]), frozenset([(code, path)]), change)


def faults_of_facts(rules: Rules, fact_type: str, key: str, schema: Schema, base: Base) -> Iterator[Fault]:
    changes = [(f"missing {name}", {name: None}) for name in schema.required]
    changes += [
        (f"{kind} of {name}", {name: value})
        for name, member in schema.properties.items()
        for kind, value in invalid_values(member)
    ]
    names, finding = frozenset(rules.names_by_type[fact_type]), ("FACT_MISMATCH", f"{fact_type} {key}")
    for kind, change in changes:
        yield Fault(kind, fact_type, (base.category,), fact_type, key, names, frozenset([finding]), change)


def all_missing(rules: Rules, fact_type: str, category: str, base: Base) -> Fault:
    """Without facts there are no sums, though counts and lists."""
    sums = {name for name in rules.names_by_type[fact_type] if name.startswith("sum.")}
    missing = {
        (MISSING, rule.source.path)
        for rule in rules.attributes
        if rule.value is not None and rule.value.names & sums and rule.duty(category, base.on) == "mandatory"
    }
    names = frozenset(rules.names_by_type[fact_type])
    return Fault("missing facts", fact_type, (category,), fact_type, None, names, frozenset(missing))
