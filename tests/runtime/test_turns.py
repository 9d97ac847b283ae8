"""Whose turn it is, family by family."""

from tickwork.runtime.turns import Turns


def test_families_take_turns() -> None:
    turns = Turns(["extract", "classify", "webhook"])
    served = []

    for _ in range(6):
        turn = turns.begin(1)
        assert turn is not None
        served.append(turn[0])
        turns.end_claim(*turn, claimed=1)
        turns.end({turn[0]: 1})

    assert served == ["extract", "classify", "webhook"] * 2


def test_a_family_whose_jobs_take_long_gets_no_more_than_its_share() -> None:
    turns = Turns(["slow", "quick"], room=8)

    assert turns.begin(8) == ("slow", 4)
    assert turns.begin(4) == ("quick", 4)

    # The quick ones end, again and again; the slow ones do not.
    for _ in range(20):
        turns.end({"quick": 1})
        assert turns.begin(1) == ("quick", 1)


def test_a_family_alone_with_due_jobs_gets_all_the_room() -> None:
    turns = Turns(["extract", "classify"], room=8)
    assert turns.begin(8) == ("extract", 4)
    turns.end_claim("extract", 4, 1)

    assert turns.begin(7) == ("classify", 7)


def test_a_family_without_due_jobs_is_left_alone_until_it_is_announced() -> None:
    turns = Turns(["extract", "classify"])
    assert turns.begin(1) == ("extract", 1)
    turns.end_claim("extract", 1, 0)

    assert [turns.begin(1), turns.begin(1)] == [("classify", 1), ("classify", 1)]
    turns.announce("extract", "unknown")
    assert turns.begin(1) == ("extract", 1)


def test_nobodys_turn_is_begun_only_to_settle() -> None:
    turns = Turns(["extract"])
    turns.rest()

    assert not turns.is_anybodys()
    assert turns.begin(1) is None
    assert turns.begin_with("extract", 1) == ("extract", 1)


def test_who_got_all_it_wanted_may_have_more() -> None:
    turns = Turns(["extract"])
    turns.rest()

    turns.end_claim(*turns.begin_with("extract", 2), claimed=2)

    assert turns.is_anybodys()


def test_a_job_that_is_announced_while_a_claim_is_under_way_is_looked_for_again() -> None:
    turns = Turns(["extract"])
    assert turns.begin(1) == ("extract", 1)
    turns.announce("extract")
    turns.end_claim("extract", 1, 0)

    assert turns.begin(1) == ("extract", 1)
