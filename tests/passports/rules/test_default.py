"""The rules that every tenant has pass their tests, and the migration holds exactly these."""

from datetime import date
from pathlib import Path

import pytest

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


# By the day from which they count: how many attributes are mandatory for ev, lmt, industrial and stationary batteries.
MANDATORY = {
    "2027-02-17": (0, 0, 0, 0),
    "2027-02-18": (66, 70, 61, 72),
    # Due diligence for everybody; carbon footprint classes for industrial batteries.
    "2027-08-18": (67, 71, 64, 75),
    # Recycled nickel, cobalt and lithium; carbon footprints of light means of transport, and their classes in 2030.
    "2028-08-18": (73, 73, 70, 81),
    "2030-02-18": (73, 75, 70, 81),
    "2033-08-18": (73, 81, 70, 81),
}


@pytest.mark.parametrize("day", MANDATORY)
def test_duties_begin_on_the_days_of_the_regulation(day: str) -> None:
    rules = read_rules(default_rules())

    duties = [rules.duties(each, date.fromisoformat(day)) for each in ("ev", "lmt", "industrial", "stationary")]

    assert tuple(list(each.values()).count("mandatory") for each in duties) == MANDATORY[day]
    assert [list(each.values()).count("withheld") for each in duties] == [2, 3, 3, 3]
