"""Rules that were read: every expression compiled and of the right type, so that evaluation cannot meet a surprise."""

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from itertools import pairwise

import rfc8785
from pydantic import ValidationError

from tickwork.passports.canonical import Json, canonical
from tickwork.passports.rules.expressions import Expression, Kind, Language, TypeMismatch
from tickwork.passports.rules.results import Finding
from tickwork.passports.rules.source import AttributeSource, CheckSource, Duty, RulesSource

MAX_SIZE = 512 * 1024
ALWAYS = date.min
# Whose payload is an attribute's value and unit: its schema is that of the attribute.
ATTRIBUTE = "attribute"
RESERVED = ("facts", "count", "sum", "given", "category", "on")


class RulesRefused(Exception):
    """What is wrong with the rules: RULES_INVALID, RULES_TOO_LARGE or RULE_TYPE_ERROR, each with its place."""

    def __init__(self, findings: tuple[Finding, ...]) -> None:
        super().__init__("; ".join(f"{finding.subject}: {finding.message}" for finding in findings[:5]))
        self.findings = findings


@dataclass(frozen=True)
class AttributeRule:
    source: AttributeSource
    value: Expression | None

    @cached_property
    def duties(self) -> Mapping[str, list[tuple[date, Duty]]]:
        """By category, the latest first."""
        found: dict[str, list[tuple[date, Duty]]] = {}
        for each in self.source.duty:
            for category in each.categories:
                found.setdefault(category, []).append((each.since or ALWAYS, each.duty))
        return {category: sorted(duties, reverse=True) for category, duties in found.items()}

    def duty(self, category: str, on: date) -> Duty:
        return next((duty for since, duty in self.duties.get(category, ()) if since <= on), "optional")


@dataclass(frozen=True)
class CheckRule:
    source: CheckSource
    check: Expression


@dataclass(frozen=True)
class Rules:
    source: RulesSource
    hash: bytes
    attributes: tuple[AttributeRule, ...]
    checks: tuple[CheckRule, ...]
    # Of values, which read facts, and of checks, which read values too.
    of_values: Language
    of_checks: Language

    @cached_property
    def used(self) -> frozenset[str]:
        """The names that expressions read."""
        of_values = (rule.value.names for rule in self.attributes if rule.value is not None)
        return frozenset().union(*of_values, *(rule.check.names for rule in self.checks))

    @cached_property
    def names_by_type(self) -> Mapping[str, list[str]]:
        """By fact type, the names of its lists, counts and sums that expressions read."""
        of_facts = sorted(name for name in self.used if name.startswith(("facts.", "count.", "sum.")))
        return {each: [name for name in of_facts if name.split(".")[1] == each] for each in self.source.facts}

    def duties(self, category: str, on: date) -> dict[str, Duty]:
        return {rule.source.path: rule.duty(category, on) for rule in self.attributes}


def read_rules(source: Json) -> Rules:
    """Raises RulesRefused."""
    size, digest = hash_of_rules(source)
    if size > MAX_SIZE:
        raise refused("RULES_TOO_LARGE", "rules", f"they have {size} bytes, {MAX_SIZE} are the limit")
    try:
        read = RulesSource.model_validate(source)
    except ValidationError as error:
        raise RulesRefused(tuple(findings_of(error))) from None
    if findings := tuple(contradictions(read)):
        raise RulesRefused(findings)
    return compiled(read, digest)


def hash_of_rules(source: Json) -> tuple[int, bytes]:
    try:
        document = canonical({"type": "BPC-RULES-1", "rules": source})
    except (rfc8785.CanonicalizationError, RecursionError) as error:
        raise refused("RULES_INVALID", "rules", f"not a JSON document: {error}") from None
    return len(document), hashlib.sha256(document).digest()


def refused(code: str, subject: str, message: str) -> RulesRefused:
    return RulesRefused((Finding(code, subject, message, "error"),))


def findings_of(error: ValidationError) -> Iterator[Finding]:
    for each in error.errors(include_url=False, include_input=False)[:100]:
        yield Finding("RULES_INVALID", ".".join(map(str, each["loc"])) or "rules", each["msg"], "error")


def contradictions(read: RulesSource) -> Iterator[Finding]:
    paths = sorted(attribute.path for attribute in read.attributes)
    for first, second in pairwise(paths):
        if first == second:
            yield Finding("RULES_INVALID", first, "there are two attributes with this path", "error")
    known = set(paths)
    for path in paths:
        parts = path.split(".")
        if parts[0] in RESERVED:
            yield Finding("RULES_INVALID", path, f"a path cannot begin with {parts[0]}", "error")
        if any(".".join(parts[:end]) in known for end in range(2, len(parts))):
            yield Finding("RULES_INVALID", path, "the beginning of this path is an attribute itself", "error")
    for attribute in read.attributes:
        begins = [(category, each.since) for each in attribute.duty for category in each.categories]
        if len(begins) != len(set(begins)):
            yield Finding("RULES_INVALID", attribute.path, "two duties of a category begin on the same day", "error")
    codes = [check.code for check in read.checks]
    for code in sorted({code for code in codes if codes.count(code) > 1}):
        yield Finding("RULES_INVALID", code, "there are two checks with this code", "error")
    if ATTRIBUTE in read.facts:
        yield Finding("RULES_INVALID", ATTRIBUTE, "its schema is that of each attribute", "error")


def compiled(read: RulesSource, digest: bytes) -> Rules:
    of_facts = variables_of_facts(read)
    given = {each.path: each.form.kind for each in read.attributes if each.value is None}
    every = {each.path: each.form.kind for each in read.attributes}
    of_values, of_checks = Language({**of_facts, **given}), Language({**of_facts, **every, "given": "names"})
    findings: list[Finding] = []
    attributes, checks = [], []
    for attribute in read.attributes:
        kind = attribute.form.kind
        value = (
            None
            if attribute.value is None
            else compile_one(of_values, attribute.value, attribute.path, {kind, "any"}, findings)
        )
        attributes.append(AttributeRule(attribute, value))
    for check in read.checks:
        if (expression := compile_one(of_checks, check.check, check.code, {"boolean"}, findings)) is not None:
            checks.append(CheckRule(check, expression))
    if findings:
        raise RulesRefused(tuple(findings))
    return Rules(read, digest, tuple(attributes), tuple(checks), of_values, of_checks)


def variables_of_facts(read: RulesSource) -> dict[str, Kind]:
    found: dict[str, Kind] = {"category": "string", "on": "string"}
    for fact_type, schema in read.facts.items():
        found |= {f"facts.{fact_type}": "facts", f"count.{fact_type}": "count"}
        found |= {
            f"sum.{fact_type}.{name}": "number" for name, one in schema.properties.items() if one.kind == "number"
        }
    return found


def compile_one(
    language: Language, text: str, subject: str, wanted: set[str], findings: list[Finding]
) -> Expression | None:
    try:
        expression = language.compile(text)
    except TypeMismatch as error:
        findings.append(Finding("RULE_TYPE_ERROR", subject, str(error), "error"))
        return None
    if (found := language.type_of(expression)) not in wanted:
        message = f"the expression gives {found}, {min(wanted - {'any'})} is needed"
        findings.append(Finding("RULE_TYPE_ERROR", subject, message, "error"))
        return None
    return expression
