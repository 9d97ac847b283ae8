"""From facts to the attributes of a passport: pure, bounded, and the same for the same facts in any order."""

import json
from collections.abc import Mapping, Sequence
from datetime import date
from typing import get_args

from tickwork.passports.canonical import Json
from tickwork.passports.fact import Fact
from tickwork.passports.rules.expressions import Expression, Language, OverBudget, TypeMismatch, as_doubles
from tickwork.passports.rules.known import Known, know
from tickwork.passports.rules.results import Access as Access
from tickwork.passports.rules.results import Attribute as Attribute
from tickwork.passports.rules.results import Category as Category
from tickwork.passports.rules.results import Evaluation as Evaluation
from tickwork.passports.rules.results import Finding as Finding
from tickwork.passports.rules.results import Severity as Severity
from tickwork.passports.rules.rules import AttributeRule, CheckRule, Rules
from tickwork.passports.rules.source import Duty

MAX_STEPS = 200_000
MAX_STEPS_OF_ONE = 10_000
# In one expression: CEL itself stops after 9,999.
MAX_FACTS = 9_000
MAX_LITERALS = 1_000
MAX_VALUE_SIZE = 65536
# Characters that one expression may copy; most copies are not made, so it takes far less memory.
MAX_COPIED = 500_000_000


class Budget:
    """Steps are counted before they are taken, so that none takes longer than it may."""

    def __init__(self) -> None:
        self._left = MAX_STEPS
        self._longest: dict[str, int] = {}

    def take(self, expression: Expression, known: Known) -> None:
        facts = sum(len(known.values[name]) for name in expression.names if name.startswith("facts."))
        match expression.loops:
            case 0:
                # All of them are handed over, whatever is read of them.
                self._left -= 1 + facts
            case 1:
                if facts > MAX_FACTS:
                    raise OverBudget(f"the expression goes through more than {MAX_FACTS} facts: use count or sum")
                self._left -= MAX_LITERALS + facts
            case _:
                self._left -= MAX_STEPS_OF_ONE + facts
        if self._left < 0:
            raise OverBudget(f"the rules take more than {MAX_STEPS} steps")
        if expression.loops:
            self._check_texts(expression, known)

    def _check_texts(self, expression: Expression, known: Known) -> None:
        """Each turn of a loop may copy the longest text with every operator."""
        for name in expression.names - self._longest.keys():
            self._longest[name] = longest_text(known.values[name])
        longest = max([len(expression.text), *(self._longest[name] for name in expression.names)])
        operators = 1 + sum(map(expression.text.count, "+(,"))
        if MAX_STEPS_OF_ONE * operators * longest > MAX_COPIED:
            raise OverBudget(f"the expression goes through a list with a text of {longest} characters")


def longest_text(value: object) -> int:
    match value:
        case str():
            return len(value)
        case dict():
            return max(map(longest_text, (*value, *value.values())), default=0)
        case list() | tuple():
            return max(map(longest_text, value), default=0)
    return 0


def evaluate(rules: Rules, facts: Sequence[Fact], category: str, on: date) -> Evaluation:
    """Findings with the severity error mean that there is no passport."""
    if category not in get_args(Category):
        raise ValueError(f"there is no category {category}")
    duties, budget = rules.duties(category, on), Budget()
    known = know(rules, facts, duties)
    known.values |= {"category": category, "on": on.isoformat()}
    wanted = [rule for rule in rules.attributes if duties[rule.source.path] != "withheld"]
    found = [attribute_of(rules.of_values, rule, known, budget) for rule in wanted]
    attributes = [attribute for attribute in found if attribute is not None]
    report_missing(rules, known, duties)
    known.values["given"] = sorted(known.given)
    for check in rules.checks:
        hold(rules.of_checks, check, known, budget)
    return Evaluation(
        tuple(sorted(attributes, key=lambda attribute: attribute.path)),
        tuple(sorted(known.findings, key=lambda finding: (finding.code, finding.subject, finding.message))),
    )


def attribute_of(language: Language, rule: AttributeRule, known: Known, budget: Budget) -> Attribute | None:
    """None where a fact is missing, where it is faulty, and where the expression cannot be computed."""
    source = rule.source
    names = frozenset([source.path]) if rule.value is None else rule.value.names
    if rule.value is not None and names <= known.values.keys() and not names & known.broken:
        compute(language, rule, rule.value, known, budget)
    if source.path not in known.given:
        return None
    positions = sorted({position for name in names for position in known.sources.get(name, ())})
    kind = "fact" if rule.value is None else "value"
    return Attribute(
        source.path, known.given[source.path], source.unit, source.access, f"{kind}:{source.path}", tuple(positions)
    )


def compute(language: Language, rule: AttributeRule, value: Expression, known: Known, budget: Budget) -> None:
    path = rule.source.path
    try:
        budget.take(value, known)
        found = language.evaluate(value, {name: known.values[name] for name in value.names})
    except TypeMismatch as error:
        known.report("RULE_TYPE_ERROR", path, str(error), [path])
        return
    except OverBudget as error:
        known.report("RULE_BUDGET", path, str(error), [path])
        return
    if found is None:
        return
    if (problem := problem_of(rule, found)) is not None:
        known.report(*problem, [path])
    else:
        known.given[path] = found
        known.values[path] = as_doubles(found)


def problem_of(rule: AttributeRule, found: Json) -> tuple[str, str, str] | None:
    path = rule.source.path
    if not isinstance(found, int | float) and len(json.dumps(found)) > MAX_VALUE_SIZE:
        return "RULE_BUDGET", path, f"the value is larger than {MAX_VALUE_SIZE} bytes"
    problem = rule.source.form.problem(found)
    return None if problem is None else ("VALUE_MISMATCH", path, problem)


def report_missing(rules: Rules, known: Known, duties: Mapping[str, Duty]) -> None:
    """Once: what is computed from something missing or faulty is not reported again."""
    missing = {
        rule.source.path: rule.value.names if rule.value is not None else frozenset()
        for rule in rules.attributes
        if rule.source.path not in known.given
        and rule.source.path not in known.broken
        and duties[rule.source.path] == "mandatory"
    }
    for path, names in missing.items():
        if not names & (known.broken | missing.keys()):
            known.report("MISSING_ATTRIBUTE", path, "no fact gives it, and it is mandatory")


def hold(language: Language, rule: CheckRule, known: Known, budget: Budget) -> None:
    """A check of a value that is missing or faulty does not apply: that is reported by itself."""
    names = rule.check.names
    if not names <= known.values.keys() or names & known.broken:
        return
    code = rule.source.code
    try:
        budget.take(rule.check, known)
        holds = language.evaluate(rule.check, {name: known.values[name] for name in names})
    except TypeMismatch as error:
        known.report("RULE_TYPE_ERROR", code, str(error))
    except OverBudget as error:
        known.report("RULE_BUDGET", code, str(error))
    else:
        if holds is not True:
            known.findings.append(Finding("CHECK_FAILED", code, rule.source.words, rule.source.severity))
