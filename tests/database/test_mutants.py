"""Each trap sprung once: a broken variant of the SQL, and the test that must turn red on it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from tests.crowd import claim_one_by_one
from tests.database import (
    test_claim,
    test_durability,
    test_effects,
    test_enqueue,
    test_lanes,
    test_lease,
    test_limits,
    test_limits_at_once,
    test_lines,
    test_max_queued,
    test_pauses,
    test_rates,
    test_settle,
    test_turns,
)
from tests.world import World


@dataclass(frozen=True)
class Mutant:
    """A defect and who notices it: `before` becomes `after` in the function, or `after` is run as it is."""

    trap: str
    function: str
    before: str
    after: str
    caught_by: Callable[..., None]
    arguments: tuple[Any, ...] = ()


FENCES = {
    "done": ("tickwork.settle_done", "jobs.lease_token = settle_done.tokens[array_position(settle_done.ids, jobs.id)]"),
    "undone": ("tickwork.settle_undone", "jobs.lease_token = outcome.lease_token"),
}
# Written so that no line of the suite is a copy of the SQL: just enough of it to be found.
MUTANTS = [
    Mutant(
        "C1 one job too many",
        "tickwork.start_jobs",
        "limit line.room",
        "limit line.room + 1",
        test_claim.test_a_claim_never_takes_more_than_it_was_asked_for_whatever_the_plan,
    ),
    Mutant(
        "C3 a claim waits for another",
        "tickwork.start_job",
        "for no key update skip locked",
        "for no key update",
        test_claim.test_a_claim_in_flight_hides_its_job_but_no_other,
    ),
    Mutant(
        "C4 locks what it does not take",
        "tickwork.start_jobs",
        "begin",
        "begin perform from public.jobs where jobs.status = 'queued' for update skip locked;",
        test_claim.test_a_claim_locks_only_what_it_takes,
    ),
    Mutant(
        "C6 the future blocks its lane",
        "tickwork.start_job",
        "and due.attempts < due.max_attempts",
        "and not exists (select from public.jobs as peer where peer.lane = due.lane and peer.id <> due.id)",
        test_claim.test_a_future_job_of_the_same_lane_and_key_blocks_nobody,
    ),
    Mutant(
        "C8 an expired job goes to the end of the queue",
        "tickwork.settle_undone",
        "when outcome.delay_seconds = 0",
        "when false",
        test_lease.test_an_expired_lease_goes_back_to_the_head_of_the_queue,
    ),
    Mutant(
        "C9 due only after its time",
        "tickwork.start_job",
        "due.run_at <= start_job.due_by",
        "due.run_at < now()",
        test_claim.test_a_job_is_due_from_its_very_run_at,
    ),
    Mutant(
        "C10 a poison row stays for ever",
        "tickwork.reap",
        "and jobs.attempts >= jobs.max_attempts",
        "and false",
        test_claim.test_a_job_out_of_attempts_in_the_queue_is_dead_and_stops_nobody,
    ),
    Mutant(
        "C11 giving back spends the attempt",
        "tickwork.settle_undone",
        "(outcome.status = 'released' and jobs.cancel_requested_at is null)::integer",
        "0",
        test_settle.test_a_released_job_spends_no_attempt_and_keeps_its_place,
    ),
    Mutant(
        "C12 a claim blocks its children",
        "tickwork.start_job",
        "for no key update skip locked",
        "for update skip locked",
        test_claim.test_a_child_row_can_be_written_while_the_job_is_claimed,
    ),
    Mutant(
        "C13 a policy for reading only",
        "",
        "",
        "drop policy the_queue_keeps_jobs on jobs; "
        "create policy p on jobs for select to tickwork_owner using (true); "
        "create policy q on jobs for insert to tickwork_owner with check (true)",
        test_claim.test_every_role_that_may_claim_gets_a_job,
        ("tickwork_worker",),
    ),
    *(
        Mutant(
            f"L1 {verb} by status only",
            *FENCES["done" if verb == "complete" else "undone"],
            "true",
            test_lease.test_a_stale_token_changes_nothing_and_raises,
            (verb,),
        )
        for verb in ("complete", "fail", "release")
    ),
    Mutant(
        "L1 heartbeat by status only",
        "tickwork.heartbeat_jobs",
        ".lease_token = beat",
        ".lease_token <> beat",
        test_lease.test_a_stale_token_changes_nothing_and_raises,
        ("heartbeat",),
    ),
    Mutant(
        "L2 the reaper waits for the one who completes",
        "tickwork.reap",
        "for no key update of jobs skip locked",
        "for no key update of jobs",
        test_lease.test_a_job_that_completes_before_the_reaper_has_its_lock_stays_done,
    ),
    Mutant(
        "L3 two reapers wait for each other",
        "tickwork.reap",
        "for no key update of jobs skip locked",
        "",
        test_lease.test_two_reapers_at_once_end_an_attempt_once,
    ),
    Mutant(
        "L4 a heartbeat that extends nothing",
        "tickwork.heartbeat_jobs",
        "make_interval(secs => jobs.lease_seconds)",
        "interval '0'",
        test_lease.test_a_beating_job_is_never_reaped_and_one_missed_beat_is_forgiven,
    ),
    Mutant(
        "L7 a lease from the start of the transaction",
        "tickwork.start_job",
        "lease_expires_at = clock_timestamp()",
        "lease_expires_at = now()",
        test_lease.test_a_lease_taken_late_in_a_long_transaction_is_not_born_expired,
    ),
    Mutant(
        "L8 a heartbeat of another length than the claim",
        "tickwork.heartbeat_jobs",
        "make_interval(secs => jobs.lease_seconds)",
        "interval '60 seconds'",
        test_lease.test_a_heartbeat_extends_the_lease_by_the_length_it_was_claimed_with,
    ),
    Mutant(
        "L9 a batch starved by what it must pass over",
        "tickwork.reap",
        "join public.jobs on",
        "join (select * from public.jobs order by created_at limit 100) as jobs on",
        test_lease.test_rows_that_must_be_passed_over_do_not_starve_the_reaper,
    ),
    Mutant(
        "L10 a dedupe key lost while running",
        "",
        "",
        "drop index jobs_dedupe_key; create unique index jobs_dedupe_key on jobs (tenant_id, dedupe_key) "
        "where dedupe_key is not null and status = 'queued'",
        test_lease.test_an_expired_job_keeps_its_dedupe_key_and_wedges_nobody,
    ),
    Mutant(
        "L11 a token per worker",
        "tickwork.start_job",
        "gen_random_uuid()",
        "md5(start_job.worker_id)::uuid",
        test_lease.test_a_stale_token_changes_nothing_and_raises,
        ("complete",),
    ),
    Mutant(
        "L12 an attempt ended twice",
        *FENCES["done"],
        "true",
        test_lease.test_a_token_is_worth_nothing_once_the_job_has_ended,
        ("complete",),
    ),
    Mutant(
        "E1 a key without an index",
        "",
        "",
        "drop index jobs_idempotency_key",
        test_enqueue.test_a_key_whose_holder_rolls_back_is_not_lost,
    ),
    Mutant(
        "E2 the same key twice in a batch",
        "tickwork.insert_missing_jobs",
        "on conflict do nothing",
        "",
        test_enqueue.test_a_batch_answers_in_its_order_and_the_first_of_two_equal_keys_wins,
    ),
    Mutant(
        "E3 batches in any order",
        "tickwork.insert_jobs",
        "pg_advisory_xact_lock(hashtextextended(tenant.id::text, 0))",
        "tenant.id",
        test_enqueue.test_batches_with_the_same_keys_in_opposite_order_do_not_deadlock,
    ),
    Mutant(
        "E4 a dedupe key lost between attempts",
        "tickwork.settle_undone",
        "lease_token = null,",
        "lease_token = null, dedupe_key = null,",
        test_enqueue.test_a_dedupe_key_is_held_while_queued_running_and_waiting_for_a_retry,
    ),
    Mutant(
        "E8 nobody is told of a job given back",
        "tickwork.settle_undone",
        "pg_notify('tickwork', due.family)",
        "due.family",
        test_settle.test_a_job_that_is_due_again_at_once_wakes_its_family,
    ),
    Mutant(
        "T3 a cancelled job is retried",
        "tickwork.status_after",
        "WHEN is_cancelled THEN 'cancelled'::text",
        "",
        test_settle.test_a_job_that_was_asked_to_stop_is_cancelled_however_it_stops,
        ("fail",),
    ),
    Mutant(
        "an enqueue that does not wait for the disk",
        "tickwork.wait_for_disk",
        "= 'off'",
        "= 'never'",
        test_durability.test_what_must_not_be_lost_waits_for_the_disk_whatever_the_default,
        ("enqueue", "off"),
    ),
    Mutant(
        "a claim that takes durability back",
        "tickwork.claim_jobs",
        "if pg_current_xact_id_if_assigned() is null then",
        "if true then",
        test_durability.test_a_claim_in_the_same_transaction_takes_nothing_back,
        ("complete",),
    ),
    Mutant(
        "a tenant held by a setting alone",
        "tickwork.held_tenant",
        "and jobs.lease_token = nullif(current_setting('tickwork.lease_token', true), '')::uuid",
        "",
        test_effects.test_without_a_lease_the_worker_sees_and_writes_nothing,
    ),
    Mutant(
        "effects that somebody else can overtake",
        "tickwork.hold_job",
        "for no key update",
        "",
        test_effects.test_nobody_takes_a_job_whose_effects_are_being_written,
    ),
    Mutant(
        "a tenant served that stays at the head",
        "tickwork.claim_in_turn",
        "% turns.weight when 0 then",
        "% turns.weight when -1 then",
        test_turns.test_a_newcomer_is_served_within_one_round,
    ),
    Mutant(
        "a tenant with lanes that stays at the head",
        "tickwork.move_on",
        "case when is_over",
        "case when false",
        test_turns.test_many_lanes_give_a_tenant_no_other_share,
        (claim_one_by_one,),
    ),
    Mutant(
        "a lane served that stays at the head",
        "tickwork.move_on",
        "set served_at = moved_at",
        "set served_at = lines.served_at",
        test_turns.test_lanes_of_a_tenant_take_turns_with_its_own_line,
    ),
    Mutant(
        "a lower priority that starves",
        "tickwork.longest_waiting_priority",
        "coalesce(longest, 100)",
        "100",
        test_turns.test_every_tenth_start_of_a_turn_goes_to_a_lower_priority_and_no_more,
        (claim_one_by_one,),
    ),
    Mutant(
        "a job that nobody hears of",
        "tickwork.wake_line",
        "insert into",
        "return; insert into",
        test_lines.test_drained_lines_are_closed_and_an_enqueue_opens_them_again,
    ),
    Mutant(
        "a line closed under an enqueue",
        "tickwork.close_line",
        "not pg_try_advisory_xact_lock(7464, (spot.turn_id & 1023)::integer)",
        "false",
        test_lines.test_a_line_stays_open_for_a_job_that_is_not_committed_yet,
    ),
    Mutant(
        "a line closed after somebody else has opened it",
        "tickwork.close_line",
        """where lines.id = spot.line_id
    for no key update skip locked""",
        "where lines.id = spot.line_id",
        test_lines.test_a_job_that_comes_back_while_its_line_is_closed_is_found,
    ),
    Mutant(
        "a claim that waits for turns while it holds some",
        "tickwork.claim",
        "is_prepared := claimed is not null",
        "is_prepared := false",
        test_lines.test_a_claim_that_has_moved_a_turn_waits_for_no_other,
        (1, 2),
    ),
    Mutant(
        "an enqueue that keeps no line open",
        "tickwork.wake_line",
        "pg_advisory_xact_lock_shared(7464, (own_turn & 1023)::integer)::text",
        "''",
        test_lines.test_a_line_stays_open_for_a_job_that_is_not_committed_yet,
    ),
    Mutant(
        "a line seen open in an old snapshot",
        "tickwork.wake_line",
        "or current_setting('transaction_isolation') <> 'read committed'",
        "",
        test_lines.test_a_job_enqueued_under_an_old_snapshot_is_found,
    ),
    Mutant(
        "a line hidden by the claim that opens it",
        "tickwork.claim",
        "spot.turn_id is null and spot.is_woken",
        "false",
        test_lines.test_a_claim_that_is_opening_a_line_hides_no_other_job,
    ),
    *(
        Mutant(
            f"a limit of a {kind} counted without its lock",
            "tickwork.admit",
            "perform pg_advisory_xact_lock(hashtextextended(rule.scope, 0));",
            "null;",
            test_limits_at_once.test_a_claim_in_flight_is_counted,
            (kind,),
        )
        for kind in ("type", "tenant", "lane")
    ),
    *(
        Mutant(
            f"a limit of a {kind} that no ending job opens again",
            "tickwork.note_settled",
            "perform tickwork.open_gates(note_settled.ids);",
            "null;",
            test_limits.test_exactly_so_many_run_and_each_that_ends_lets_one_start_at_once,
            (kind,),
        )
        for kind in ("type", "tenant", "lane")
    ),
    Mutant(
        "a single job that is not the only one",
        "tickwork.claim_woken",
        "and other.id <> wakes.id",
        "and false",
        test_lines.test_of_two_jobs_that_were_woken_the_more_urgent_one_comes_first,
    ),
    Mutant(
        "a wake that is gone though more jobs wait",
        "tickwork.claim_woken",
        "and jobs.status = 'queued'",
        "and false",
        test_lines.test_jobs_that_wait_behind_a_single_one_take_turns,
    ),
    Mutant(
        "a single job of a limited type",
        "tickwork.claim_woken",
        "and not made_of.is_limited",
        "",
        test_lines.test_a_single_job_is_not_started_past_what_is_in_its_way,
        ("limit",),
    ),
    Mutant(
        "the same tenants get what is left of each batch",
        "tickwork.claim_rounds",
        "interval '1 microsecond'",
        "interval '0'",
        test_turns.test_what_is_left_of_a_batch_goes_to_one_tenant_after_the_other,
    ),
    Mutant(
        "a batch that sees the highest priority only",
        "tickwork.claim_rounds",
        "peer.priority = peer.lowest_priority",
        "true",
        test_turns.test_small_batches_do_not_starve_a_lower_priority_behind_many_tenants,
    ),
    Mutant(
        "one result for all",
        "tickwork.settle_done",
        "settle_done.results[array_position(settle_done.ids, jobs.id)]",
        "settle_done.results[1]",
        test_settle.test_each_of_many_done_jobs_has_its_own_result_and_logs,
    ),
    Mutant(
        "starts that no rate counts",
        "tickwork.spend_tokens",
        "- spend_tokens.starts",
        "",
        test_rates.test_the_starts_of_a_minute_come_at_once_and_then_evenly,
        ("lane",),
    ),
    Mutant(
        "a queue that is never full",
        "tickwork.renew_allowances",
        "> most then",
        "> most and false then",
        test_max_queued.test_one_job_too_many_is_refused_by_name_and_number,
    ),
    Mutant(
        "a hold that a new line does not know of",
        "tickwork.open_lines",
        "not lane.is_held",
        "true",
        test_lanes.test_a_held_lane_waits_and_everything_else_goes_on,
        (False,),
    ),
    Mutant(
        "a pause that a new turn does not know of",
        "tickwork.open_lines",
        "not tenant.is_held",
        "true",
        test_pauses.test_what_is_paused_does_not_start_and_the_rest_does,
        ("tenant_id", False),
    ),
    Mutant(
        "a backoff without jitter",
        "tickwork.backoff_seconds",
        "(0.8 + 0.4 * random())",
        "1",
        test_settle.test_jitter_differs_from_job_to_job,
    ),
]

FIXTURES: dict[str, Callable[[World], None]] = {
    "test_effects": test_effects.make_notes,
    "test_durability": test_durability.make_jobs,
}


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.trap)
def test_the_trap_is_noticed(world: World, mutant: Mutant) -> None:
    # Who waits for a lock for ever is as wrong as who does not wait at all.
    world.admin.execute(f"alter database {world.value('select current_database()')} set lock_timeout = '3s'")
    break_it(world, mutant)
    with World(world.url, world.worker_url) as broken:
        if prepare := FIXTURES.get(mutant.caught_by.__module__.rpartition(".")[2]):
            prepare(broken)

        with pytest.raises((Exception, pytest.fail.Exception)):
            mutant.caught_by(broken, *mutant.arguments)


def break_it(world: World, mutant: Mutant) -> None:
    statement = mutant.after
    if mutant.function:
        intact: str = world.value("select pg_get_functiondef(%s::regproc)", mutant.function)
        assert mutant.before in intact, "the mutant no longer fits the function"
        statement = intact.replace(mutant.before, mutant.after)
    world.admin.execute(statement)
