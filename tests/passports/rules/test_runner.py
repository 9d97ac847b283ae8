"""Tests of rules: cases from a seed alone, failures kept and made small, mutants noticed."""

import hashlib
import json
from typing import Any

import pytest

from tests.passports.rules.small_rules import example, mass, material, small_rules, small_tests
from tickwork.passports.rules.cases import Case, UnreadableTests, read_tests
from tickwork.passports.rules.draws import Draw
from tickwork.passports.rules.rules import read_rules
from tickwork.passports.rules.runner import TooFewCases, distinct, fingerprint, run_tests
from tickwork.passports.rules.suite import Suite

RULES = read_rules(small_rules())


def cases_of(seed: int) -> list[Case]:
    return distinct(Suite(RULES, read_tests(small_tests()), seed))


def test_rules_pass_their_tests_and_every_mutant_is_noticed() -> None:
    loose = small_tests(examples=[*small_tests()["examples"], weightless()])

    run = run_tests(RULES, loose, 1)

    assert (run.status, run.passed_count, run.failed_count, run.first_failure) == ("passed", 603, 0, None)
    assert run.mutants == run.mutants_caught > 8


def weightless() -> dict[str, Any]:
    finding = [{"code": "CHECK_FAILED", "subject": "WEIGHTLESS"}]
    return example("weightless", mass(), material("air", 0), findings=finding)


def test_a_check_without_an_example_that_fails_is_noticed_by_nobody() -> None:
    run = run_tests(RULES, small_tests(), 1)

    assert run.mutants - run.mutants_caught == 1


def test_draws_are_the_same_on_every_python() -> None:
    draw = Draw(4711, 3)

    assert [draw.below(1000) for _ in range(8)] == GOLDEN_DRAWS
    assert Draw(-1, 0).word() == GOLDEN_WORD


def test_cases_are_the_same_on_every_python() -> None:
    inputs = hashlib.sha256(b"".join(fingerprint(case) for case in cases_of(4711))).hexdigest()

    assert inputs == GOLDEN_CASES
    assert len({fingerprint(case) for case in cases_of(4711)}) == len(cases_of(4711)) == 602


def test_another_seed_gives_other_cases() -> None:
    first, second = ({fingerprint(case) for case in cases_of(seed)} for seed in (1, 2))

    assert len(first - second) > 300


def test_every_kind_of_case_is_tried() -> None:
    kinds = {case.kind for case in cases_of(1)}

    assert kinds >= {"example", "valid", "permuted", "with_more", "crossed", "missing", "unit", "minimum", "maximum"}
    assert kinds >= {"enum", "missing facts", "missing mass", "minimum of mass"}


def test_the_first_failure_is_kept_and_made_small() -> None:
    """The example says that the materials may be heavier than the battery."""
    others = [material(f"m{number}", 0.001) for number in range(20)]
    wrong = example("wrong", *others, mass(1), material("steel", 1.5))

    run = run_tests(RULES, small_tests(examples=[*small_tests()["examples"], wrong]), 1)

    assert (run.status, run.failed_count, run.mutants) == ("failed", 1, 0)
    assert run.first_failure is not None
    assert run.first_failure["number"] == 2
    assert run.first_failure["problems"] == ["there is CHECK_FAILED of TOO_HEAVY"]
    assert len(run.first_failure["facts"]) == 22  # type: ignore[arg-type]
    shrunk = run.first_failure["shrunk"]
    assert [one["fact_key"] for one in shrunk] == ["general.mass", "steel"]  # type: ignore[index, union-attr, call-overload]
    assert json.dumps(run.first_failure)


def test_a_defect_of_the_evaluation_itself_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tickwork.passports.rules.evaluation.hold", lambda *_: None)

    run = run_tests(RULES, small_tests(), 1)

    assert run.first_failure is not None
    assert run.first_failure["problems"] == ["there is no CHECK_FAILED of TOO_HEAVY"]


def test_a_property_must_hold_for_cases_without_findings() -> None:
    properties = [{"name": "light", "check": "general.mass < 4000.0"}]

    run = run_tests(RULES, small_tests(properties=properties), 1)

    assert run.status == "failed"
    assert run.first_failure is not None
    assert run.first_failure["problems"] == ["property light does not hold"]


@pytest.mark.parametrize(
    "tests",
    [
        None,
        [],
        {"examples": [{"name": "x"}]},
        {"unknown": 1},
        {"properties": [{"name": "x", "check": "general.mass > 1"}]},
        {"properties": [{"name": "x", "check": "general.mass"}]},
        {"examples": [{**example("x"), "on": "tomorrow"}]},
        {"examples": [example("x", mass()), example("y", mass())]},
    ],
)
def test_what_are_no_tests_is_refused(tests: Any) -> None:
    with pytest.raises(UnreadableTests):
        run_tests(RULES, tests, 1)


def test_rules_that_say_nothing_have_too_few_cases() -> None:
    flag: dict[str, Any] = {"path": "a.b", "access": "public", "schema": {"type": "boolean"}}

    with pytest.raises(TooFewCases):
        run_tests(read_rules({"attributes": [flag]}), {}, 1)


GOLDEN_DRAWS = [409, 836, 598, 597, 959, 578, 424, 835]
GOLDEN_WORD = "w87bf5c4f"
GOLDEN_CASES = "dffe255072ffdf59c3de9f84620ba47857626471ad3ef129e85d7302f16c0071"
