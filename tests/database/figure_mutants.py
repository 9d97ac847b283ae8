"""Broken variants of figures and alerts, for test_mutants.py."""

from tests.database import test_alerts, test_figures
from tests.world import World
from tests.world.mutant import Mutant


def flapping(world: World) -> None:
    test_alerts.test_a_value_that_flaps_opens_nothing_and_closes_nothing(test_alerts.Alarm(world))


def told_once(world: World) -> None:
    test_alerts.test_the_tenant_of_the_platform_hears_of_each_alert_once(test_alerts.Alarm(world))


MUTANTS = [
    Mutant(
        "a horizon that others have not reached",
        "tickwork.move_horizon",
        "pg_snapshot_xmin(taken.snapshot) >= known.next_xid",
        "true",
        test_figures.test_a_job_that_is_committed_late_is_neither_lost_nor_counted_twice,
    ),
    Mutant(
        "purged jobs that nobody counts",
        "tickwork.count_early",
        "from tickwork.happenings(uncounted)",
        "from tickwork.happenings(uncounted) where false",
        test_figures.test_what_is_purged_stays_counted,
        (False,),
    ),
    Mutant(
        "purged jobs that are counted again",
        "tickwork.count_early",
        "where not seen.is_seen or open.job_id is not null",
        "",
        test_figures.test_what_is_purged_stays_counted,
        (False,),
    ),
    Mutant(
        "a job that is retried and not looked at again",
        "tickwork.count_early",
        "on conflict (job_id) do update",
        "where false on conflict (job_id) do update",
        test_figures.test_a_job_that_is_retried_by_hand_is_counted_at_each_end,
        (True, True),
    ),
    Mutant(
        "open jobs that are counted again and again",
        "tickwork.note_counted",
        "where state.finished_at is not null",
        "where false",
        test_figures.test_a_job_is_counted_once_as_enqueued_and_once_when_it_ends,
        ("done", True),
    ),
    Mutant("an alert without hysteresis", "tickwork.judge_alert", "(rule).closes_at", "(rule).threshold", flapping),
    Mutant("an alert at once", "tickwork.judge_alert", "make_interval(secs => (rule).for_seconds)", "'0'", flapping),
    Mutant(
        "an alert that is told all the time",
        "tickwork.judge_alert",
        "if turns and since",
        "perform tickwork.tell_platform('alert.opened', alerts) from public.alerts; if turns and since",
        told_once,
    ),
]
