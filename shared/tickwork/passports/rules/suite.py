"""All cases of a seed: the examples, one faulty input per rule, and inputs that must change nothing."""

from collections.abc import Callable, Iterator
from datetime import date, timedelta
from functools import cached_property

from tickwork.passports.fact import Fact
from tickwork.passports.rules.bases import CATEGORIES, Base, bases_of, payload_of
from tickwork.passports.rules.cases import Case, Expected, Pair, TestsSource, case_of, sources_of
from tickwork.passports.rules.draws import Draw
from tickwork.passports.rules.faults import Fault, faults_of
from tickwork.passports.rules.rules import ATTRIBUTE, Rules

MIN_CASES = 600
MIN_FREE_CASES = 350
# Rules with few values repeat themselves; of very large ones, not every fault is tried.
MAX_CASES = 5000
MAX_CHANGES = 8
# Few, so that rules which say nothing do not have many cases.
UNKNOWN = 4


class Suite:
    def __init__(self, rules: Rules, tests: TestsSource, seed: int) -> None:
        self.rules = rules
        self._tests = tests
        self._seed = seed
        self._bases = bases_of(rules, tests)

    def cases(self) -> Iterator[Case]:
        """Each is made from the seed and its number alone."""
        for number, example in enumerate(self._tests.examples):
            yield case_of(number, example)
        for number in range(MAX_CASES):
            yield self._case(number)

    @property
    def wanted(self) -> int:
        """How many distinct cases are enough: all faults, and many others."""
        return len(self._tests.examples) + max(MIN_CASES, len(self._faults) + MIN_FREE_CASES)

    def _case(self, number: int) -> Case:
        draw = Draw(self._seed, number)
        place = len(self._tests.examples) + number
        if number < len(self._faults):
            return self._faulty(place, self._faults[number], draw)
        return draw.one_of(self._makers)(place, draw)

    @cached_property
    def _faults(self) -> list[Fault]:
        return list(faults_of(self.rules, self._bases))

    @cached_property
    def _makers(self) -> list[Callable[[int, Draw], Case]]:
        return [self._valid, self._valid, self._valid, self._permuted, self._with_more, self._crossed]

    def _faulty(self, number: int, fault: Fault, draw: Draw) -> Case:
        base = self._bases[draw.one_of(fault.categories)]
        concerned = self._concerned(fault.names)
        expected = Expected(
            fault.findings | (base.pairs - concerned),
            allowed=self._of_presence | (concerned if fault.kind == "missing facts" else base.pairs & concerned),
            absent=fault.names & self._paths,
        )
        return Case(number, fault.kind, fault.subject, base.category, base.on, fault.applied(base), expected)

    def _valid(self, number: int, draw: Draw) -> Case:
        base = self._bases[draw.one_of(CATEGORIES)]
        given = [rule for rule in self.rules.attributes if (ATTRIBUTE, rule.source.path) in base.by_key]
        given = [rule for rule in given if rule.value is None and rule.duty(base.category, base.on) != "withheld"]
        chosen = draw.shuffled(given)[: 1 + draw.below(MAX_CHANGES)]
        payloads = {rule.source.path: payload_of(rule, draw) for rule in chosen}
        concerned = self._concerned(frozenset(payloads))
        expected = Expected(
            base.pairs - concerned,
            allowed=concerned,
            values={path: payload["value"] for path, payload in payloads.items()},
        )
        facts = base.with_payload({(ATTRIBUTE, path): payload for path, payload in payloads.items()})
        return Case(number, "valid", ", ".join(sorted(payloads)), base.category, base.on, facts, expected)

    def _permuted(self, number: int, draw: Draw) -> Case:
        base = self._bases[draw.one_of(CATEGORIES)]
        facts = tuple(draw.shuffled(base.facts))
        return Case(number, "permuted", "", base.category, base.on, facts, self._same(base))

    def _with_more(self, number: int, draw: Draw) -> Case:
        """Facts that no rule reads change nothing."""
        base = self._bases[draw.one_of(CATEGORIES)]
        more = [
            Fact(f"unknown_{draw.below(UNKNOWN)}", "one", "1", {"value": 1}),
            Fact(ATTRIBUTE, f"unknown.path_{draw.below(UNKNOWN)}", "1", {"value": "one"}),
        ]
        place = draw.below(len(base.facts) + 1)
        facts = (*base.facts[:place], *more, *base.facts[place:])
        return Case(number, "with_more", "", base.category, base.on, facts, self._same(base))

    def _crossed(self, number: int, draw: Draw) -> Case:
        """The facts of one category, on another day and for another category."""
        base, category = self._bases[draw.one_of(CATEGORIES)], draw.one_of(CATEGORIES)
        on = draw.one_of(self._days) + timedelta(days=draw.below(3) - 1)
        facts = tuple(draw.shuffled(base.facts))
        required, absent, values = set(), set(), {}
        computed = {("MISSING_ATTRIBUTE", path) for path in self._computed}
        for rule in self.rules.attributes:
            path, duty = rule.source.path, rule.duty(category, on)
            fact = base.by_key.get((ATTRIBUTE, path)) if rule.value is None else None
            if duty == "withheld":
                absent.add(path)
            elif fact is not None:
                values[path] = fact.payload["value"]
            elif duty == "mandatory" and rule.value is None:
                required.add(("MISSING_ATTRIBUTE", path))
        allowed = self._concerned(frozenset(self._paths)) | computed
        expected = Expected(frozenset(required), allowed, values, frozenset(absent))
        return Case(number, "crossed", base.category, category, on, facts, expected)

    def _same(self, base: Base) -> Expected:
        values = {attribute.path: attribute.value for attribute in base.found.attributes}
        absent = self._paths - values.keys()
        return Expected(base.pairs, frozenset(), values, absent, sources_of(base.facts, base.found))

    def _concerned(self, names: frozenset[str]) -> frozenset[Pair]:
        """The findings that may change with these names: of checks and computed values that read them."""
        computed = {path for path, used in self._computed.items() if used & names}
        reach = names | computed
        checks = {("CHECK_FAILED", rule.source.code) for rule in self.rules.checks if rule.check.names & reach}
        return frozenset(checks | {("VALUE_MISMATCH", path) for path in computed}) | self._of_presence

    @cached_property
    def _of_presence(self) -> frozenset[Pair]:
        checks = (rule for rule in self.rules.checks if "given" in rule.check.names)
        return frozenset(("CHECK_FAILED", rule.source.code) for rule in checks)

    @cached_property
    def _computed(self) -> dict[str, frozenset[str]]:
        return {rule.source.path: rule.value.names for rule in self.rules.attributes if rule.value is not None}

    @cached_property
    def _paths(self) -> frozenset[str]:
        return frozenset(rule.source.path for rule in self.rules.attributes)

    @cached_property
    def _days(self) -> list[date]:
        """Those on which a duty begins, and those of the bases."""
        begins = {each.since for rule in self.rules.attributes for each in rule.source.duty if each.since is not None}
        return sorted(begins | {base.on for base in self._bases.values()})
