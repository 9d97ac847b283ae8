"""The rules that every tenant has pass their tests, and the migration holds exactly these."""

from pathlib import Path

from make_rules import NAME, SEED, migration
from tickwork.passports.rules.default import default_rules, default_tests
from tickwork.passports.rules.rules import read_rules
from tickwork.passports.rules.runner import run_tests

MIGRATIONS = Path(__file__).parents[3] / "supabase/migrations"


def test_they_pass_with_another_seed_too() -> None:
    run = run_tests(read_rules(default_rules()), default_tests(), SEED + 1)

    assert (run.status, run.first_failure) == ("passed", None)
    assert run.mutants == run.mutants_caught > 200


def test_the_migration_holds_these_rules_and_what_their_tests_gave() -> None:
    assert (MIGRATIONS / NAME).read_text() == migration()


def test_every_category_has_its_duties() -> None:
    rules = read_rules(default_rules())
    day = max(each.since for rule in rules.attributes for each in rule.source.duty if each.since)
    counts = {
        category: [list(rules.duties(category, day).values()).count(duty) for duty in ("mandatory", "withheld")]
        for category in ("ev", "lmt", "industrial", "stationary")
    }

    assert counts == {"ev": [69, 2], "lmt": [65, 3], "industrial": [80, 3], "stationary": [78, 3]}
