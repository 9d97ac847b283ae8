"""Whose turn it is, family by family."""

from tickwork.runtime.turns import Turns


def test_families_take_turns() -> None:
    turns = Turns(["extract", "classify", "webhook"])
    served = []

    for _ in range(6):
        family = turns.begin()
        assert family is not None
        served.append(family)
        turns.end(family)

    assert served == ["extract", "classify", "webhook"] * 2


def test_a_family_whose_jobs_take_long_gets_no_more_than_its_share() -> None:
    turns = Turns(["slow", "quick"])
    running = [turns.begin() for _ in range(8)]

    # The quick ones end, again and again; the slow ones do not.
    for _ in range(20):
        turns.end("quick")
        running.append(turns.begin())

    assert running.count("slow") == 4


def test_a_family_without_due_jobs_is_left_alone_until_it_is_announced() -> None:
    turns = Turns(["extract", "classify"])
    assert turns.begin() == "extract"
    turns.end_without_job("extract")

    assert [turns.begin(), turns.begin()] == ["classify", "classify"]
    turns.announce("extract", "unknown")
    assert turns.begin() == "extract"


def test_nobodys_turn_is_begun_only_to_settle() -> None:
    turns = Turns(["extract"])
    turns.rest()

    assert not turns.is_anybodys()
    assert turns.begin() is None
    assert turns.begin_with("extract") == "extract"


def test_a_job_that_is_announced_while_a_claim_is_under_way_is_looked_for_again() -> None:
    turns = Turns(["extract"])
    assert turns.begin() == "extract"
    turns.announce("extract")
    turns.end_without_job("extract")

    assert turns.begin() == "extract"
