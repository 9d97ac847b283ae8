"""Broken variants of steps and waits: see test_mutants."""

from tests.database import test_waits
from tests.runtime import test_steps
from tests.world.mutant import Mutant

MUTANTS = [
    Mutant(
        "anybody may store steps",
        "tickwork.tenant_of_held_job",
        "if tenant_id is null then",
        "if false then",
        test_waits.test_steps_are_for_who_holds_the_job,
    ),
    Mutant(
        "a step that is stored counts as new",
        "tickwork.store_held_step",
        "return stored;",
        "stored.is_new := true; return stored;",
        test_steps.test_a_commit_whose_response_is_lost_writes_once,
    ),
    Mutant(
        "an event before the release is forgotten",
        "tickwork.file_again",
        "perform tickwork.note_arrived_earlier(queued);",
        "",
        test_waits.test_an_event_between_the_wait_and_the_release_is_not_lost,
    ),
    Mutant(
        "an event of a locked job is forgotten",
        "tickwork.take_arrivals",
        "continue when not found and not arrival.is_lost;",
        "",
        test_waits.test_a_job_that_somebody_has_locked_is_woken_later,
    ),
    Mutant(
        "whoever rings waits for whoever cancels",
        "tickwork.take_arrivals",
        "for no key update skip locked",
        "for no key update",
        test_waits.test_a_job_that_somebody_has_locked_is_woken_later,
    ),
    Mutant(
        "an event cuts a backoff short",
        "tickwork.end_wait",
        "if tickwork.is_waiting(job, wait) then",
        "if (job).run_at > clock_timestamp() then",
        test_steps.test_an_expected_event_does_not_cut_a_backoff_short,
    ),
    Mutant(
        "late events count",
        "tickwork.note_arrivals",
        "and waits.ends_at > clock_timestamp()",
        "",
        test_steps.test_an_event_after_the_time_is_over_does_not_count,
    ),
    Mutant(
        "the time of a wait begins again",
        "tickwork.open_held_wait",
        "condition = excluded.condition,",
        "condition = excluded.condition, ends_at = excluded.ends_at,",
        test_steps.test_the_time_of_a_wait_runs_from_the_first_attempt_on,
    ),
    Mutant(
        "events of other tenants count",
        "tickwork.note_arrivals",
        "where waits.tenant_id = (event).tenant_id",
        "where true",
        test_steps.test_an_event_wakes_the_job_that_waits_for_it_without_an_attempt,
    ),
    Mutant(
        "secrets of steps are in errors",
        "tickwork.shown_step",
        "values ((job).id, (job).tenant_id)",
        "select (job).id, (job).tenant_id where false",
        test_steps.test_secrets_in_steps_are_shown_to_nobody,
    ),
    Mutant(
        "strangers list steps",
        "tickwork.list_steps",
        "and tickwork.may_act_for(jobs.tenant_id)",
        "",
        test_waits.test_members_list_the_steps_of_their_own_jobs_only,
    ),
    Mutant(
        "steps stay when their job goes",
        "tickwork.forget_jobs",
        "delete from tickwork.steps where steps.job_id = any (ids);",
        "",
        test_steps.test_the_steps_go_with_the_job,
    ),
]
