"""A small storm over a cluster of its own; `make chaos` has the large ones."""

from tickwork_chaos.plan import plan_of
from tickwork_chaos.sizes import FULL, SMALL
from tickwork_chaos.storm import Weather, run_storm


def test_a_storm_loses_nothing_and_doubles_nothing() -> None:
    figures = run_storm(Weather("small storm", SMALL, seed=1))

    assert figures.violations == [], figures.line()
    assert figures.statuses["done"] > SMALL.jobs / 2
    assert figures.faults["crash"] == SMALL.crash


def test_a_seed_repeats_its_plan_and_another_one_has_another() -> None:
    assert plan_of(1, FULL) == plan_of(1, FULL)
    assert plan_of(1, FULL) != plan_of(2, FULL)


def test_a_full_plan_has_all_that_is_asked_for() -> None:
    kinds = [fault.kind for fault in plan_of(1, FULL)]

    assert {kind: kinds.count(kind) for kind in set(kinds)} == {
        "kill": 200,
        "freeze": 100,
        "terminate": 500,
        "crash": 20,
        "cut": 500,
        "standby": 3,
        "promote": 3,
    }
