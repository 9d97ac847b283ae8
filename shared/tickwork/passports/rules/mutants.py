"""Rules with one deliberate error each, to find out whether their tests would notice."""

import re
from collections.abc import Iterator
from dataclasses import replace

from tickwork.passports.rules.expressions import STRINGS, TypeMismatch
from tickwork.passports.rules.rules import AttributeRule, CheckRule, Rules

MAX_MUTANTS = 1000
FLIPPED = {"<=": ">", ">=": "<", "<": ">=", ">": "<=", "==": "!=", "!=": "=="}
COMPARISON = re.compile(r"<=|>=|==|!=|<|>")


def mutants_of(rules: Rules) -> Iterator[tuple[str, Rules]]:
    """Each with the path or the code of the rule that it breaks."""
    for place, check in enumerate(rules.checks):
        others = rules.checks[:place], rules.checks[place + 1 :]
        yield check.source.code, replace(rules, checks=(*others[0], *others[1]))
        if (flipped := with_flipped_comparison(rules, check)) is not None:
            yield check.source.code, replace(rules, checks=(*others[0], flipped, *others[1]))
    for place, rule in enumerate(rules.attributes):
        for broken in broken_attributes(rule):
            attributes = (*rules.attributes[:place], broken, *rules.attributes[place + 1 :])
            yield rule.source.path, replace(rules, attributes=attributes)


def with_flipped_comparison(rules: Rules, check: CheckRule) -> CheckRule | None:
    """The first comparison that stands in no string."""
    text = check.source.check
    bare = STRINGS.sub(lambda found: " " * len(found[0]), text)
    if (found := COMPARISON.search(bare)) is None:
        return None
    flipped = text[: found.start()] + FLIPPED[found[0]] + text[found.end() :]
    try:
        return replace(check, check=rules.of_checks.compile(flipped))
    except TypeMismatch:
        return None


def broken_attributes(rule: AttributeRule) -> Iterator[AttributeRule]:
    """Nothing is mandatory any more, or a bound or an enum is gone."""
    source = rule.source
    if any(each.duty == "mandatory" for each in source.duty):
        yield AttributeRule(source.model_copy(update={"duty": ()}), rule.value)
    for name in ("minimum", "maximum", "enum", "format"):
        if getattr(source.form, name) is not None and rule.value is None:
            form = source.form.model_copy(update={name: None})
            yield AttributeRule(source.model_copy(update={"form": form}), rule.value)
