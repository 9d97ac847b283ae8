"""Runs the tests of rules: how many distinct cases passed, the first that failed, and how many mutants are noticed."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, Literal

from tickwork.passports.canonical import Json
from tickwork.passports.fact import Fact
from tickwork.passports.rules.cases import Case, TestsSource, UnreadableTests, judge, read_tests
from tickwork.passports.rules.evaluation import evaluate
from tickwork.passports.rules.expressions import TypeMismatch
from tickwork.passports.rules.mutants import MAX_MUTANTS, mutants_of
from tickwork.passports.rules.rules import CheckRule, Rules
from tickwork.passports.rules.source import CheckSource
from tickwork.passports.rules.suite import Suite

MIN_PASSED = 500
# For each mutant, besides the examples and the cases about the rule that it breaks.
OTHER_CASES = 10
MAX_FACTS_SHOWN = 200
PROPERTY = "property "


class TooFewCases(Exception):
    """The rules and their tests give fewer distinct cases than are needed."""


@dataclass(frozen=True)
class Run:
    status: Literal["passed", "failed"]
    total_cases: int
    passed_count: int
    failed_count: int
    first_failure: dict[str, Json] | None
    mutants: int
    mutants_caught: int


def run_tests(rules: Rules, tests_source: Json, seed: int) -> Run:
    """Raises UnreadableTests and TooFewCases."""
    tests = read_tests(tests_source)
    cases = distinct(Suite(rules, tests, seed))
    tested = with_properties(rules, tests)
    failures = [(case, problems) for case in cases if (problems := tried(tested, case))]
    passed = len(cases) - len(failures)
    if not failures and passed < MIN_PASSED:
        raise TooFewCases(f"there are {passed} distinct cases, {MIN_PASSED} are needed")
    mutants, caught = count_mutants(rules, cases) if not failures else (0, 0)
    first = described(tested, *failures[0]) if failures else None
    return Run("failed" if failures else "passed", len(cases), passed, len(failures), first, mutants, caught)


def with_properties(rules: Rules, tests: TestsSource) -> Rules:
    """Properties are checks of the tests' own."""
    found = []
    for each in tests.properties:
        try:
            expression = rules.of_checks.compile(each.check)
        except TypeMismatch as error:
            raise UnreadableTests(f"property {each.name}: {error}") from None
        if rules.of_checks.type_of(expression) != "boolean":
            raise UnreadableTests(f"property {each.name}: boolean is needed")
        source = CheckSource.model_construct(code=PROPERTY + each.name, words="it does not hold", severity="error")
        found.append(CheckRule(source, expression))
    return replace(rules, checks=(*rules.checks, *found))


def distinct(suite: Suite) -> list[Case]:
    """Identical inputs count once."""
    found: dict[bytes, Case] = {}
    for case in suite.cases():
        known = found.setdefault(fingerprint(case), case)
        if case.kind == "example" and known is not case:
            raise UnreadableTests(f"the examples {known.subject} and {case.subject} have the same facts")
        if len(found) >= suite.wanted:
            break
    return list(found.values())


def fingerprint(case: Case) -> bytes:
    facts = [[fact.fact_type, fact.fact_key, fact.schema_version, fact.payload] for fact in case.facts]
    return hashlib.sha256(json.dumps([case.category, str(case.on), facts], sort_keys=True).encode()).digest()


def tried(rules: Rules, case: Case) -> list[str]:
    """What is wrong, in words. Properties hold where there are no other findings."""
    found = evaluate(rules, case.facts, case.category, case.on)
    findings = tuple(finding for finding in found.findings if not finding.subject.startswith(PROPERTY))
    problems = judge(case, replace(found, findings=findings))
    if not findings:
        problems += [f"{finding.subject} does not hold" for finding in found.findings]
    return problems


def count_mutants(rules: Rules, cases: Sequence[Case]) -> tuple[int, int]:
    """How many were tried, and how many of them make a case fail."""
    examples = [case for case in cases if case.kind == "example"]
    others = [case for case in cases if case.kind != "example"][-OTHER_CASES:]
    by_subject: dict[str, list[Case]] = {}
    for case in cases:
        for subject in {case.subject, *(subject for _, subject in case.expected.findings)}:
            by_subject.setdefault(subject, []).append(case)
    tried_count = caught = 0
    for subject, mutant in islice(mutants_of(rules), MAX_MUTANTS):
        telling = (*by_subject.get(subject, ()), *examples, *others)
        tried_count += 1
        caught += any(tried(mutant, case) for case in telling)
    return tried_count, caught


def described(rules: Rules, case: Case, problems: list[str]) -> dict[str, Any]:
    smaller = shrunk(rules, case, problems[0])
    return {
        "number": case.number,
        "kind": case.kind,
        "subject": case.subject,
        "category": case.category,
        "on": case.on.isoformat(),
        "problems": problems[:20],
        "facts": as_json(case.facts),
        "shrunk": as_json(smaller.facts),
    }


def shrunk(rules: Rules, case: Case, problem: str) -> Case:
    """With as few facts as show the same problem: halves are left out first, then quarters, down to single ones."""
    size = len(case.facts) // 2
    while size:
        place = 0
        while place < len(case.facts):
            part = case.facts[place : place + size]
            # What the case is about stays: without it, nothing would be left to show.
            kept = tuple(fact for fact in part if case.subject in (fact.fact_type, fact.fact_key))
            smaller = replace(case, facts=case.facts[:place] + kept + case.facts[place + size :])
            if len(kept) < len(part) and problem in tried(rules, smaller):
                case = smaller
            else:
                place += size
        size //= 2
    return case


def as_json(facts: Sequence[Fact]) -> list[Any]:
    return [
        {
            "fact_type": fact.fact_type,
            "fact_key": fact.fact_key,
            "schema_version": fact.schema_version,
            "payload": fact.payload,
        }
        for fact in facts[:MAX_FACTS_SHOWN]
    ]
