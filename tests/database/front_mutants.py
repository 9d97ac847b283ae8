"""Broken variants of the SQL that knows where waiting jobs begin, each with the test that must turn red on it."""

from tests.database import test_fronts as fronts
from tests.world.mutant import Mutant

STEPS = fronts.test_a_claim_steps_over_nothing_that_was_there_before
FIRST = fronts.test_a_front_is_at_the_first_job_of_all
OLD = fronts.test_an_old_job_is_found_at_once_whichever_way_it_comes

MUTANTS = [
    Mutant(
        "a claim of one that steps over all that was there",
        "tickwork.settle_and_claim",
        "and waiting.run_at >= look.front",
        "",
        STEPS,
        (1,),
    ),
    Mutant(
        "a claim of many that steps over all that was there",
        "tickwork.pick_targets",
        "and waiting.run_at >= picked.front",
        "",
        STEPS,
        (5,),
    ),
    Mutant(
        "turns that step over all that was there",
        "tickwork.next_turns",
        "and waiting.run_at >= next_turns.front",
        "",
        STEPS,
        (5,),
    ),
    Mutant(
        "a front that no claim moves",
        "tickwork.is_time_to_move",
        "<",
        ">",
        fronts.test_claims_move_the_front_now_and_then,
        (1,),
    ),
    Mutant(
        "a front that passes what is about to come",
        "tickwork.move_front",
        "- interval '2 seconds'",
        "+ interval '2 seconds'",
        fronts.test_a_front_stays_behind_jobs_that_are_being_enqueued,
    ),
    Mutant(
        "a front that passes a lower priority",
        "tickwork.move_front",
        "and waiting.priority < heads.priority",
        "and false",
        FIRST,
    ),
    Mutant(
        "a front that passes another tenant",
        "tickwork.move_front",
        "and waiting.tenant_number > heads.tenant_number",
        "and false",
        FIRST,
    ),
    Mutant(
        "a front that passes another type",
        "tickwork.move_front",
        "and waiting.type > heads.type",
        "and false",
        FIRST,
    ),
    Mutant(
        "a front among more tenants than were looked at",
        "tickwork.move_front",
        "when steps < move_front.max_steps",
        "when true",
        fronts.test_a_front_among_many_tenants_hides_nothing,
        (10,),
    ),
    Mutant(
        "a hidden job that nobody finds",
        "tickwork.maintain",
        "perform tickwork.move_front(family, '-infinity', 1000);",
        "",
        fronts.test_a_job_that_comes_in_while_others_move_the_front_is_found_by_maintain,
    ),
    Mutant(
        "an old job that is hidden: enqueued",
        "tickwork.store_new_jobs",
        "if first_at is not null",
        "if false",
        OLD,
        (fronts.none, fronts.enqueue),
    ),
    Mutant(
        "an old job that is hidden: queued again",
        "tickwork.file_jobs",
        "tickwork.lower_front(filed.family,",
        "tickwork.lower_front('',",
        OLD,
        (fronts.running, fronts.fail),
    ),
    Mutant(
        "an old job that is hidden: parked",
        "tickwork.wake_parked",
        "tickwork.lower_front(wake_parked.family,",
        "tickwork.lower_front('',",
        OLD,
        (fronts.parked, fronts.wake_late),
    ),
    Mutant(
        "an old job that is hidden: in a lane",
        "tickwork.fill_lane",
        "tickwork.lower_front(fill_lane.family,",
        "tickwork.lower_front('',",
        OLD,
        (fronts.held, fronts.release),
    ),
]
