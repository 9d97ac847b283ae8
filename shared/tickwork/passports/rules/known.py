"""What is known from facts before any rule is evaluated: variables, where each comes from, and what is wrong."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from itertools import groupby
from typing import Any

from tickwork.passports.canonical import Json
from tickwork.passports.fact import Fact
from tickwork.passports.rules.expressions import EXACT, as_doubles, exact
from tickwork.passports.rules.results import Finding
from tickwork.passports.rules.rules import ATTRIBUTE, AttributeRule, Rules
from tickwork.passports.rules.source import Duty


@dataclass
class Known:
    """By name, the values for expressions and the positions of their facts; `broken` names have faulty ones."""

    values: dict[str, Any] = field(default_factory=dict)
    sources: dict[str, tuple[int, ...]] = field(default_factory=dict)
    given: dict[str, Json] = field(default_factory=dict)
    broken: set[str] = field(default_factory=set)
    findings: list[Finding] = field(default_factory=list)

    def report(self, code: str, subject: str, message: str, broken: Sequence[str] = ()) -> None:
        self.findings.append(Finding(code, subject, message, "error"))
        self.broken.update(broken)


def know(rules: Rules, facts: Sequence[Fact], duties: Mapping[str, Duty]) -> Known:
    known = Known()
    open_rules = {
        rule.source.path: rule
        for rule in rules.attributes
        if rule.value is None and duties[rule.source.path] != "withheld"
    }
    groups: dict[str, list[int]] = {fact_type: [] for fact_type in rules.source.facts}
    for fact_type, key, positions in by_key(facts):
        if fact_type == ATTRIBUTE and key in open_rules:
            know_attribute(known, open_rules[key], facts, positions)
        elif fact_type in groups and is_sound(known, rules, facts, positions):
            groups[fact_type].append(positions[0])
    for fact_type, found in groups.items():
        know_facts(known, rules, fact_type, [facts[position] for position in found], tuple(sorted(found)))
    return known


def by_key(facts: Sequence[Fact]) -> Iterator[tuple[str, str, list[int]]]:
    """In an order that does not depend on that of the facts."""

    def place(position: int) -> tuple[str, str]:
        return facts[position].fact_type, facts[position].fact_key

    for (fact_type, key), positions in groupby(sorted(range(len(facts)), key=place), key=place):
        yield fact_type, key, list(positions)


def know_attribute(known: Known, rule: AttributeRule, facts: Sequence[Fact], positions: list[int]) -> None:
    path = rule.source.path
    if len(positions) > 1:
        known.report("FACT_CONFLICT", path, "there are several facts for it", [path])
        return
    payload = facts[positions[0]].payload
    value, unit = payload.get("value"), payload.get("unit")
    if unit != rule.source.unit:
        known.report("UNIT_MISMATCH", path, f"the unit must be {rule.source.unit or 'left out'}, not {unit}", [path])
    elif (problem := rule.source.form.problem(value)) is not None:
        known.report("VALUE_MISMATCH", path, problem, [path])
    else:
        known.given[path] = value
        known.values[path] = as_doubles(value)
        known.sources[path] = (positions[0],)


def is_sound(known: Known, rules: Rules, facts: Sequence[Fact], positions: list[int]) -> bool:
    fact = facts[positions[0]]
    names = rules.names_by_type[fact.fact_type]
    if len(positions) > 1:
        known.report("FACT_CONFLICT", f"{fact.fact_type} {fact.fact_key}", "there are several facts for it", names)
    elif (problem := rules.source.facts[fact.fact_type].problem(fact.payload)) is not None:
        known.report("FACT_MISMATCH", f"{fact.fact_type} {fact.fact_key}", problem, names)
    else:
        return True
    return False


def know_facts(known: Known, rules: Rules, fact_type: str, facts: list[Fact], positions: tuple[int, ...]) -> None:
    for name in rules.names_by_type[fact_type]:
        match name.split("."):
            case ["facts", _]:
                known.values[name] = [as_doubles(fact.payload) for fact in facts]
            case ["count", _]:
                known.values[name] = len(facts)
            case ["sum", _, member]:
                numbers = [fact.payload[member] for fact in facts if member in fact.payload]
                if numbers:
                    known.values[name] = float(total(numbers))
        known.sources[name] = positions


def total(numbers: Sequence[Any]) -> Decimal:
    """Exact, as people add the written numbers."""
    found = Decimal(0)
    for number in numbers:
        found = EXACT.add(found, exact(number))
    return found
